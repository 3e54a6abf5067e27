"""A sweep in one process gives what a Ray gives, and stops where the checks find fault."""

import pytest

from study.errors import SettingError
from study.folder import ResultsFolder
from study.plan import make_plan
from study.result import Outcome
from study.session import run_study
from study.spec import load_spec
from study.stored import read_stored

SMALL = ["search.points=3", "search.repeats=1", "target.value=0.6", "budget.fresh_examples=2048"]


class Silent:
    """An observer that looks away."""

    def __getattr__(self, name):
        return lambda *told: None


def run(folder, *settings):
    plan = make_plan(load_spec("study/specs/digits.yaml", [*SMALL, *settings]))
    run_study(plan, ResultsFolder(folder), Silent(), here=True)
    return plan, read_stored(ResultsFolder(folder), "digits")


def best(plan, stored):
    return {
        search.id: min(
            (stored[one.id].rank for one in plan.trials_of(search) if stored[one.id].rank), default=None
        )
        for search in plan.searches
    }


@pytest.mark.slow
def test_racing_in_one_process_finds_what_running_everything_finds(tmp_path):
    plan, raced = run(tmp_path / "raced")
    whole, run_through = run(tmp_path / "all", "stop=exhaustive")
    assert set(raced) == {trial.id for trial in plan.trials}
    assert any(one.outcome is Outcome.REACHED for one in raced.values())
    assert list(best(plan, raced).values()) == list(best(whole, run_through).values())
    assert not list((tmp_path / "raced" / "digits" / "checkpoints").glob("*"))


def test_a_target_that_is_passed_at_start_leaves_nothing_behind(tmp_path):
    with pytest.raises(SettingError, match="the untrained model already has"):
        run(tmp_path / "results", "target.value=0.01")
    assert not (tmp_path / "results").exists()

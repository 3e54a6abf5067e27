"""The commands that start neither Ray nor a server, called as the console command is."""

import json
from pathlib import Path

import pytest

from echostudy.cli import main
from study.plan import make_plan
from study.record import TrialRecord
from study.result import Evaluation, Outcome
from study.spec import load_spec
from study.store import open_store
from study.tracking import StudyWriter

SPEC = "study/specs/digits.yaml"


@pytest.fixture
def echostudy(call_echostudy):
    """The console command."""
    return call_echostudy


@pytest.fixture
def one_reached(results):
    """A store in which the first trial of a digits study has reached the target."""
    plan = make_plan(load_spec(SPEC))
    trial = plan.trials[0]
    values = {
        "valid_accuracy": 0.97,
        "examples_read": 512.0,
        "examples_consumed": 512.0,
        "buffer_examples": 0,
    }
    writer = StudyWriter(open_store(results.tracking_uri), plan, results.artifacts.as_uri(), {})
    record = TrialRecord(
        trial, plan.spec.rule, [Evaluation(512.0, 16, values)], Outcome.REACHED, slot_s=0.5, warm=True
    )
    writer.write_trial(record)
    return results


def test_plan_counts_what_the_study_asks_for_and_runs_nothing(echostudy, tmp_path):
    code, out, _ = echostudy("plan", SPEC, "--results", tmp_path / "none")
    assert code == 0
    assert "before_augmentation e=2 b=32 buffer=1024" in out
    assert "192" in out
    assert not (tmp_path / "none").exists()


def test_plan_as_json_lists_every_trial_with_its_metaparameters(echostudy, one_reached):
    code, out, _ = echostudy("plan", SPEC, "--results", one_reached.root, "--json")
    assert code == 0
    plan = json.loads(out)
    assert (plan["trials_planned"], plan["trials_done"], plan["trials_left"]) == (192, 1, 191)
    assert len(plan["conditions"]) == 4
    assert len(plan["searches"]) == 12
    assert len({trial["trial_id"] for trial in plan["trials"]}) == 192
    assert set(plan["trials"][0]["metaparameters"]) == {"learning_rate", "momentum"}


def test_plan_and_status_tell_how_many_winners_are_to_be_timed(echostudy, one_reached):
    timed = ("--results", one_reached.root, "--set", "measure=time", "--set", "conditions.R=[2, 4]")
    assert "0 of up to 24 timed trials" in echostudy("plan", SPEC, *timed)[1]
    assert "0 of up to 24 timed trials" in echostudy("status", SPEC, *timed)[1]
    code, out, _ = echostudy("status", SPEC, *timed, "--json")
    assert code == 0
    assert json.loads(out)["timed"] == {"study": "digits-time", "trials": 24, "done": 0, "final": False}


def test_status_tells_outcomes_the_best_so_far_and_the_overhead(echostudy, one_reached):
    code, out, _ = echostudy("status", SPEC, "--results", one_reached.root, "--json")
    assert code == 0
    state = json.loads(out)
    assert state["trials_done"] == 1
    baseline = state["conditions"][0]
    assert baseline["insertion_point"] == "none"
    assert baseline["outcomes"]["reached"] == 1
    assert baseline["best_fresh_examples"] == 512
    assert state["overhead_s"] == 0.5
    _, table, _ = echostudy("status", SPEC, "--results", one_reached.root)
    assert "1 of 192 trials have a result; sweep overhead 500 ms a trial." in table


@pytest.mark.slow
def test_report_works_on_an_unfinished_study(echostudy, one_reached):
    code, out, _ = echostudy("report", SPEC, "--results", one_reached.root)
    assert code == 0
    assert "Unfinished: 1 of 192 trials have a result." in out
    for file in ("figures/figure3.png", "figures/figure3.svg", "tables/searches.csv", "tables/cost.csv"):
        assert (one_reached.study("digits") / file).stat().st_size > 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["plan", "nowhere.yaml"], "There is no study file nowhere.yaml"),
        (["plan", SPEC, "--set", "conditions.echo_factr=[2]"], "did you mean 'echo_factor'?"),
        (
            ["plan", SPEC, "--set", "conditions.echo_factor=[0.5]"],
            "each value of 'conditions.echo_factor' must be at least 1, not 0.5",
        ),
        (["plan", SPEC, "--set", "conditions.batch_size=[2000]"], "1400 training examples"),
        pytest.param(
            ["run", SPEC, "--set", "target.value=0.01"],
            "the untrained model already has valid_accuracy",
            marks=pytest.mark.slow,
        ),
        (["ui"], "There is no MLflow store"),
    ],
)
def test_bad_input_gives_one_sentence_and_exit_code_2_and_writes_nothing(
    echostudy, tmp_path, arguments, sentence
):
    folder = tmp_path / "results"
    code, out, err = echostudy(*arguments, "--results", folder)
    assert code == 2
    assert sentence in err
    assert err.count("\n") == 1
    assert "Traceback" not in out + err
    assert not folder.exists()


@pytest.mark.slow
def test_a_target_that_is_passed_at_start_is_named_with_its_line(echostudy, tmp_path):
    spec = tmp_path / "mine.yaml"
    spec.write_text(Path(SPEC).read_text().replace("value: 0.95", "value: 0.05"))
    line = next(i for i, text in enumerate(spec.read_text().splitlines(), 1) if "value: 0.05" in text)
    code, _, err = echostudy("run", spec, "--results", tmp_path / "results")
    assert code == 2
    assert f"mine.yaml line {line}: 'target.value' is 0.05, but the untrained model already has" in err


def test_a_results_folder_that_cannot_be_written_is_named_before_anything_starts(echostudy, tmp_path):
    file = tmp_path / "file"
    file.write_text("in the way")
    code, out, err = echostudy("run", SPEC, "--results", file / "results")
    assert code == 2
    assert f"Cannot write results to {file / 'results'} ({file} is a file); name another" in err
    assert "--results" in err
    assert "Starting" not in out


@pytest.mark.parametrize("command", ["status", "run"])
def test_an_mlflow_server_that_does_not_answer_is_named_and_nothing_is_written(echostudy, tmp_path, command):
    code, out, err = echostudy(
        command, SPEC, "--results", tmp_path / "none", "--tracking-uri", "http://127.0.0.1:9"
    )
    assert code == 2
    assert "The MLflow store at http://127.0.0.1:9 cannot be opened" in err
    assert "Starting" not in out
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("command", ["plan", "status", "report", "run"])
def test_a_corrupt_store_is_named_and_left_alone(echostudy, results, command):
    damaged = b"SQLite format 3\0" + b"\xff" * 5000
    results.database.write_bytes(damaged)
    code, _, err = echostudy(command, SPEC, "--results", results.root)
    assert code == 2
    assert f"The MLflow store {results.database} is damaged" in err
    assert results.database.read_bytes() == damaged


def test_schema_prints_the_study_files_json_schema(echostudy):
    code, out, _ = echostudy("schema")
    assert code == 0
    assert "conditions" in json.loads(out)["properties"]


def test_unknown_commands_and_options_exit_with_code_2(echostudy):
    assert echostudy("jump")[0] == 2
    assert echostudy("plan", SPEC, "--smok")[0] == 2


def test_python_m_echostudy_is_the_console_command():
    import echostudy.__main__ as module

    assert module.main is main

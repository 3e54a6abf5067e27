"""MLflow's pages as `echostudy ui` serves them, in a real browser. Needs Chromium."""

import os
import re
import signal
import socket
import subprocess
import sys

import pytest

pytestmark = pytest.mark.browser

SPEC = "study/specs/digits.yaml"
STUDY, SEARCH = "study digits", "baseline b=32 repeat 0"
SMALL = [
    "search={points: 1, repeats: 1}",
    "budget={fresh_examples: 1024, evaluate_every: 256}",
    "stop=exhaustive",
]
PATIENCE_MS = 120_000.0
"""MLflow's pages are megabytes of scripts, and the machine may be busy."""


def command(*arguments) -> list[str]:
    return [sys.executable, "-m", "echostudy", *map(str, arguments)]


@pytest.fixture(scope="module")
def link(tmp_path_factory):
    """The link that `echostudy ui` gives to a study that has run."""
    results = tmp_path_factory.mktemp("ui") / "results"
    settings = [word for setting in SMALL for word in ("--set", setting)]
    study = command("run", SPEC, "--results", results, *settings)
    subprocess.run(study, check=True, stdout=subprocess.DEVNULL)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    serving = command("ui", "--results", results, "--port", port)
    with subprocess.Popen(serving, stdout=subprocess.PIPE, text=True, env=environment) as server:
        try:
            assert server.stdout is not None
            found = next(filter(None, (re.match(r"\S+: (http\S+)", line) for line in server.stdout)), None)
            assert found, "echostudy ui ended without a link"
            yield found[1]
        finally:
            server.send_signal(signal.SIGINT)


@pytest.fixture
def table(browser, link):
    """The page that the link leads to, once the study's run is there."""
    page = browser.new_page(viewport={"width": 2200, "height": 1600})
    page.set_default_timeout(PATIENCE_MS)
    page.goto(link)
    page.get_by_role("link", name="study digits").wait_for()
    yield page
    page.close()


def open_row(page, name: str) -> None:
    """Open a branch of the tree of runs."""
    row = page.locator(".ag-row", has=page.get_by_role("link", name=name, exact=True))
    row.get_by_role("button").first.click()


def test_the_link_leads_to_the_table_of_runs_with_the_columns_that_a_person_needs(table):
    assert table.get_by_role("heading", name="Training runs").is_visible()
    headings = " ".join(table.locator(".ag-header-cell").all_inner_texts())
    for column in ("best_valid_accuracy", "echo_factor", "insertion_point", "repeat", "learning_rate"):
        assert column in headings
    assert "echostudy.outcome" in headings
    assert "echostudy.kind" not in headings


def test_the_tree_leads_from_the_study_to_a_trial_whose_curves_go_by_fresh_examples(table, link):
    open_row(table, STUDY)
    open_row(table, SEARCH)
    trial = table.get_by_role("link", name=f"point 0: {SEARCH}", exact=True)
    table.goto(link.partition("#")[0] + trial.get_attribute("href") + "/model-metrics")
    table.locator(".js-plotly-plot .xtitle").first.wait_for()
    lines = table.evaluate(
        """() => [...document.querySelectorAll(".js-plotly-plot")].flatMap(plot => plot.data)
            .filter(one => one.mode?.includes("lines") && one.x.length > 1).map(one => [...one.x])"""
    )
    assert lines
    assert all(line == [256, 512, 768, 1024] for line in lines)

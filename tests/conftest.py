"""Shared by all tests: one thread, no telemetry."""

import os

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
os.environ["MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT"] = "true"
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.pop("MLFLOW_TRACKING_URI", None)

import shutil

import hypothesis
import pytest

from study.folder import ResultsFolder

hypothesis.settings.register_profile("shared machine", deadline=None)
hypothesis.settings.load_profile("shared machine")

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def browser():
    """Debian's or any installed Chromium, driven by Playwright's core."""
    from playwright.sync_api import sync_playwright

    executable = next(filter(None, map(shutil.which, CHROMIUM)), None)
    assert executable, "No Chromium here: install it (apt-get install chromium)."
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture(scope="session")
def _migrated_database(tmp_path_factory):
    """An MLflow database with nothing in it: making its tables takes seconds, copying it none."""
    from study.store import open_store

    results = ResultsFolder(tmp_path_factory.mktemp("store"))
    open_store(results.tracking_uri)
    return results.database


@pytest.fixture
def results(tmp_path, _migrated_database) -> ResultsFolder:
    """A results folder with an empty MLflow store."""
    folder = ResultsFolder(tmp_path / "results")
    folder.make_writable()
    shutil.copy(_migrated_database, folder.database)
    return folder

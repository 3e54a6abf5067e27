"""The report in a real browser: no error, every image there, tables that sort. Needs Chromium."""

import json

import pytest

from analysis.figures import save_figure
from analysis.report.document import document
from analysis.report.html import as_html

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page_file(plan_of, material_of, tmp_path_factory):
    """The page of a study with results of every kind."""
    plan = plan_of("search.points=2", "search.repeats=3", "conditions.echo_factor=[2, 4]")
    ended = {}
    for trial in plan.trials:
        fresh = 9000.0 / trial.search.condition.echo_factor + 256 * trial.search.repeat
        ended[trial.id] = ("missed", 12000.0) if trial.point else ("reached", fresh)
    folder = tmp_path_factory.mktemp("report")
    found = document(material_of(plan, ended), {"echostudy.git_commit": "abc"})
    images = {one.name: save_figure(one.figure, folder / one.name)[1] for one in found.exhibits if one.figure}
    page = folder / "report.html"
    page.write_text(as_html(found, images), encoding="utf-8")
    return page


@pytest.fixture
def opened(browser, page_file):
    """The page, and what the browser complained of."""
    page, complaints = browser.new_page(), []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("requestfailed", lambda request: complaints.append(request.url))
    page.on("request", lambda request: request.url.startswith("http") and complaints.append(request.url))
    page.goto(page_file.as_uri())
    yield page, complaints
    page.close()


def column(page, at):
    """The texts of a column of the table of searches."""
    script = f"""() => {{
        const table = [...document.querySelectorAll("h3")].find(one => one.textContent === "searches")
            .nextElementSibling.querySelector("table");
        return JSON.stringify([...table.tBodies[0].rows].map(row => row.cells[{at}].textContent));
    }}"""
    return json.loads(page.evaluate(script))


def test_the_page_opens_without_a_complaint_and_asks_for_nothing(opened):
    page, complaints = opened
    assert complaints == []
    assert page.title().startswith("digits: digits_convnet")


def test_every_image_is_there(opened):
    page, _ = opened
    widths = page.evaluate("() => [...document.images].map(image => image.naturalWidth)")
    assert len(widths) >= 9
    assert min(widths) > 300


def test_a_click_sorts_by_size_and_another_the_other_way_round(opened):
    page, complaints = opened
    heading = page.locator("h3:text-is('searches') + div th button:text-is('fresh examples to target')")
    before = [float(text.replace(",", "")) for text in column(page, 8)]
    heading.click()
    rising = [float(text.replace(",", "")) for text in column(page, 8)]
    heading.click()
    falling = [float(text.replace(",", "")) for text in column(page, 8)]
    assert rising == sorted(before) != before
    assert falling == sorted(before, reverse=True)
    assert complaints == []


def test_nothing_is_wider_than_the_window_but_what_scrolls(opened):
    page, _ = opened
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")

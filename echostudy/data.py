"""`echostudy data`: which data sets there are; get them and check them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, SpinnerColumn, TextColumn
from rich.table import Table

from echostudy.terminal import terminal
from study.data.catalogue import DATA_SETS, data_set
from study.data.origins import Web
from study.data.root import data_folder, data_root
from study.sizes import size_words

if TYPE_CHECKING:
    from study.data.checks import Progress as Report
    from study.data.checks import SetCheck

data_app = typer.Typer(no_args_is_help=True, help="The data sets: list them, get them, check them.")

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="A data set, as `data list` names it.", show_default=False)
]


@data_app.command("list")
def list_data() -> None:
    """Show every data set: is it there, what is it, what may be done with it, where does it come from."""
    from study.data.checks import presence

    table = Table("name", "there", box=None, header_style="bold")
    table.add_column("size", justify="right")
    for heading in ("what it is", "licence", "from"):
        table.add_column(heading, overflow="fold")
    for one in DATA_SETS.values():
        packaged = one.origins and not isinstance(one.origins[0], Web)
        table.add_row(
            one.name,
            presence(one, data_folder(one.name)),
            size_words(one.size_bytes),
            one.summary,
            one.licence,
            str(one.origins[0]) if packaged else one.home,
        )
    terminal().print(table)
    _say(f"They lie under {data_root()} (ECHOSTUDY_DATA sets another folder).")


@data_app.command()
def fetch(name: Name) -> None:
    """Get a data set from the first of its origins that works, check it, and put it into its place."""
    from study.data.fetch import fetch_data_set

    wanted = data_set(name)
    with _progress() as report:
        fetched = fetch_data_set(wanted, report)
    _say(f"{name} was there already." if fetched.origin is None else f"{name} came from {fetched.origin}.")
    _show(fetched.check)


@data_app.command()
def check(name: Name) -> None:
    """Count a data set's files and compare their checksums; exit code 1 if something is not right."""
    from study.data.checks import check_data_set

    wanted = data_set(name)
    with _progress() as report:
        found = check_data_set(wanted, data_folder(name), report)
    _show(found)
    for fault in found.faults:
        _say(fault)
    if found.faults:
        raise typer.Exit(1)


def _show(check: SetCheck) -> None:
    """A row a part."""
    if not check.parts:
        _say("It is part of an installed package.")
        return
    table = Table("files", box=None, header_style="bold")
    table.add_column("there", justify="right")
    table.add_column("wanted", justify="right")
    table.add_column("checksum right", justify="right")
    table.add_column("what they are")
    for one in check.parts:
        table.add_row(
            one.part.pattern,
            f"{one.files:,}",
            f"{one.part.files:,}{'+' if one.part.or_more else ''}",
            f"{one.verified:,}" if one.known else "none known",
            one.part.what,
        )
    terminal().print(table)
    _say(f"In {check.folder}")


@contextmanager
def _progress() -> Iterator[Report]:
    """A line on standard error that shows what is being done, only where someone watches."""
    console = Console(stderr=True)
    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), DownloadColumn()
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("", total=None)

        def report(what: str, done: int, total: int | None) -> None:
            bar.update(task, description=what, completed=done, total=total)

        yield report


def _say(sentence: str) -> None:
    terminal().print(sentence, soft_wrap=True, markup=False, highlight=False)

"""`echostudy workload`: what can be studied, and how to begin with something of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from echostudy.terminal import terminal

app = typer.Typer(no_args_is_help=True, help="List the workloads, or write a new one of your own.")


@app.command("list")
def list_workloads() -> None:
    """Show every workload, and whether its data are here."""
    from echostudy.tables import workload_table

    terminal().print(workload_table())


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="Small letters, digits and '_'.", show_default=False)],
) -> None:
    """Write NAME.py, NAME.yaml and test_NAME.py into this folder: a workload that runs as it is."""
    from study.scaffold import write_workload

    written = write_workload(name, Path.cwd())
    terminal().print(f"Wrote {', '.join(file.name for file in written)}.", highlight=False)
    terminal().print(f"Run it:    echostudy run {name}.yaml", highlight=False)
    terminal().print(f"Check it:  pytest test_{name}.py", highlight=False)

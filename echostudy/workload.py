"""`echostudy workload`: what can be studied, and how to begin with something of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

app = typer.Typer(no_args_is_help=True, help="List the workloads, or write a new one of your own.")
out = Console()


@app.command("list")
def list_workloads() -> None:
    """Show every workload, and whether its data are here."""
    from echostudy.tables import workload_table

    out.print(workload_table())


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="Small letters, digits and '_'.", show_default=False)],
) -> None:
    """Write NAME.py, NAME.yaml and test_NAME.py into this folder: a workload that runs as it is."""
    from study.scaffold import write_workload

    written = write_workload(name, Path.cwd())
    out.print(f"Wrote {', '.join(file.name for file in written)}.", highlight=False)
    out.print(f"Run it:    echostudy run {name}.yaml", highlight=False)
    out.print(f"Check it:  pytest test_{name}.py", highlight=False)

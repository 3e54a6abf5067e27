"""Where the data sets lie on this machine."""

from __future__ import annotations

import os
from pathlib import Path

from study.errors import UserError

ROOT_VARIABLE = "ECHOSTUDY_DATA"
"""Environment variable that names the data root."""


def data_root() -> Path:
    """The folder of all data sets: `$ECHOSTUDY_DATA`, else `~/.cache/echostudy`. It need not exist yet."""
    given = os.environ.get(ROOT_VARIABLE)
    return (Path(given) if given else Path("~/.cache/echostudy")).expanduser().absolute()


def data_folder(name: str) -> Path:
    """Where the data set of that name lies, or is to lie: a folder of its name under the data root."""
    return data_root() / name


def require(path: Path, name: str) -> Path:
    """`path`, a file or folder of the data set `name`, if it is there.

    Raises:
        UserError: it is not; says what was looked for, and the one command that helps.
    """
    if path.exists():
        return path
    raise UserError(
        f"The data set {name} is not there: {path} was looked for; run 'echostudy data fetch {name}', or set "
        f"{ROOT_VARIABLE} to the folder that holds {name}/."
    )

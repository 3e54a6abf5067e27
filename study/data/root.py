"""Where the data sets lie on this machine."""

from __future__ import annotations

import os
from pathlib import Path

from study.data.catalogue import DATA_SETS
from study.errors import UserError

ROOT_VARIABLE = "ECHOSTUDY_DATA"
"""Environment variable that names the data root."""


def data_root() -> Path:
    """The folder of all data sets: `$ECHOSTUDY_DATA`, else `~/.cache/echostudy`. It need not exist yet."""
    given = os.environ.get(ROOT_VARIABLE)
    return (Path(given) if given else Path("~/.cache/echostudy")).expanduser().absolute()


def own_folder(name: str) -> Path:
    """The folder of that data set under the data root; it need not exist yet."""
    return data_root() / name


def data_folder(name: str) -> Path:
    """Where the data set of that name lies, or is to lie.

    Its own folder under the data root; if that does not exist, a folder in which the system's package manager
    has put it.
    """
    own = own_folder(name)
    if own.exists() or name not in DATA_SETS:
        return own
    return next((folder for folder in map(Path, DATA_SETS[name].elsewhere) if folder.is_dir()), own)


def require(path: Path, name: str) -> Path:
    """`path`, a file or folder of the data set `name`, if it is there.

    Raises:
        UserError: it is not; says what was looked for, and what helps: one command, or what to put where.
    """
    if path.exists():
        return path
    raise UserError(f"The data set {name} is not there: {path} was looked for; {_what_helps(name)}.")


def _what_helps(name: str) -> str:
    known = DATA_SETS.get(name)
    if known is None:
        return f"put it there, or set {ROOT_VARIABLE} to the folder that holds {name}/"
    if known.origins:
        return f"run 'echostudy data fetch {name}'"
    return f"put {known.by_hand} into {own_folder(name)}"

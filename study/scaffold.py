"""The files of a new workload of a user's own: they run as they are, and are there to be changed."""

from __future__ import annotations

import keyword
import re
import sys
from importlib.metadata import packages_distributions
from importlib.resources import files
from pathlib import Path
from string import Template

from study.errors import UserError

PARTS = {"{name}.py": "workload.py.txt", "{name}.yaml": "study.yaml.txt", "test_{name}.py": "test.py.txt"}
"""File to write -> its template."""


def write_workload(name: str, folder: Path) -> list[Path]:
    """Write a workload, a study of it, and its test; the files written.

    Raises:
        UserError: the name is no good, a file is there already or cannot be written. Nothing is overwritten.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,59}", name) or keyword.iskeyword(name):
        raise UserError(
            f"'{name}' cannot name a workload; use small letters, digits and '_', for example my_images."
        )
    if name in sys.stdlib_module_names or name in packages_distributions():
        raise UserError(f"There is a Python module {name}, which {name}.py would hide; choose another name.")
    texts = {folder / file.format(name=name): _filled(part, name) for file, part in PARTS.items()}
    for file in texts:
        if file.exists():
            raise UserError(f"{file.name} is there already; choose another name, or move it away.")
    try:
        for file, text in texts.items():
            with file.open("x", encoding="utf-8") as stream:
                stream.write(text)
    except OSError as error:
        raise UserError(
            f"{file.name} cannot be written ({error.strerror}); go to a folder in which you may write."
        ) from error
    return list(texts)


def _filled(part: str, name: str) -> str:
    template = Template((files("study") / "template" / part).read_text(encoding="utf-8"))
    class_name = "".join(word.capitalize() for word in name.split("_"))
    return template.substitute(
        name=name, class_name=class_name, summary=f"The workload {name}: data, augmentation, model, metrics."
    )

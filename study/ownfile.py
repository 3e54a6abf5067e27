"""A user's own Python file: run once a process, and its faults told with their line."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
import traceback
from pathlib import Path
from types import ModuleType

from study.errors import UserError
from study.wording import printable


class OwnFileError(Exception):
    """A user's own file cannot be used: the reason, and what to do, as the end of a sentence."""


def run_file(file: Path) -> ModuleType:
    """Run a user's file, once a process as long as it stays the same; its folder can be imported from.

    Raises:
        OwnFileError: it is not there, or no Python, or fails.
    """
    if file.suffix != ".py":
        raise OwnFileError(f"{file.name} is no Python file; name one that ends in .py.")
    if not file.is_file():
        raise OwnFileError(f"there is no file {file}; check the path.")
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    key = hashlib.sha256(f"{file} {digest}".encode()).hexdigest()[:16]
    module_name = f"{file.stem}_{key}"
    if module_name in sys.modules:
        return sys.modules[module_name]
    spec = importlib.util.spec_from_file_location(module_name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    if str(file.parent) not in sys.path:
        sys.path.append(str(file.parent))
    sys.modules[module_name] = module  # dataclasses and pickle look there
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # a user's code may raise anything, and a script end itself
        del sys.modules[module_name]
        if isinstance(error, UserError):
            raise
        raise OwnFileError(f"importing it {failure(error, file)}") from error
    return module


def failure(error: BaseException, file: Path) -> str:
    """That something failed, at which line of the file, and how: the end of a sentence.

    What a `DataLoader` passes on from a worker process is told as it was raised there.
    """
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(file)]
    if isinstance(error, SyntaxError) and error.filename == str(file):
        lines = [error.lineno]
    first_line = str(error).partition("\n")[0]
    said = f"{type(error).__name__}: {first_line}".removesuffix(": ")
    _, elsewhere, trace = str(error).partition("Original Traceback")
    if elsewhere and trace.strip():
        said = trace.strip().splitlines()[-1]
        lines = [int(line) for line in re.findall(rf'File "{re.escape(str(file))}", line (\d+)', trace)]
    where = f" at line {lines[-1]}" if lines else ""
    return f"failed{where} ({printable(said, widest=200)}); correct it."

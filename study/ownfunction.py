"""A function of the user's own, named on the command line as `path/to/file.py:name`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from study.errors import UserError
from study.nearest import did_you_mean
from study.ownfile import OwnFileError, failure, run_file
from study.wording import kind
from study.workloads.reference import own_reference, parts


@dataclass(frozen=True)
class OwnFunction:
    """Where the function is; `option` is how the command line asks for it.

    Raises:
        UserError: the name, the file or what it calls so cannot be used; once the function is asked for.
    """

    option: str
    reference: str

    @property
    def file(self) -> Path:
        """The file whose code is run."""
        return Path(parts(own_reference(self.reference, Path.cwd()))[0])

    @property
    def name(self) -> str:
        """The function's name in the file."""
        return parts(self.reference)[1]

    @property
    def module(self) -> ModuleType:
        """What the file defines."""
        if not self.name:
            raise self._error(f"it names no function; write for example {self.file.stem}.py:{self._example}.")
        try:
            return run_file(self.file)
        except OwnFileError as error:
            raise self._error(str(error)) from error

    def load(self) -> Callable[..., Any]:
        """The function itself."""
        module = self.module
        if not hasattr(module, self.name):
            names = {name for name, value in vars(module).items() if callable(value) and name[0] != "_"}
            advice = did_you_mean(self.name, names) if names else f"write a function {self.name} in it."
            raise self._error(f"the file has no function of that name; {advice}")
        found = getattr(module, self.name)
        if not callable(found):
            raise self._error(f"it is {kind(found)}; name a function.")
        return found  # type: ignore[no-any-return]

    @contextmanager
    def blamed(self, doing: str) -> Iterator[None]:
        """Make whatever the user's code raises in the block a `UserError` that names its line."""
        try:
            yield
        except UserError:
            raise
        except Exception as error:  # a user's code may raise anything
            raise self._error(f"{doing} {failure(error, self.file)}") from error

    def _error(self, reason: str) -> UserError:
        named = f"{self.file.name}:{self.name}".removesuffix(":")
        return UserError(f"{self.option} {named} cannot be used: {reason}")

    @property
    def _example(self) -> str:
        return {"--loader": "make_loader"}.get(self.option, self.option.removeprefix("--"))

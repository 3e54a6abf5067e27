"""A user's own workload: a class, or a function that makes one, in a file of theirs.

What a card says of our workloads, such a class carries itself, as attributes of the same names: `metrics`,
`metaparameters`, `required_metaparameters`, `summary`.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

from study.errors import UserError
from study.nearest import did_you_mean
from study.wording import kind, printable
from study.workloads.card import LOOP_OPTIONS, Metric, WorkloadCard
from study.workloads.reference import own_file, parts, source_digest, workload_name

if TYPE_CHECKING:  # PyTorch is loaded by the user's file, and not before
    from study.workloads.base import Workload
    from study.workloads.options import WorkloadOptions


class WorkloadError(UserError):
    """A user's own workload cannot be used: `reason` says why, and what to do."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"The workload {name} cannot be used: {reason}")
        self.name, self.reason = name, reason

    def __reduce__(self) -> tuple[type[WorkloadError], tuple[str, str]]:
        """Travel from a worker to the driver whole."""
        return type(self), (self.name, self.reason)


def own_card(workload: str) -> WorkloadCard:
    """The card of a user's own workload; runs its file.

    Raises:
        WorkloadError: the file or what it names cannot be used.
    """
    return _card(workload, source_digest(workload))


@lru_cache(maxsize=64)
def _card(workload: str, digest: str | None) -> WorkloadCard:
    """The card as long as the file stays the same: a study asks for it again and again."""
    name = workload_name(workload)
    made_by = _named(workload)
    described: Any = made_by if inspect.isclass(made_by) else _made(workload, made_by)
    metrics, metaparameters = described.metrics, tuple(described.metaparameters)
    required = tuple(described.required_metaparameters)
    if not metrics or not _all_are(Metric, metrics):
        raise WorkloadError(
            name,
            "its attribute metrics says nothing of what it measures; write for example "
            'metrics = {"valid_loss": Metric(higher_is_better=False, low=0, high=math.inf)}.',
        )
    if missing := [one for one in required if one not in metaparameters]:
        raise WorkloadError(
            name, f"it requires {', '.join(missing)}, which is not among its metaparameters; add it there."
        )
    return WorkloadCard(
        name=name,
        factory=workload,
        summary=described.summary or (inspect.getdoc(made_by) or "").partition("\n")[0],
        train_examples=None,
        metrics=metrics,
        metaparameters=metaparameters,
        required_metaparameters=required,
        options=(*LOOP_OPTIONS, "on_error"),
        augments=described.augment is not None,
    )


def load_own(workload: str, options: WorkloadOptions) -> Workload:
    """A user's own workload, made.

    Raises:
        WorkloadError: the file or what it names cannot be used.
    """
    made_by = _named(workload)
    return _made(workload, made_by, options) if inspect.isclass(made_by) else _made(workload, made_by)


@contextmanager
def blamed_on(workload: str, part: str) -> Iterator[None]:
    """Make whatever a user's code raises in the block a `WorkloadError` that names its line."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:  # a user's code may raise anything
        file = str(own_file(workload))
        lines = [
            frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file
        ]
        if isinstance(error, SyntaxError) and error.filename == file:
            lines = [error.lineno]
        where = f" at line {lines[-1]}" if lines else ""
        said = printable(str(error).partition("\n")[0], widest=200)
        raise WorkloadError(
            workload_name(workload), f"{part} failed{where} ({type(error).__name__}: {said}); correct it."
        ) from error


def _named(workload: str) -> Any:
    """The class, or the function, that a user's file calls by the name asked for."""
    from study.workloads.base import Workload

    _, wanted = parts(workload)
    name, module = workload_name(workload), _module(workload)
    usable = {
        key
        for key, value in vars(module).items()
        if getattr(value, "__module__", None) == module.__name__
        and (inspect.isfunction(value) or (inspect.isclass(value) and issubclass(value, Workload)))
    }
    if not hasattr(module, wanted):
        advice = did_you_mean(wanted, usable) if usable else "write a subclass of Workload in it."
        raise WorkloadError(name, f"the file has no class or function of that name; {advice}")
    found = getattr(module, wanted)
    if inspect.isclass(found):
        if not issubclass(found, Workload):
            raise WorkloadError(name, "it is no subclass of study.workloads.base.Workload; make it one.")
        if left := sorted(getattr(found, "__abstractmethods__", ())):
            raise WorkloadError(name, f"it lacks {', '.join(left)}; write what is missing.")
    elif not inspect.isfunction(found):
        raise WorkloadError(name, f"it is {kind(found)}; name a class or a function.")
    return found


def _made(workload: str, made_by: Any, *arguments: Any) -> Workload:
    """What a class, or a function without arguments, gives; made by a user's code."""
    from study.workloads.base import Workload

    with blamed_on(workload, "making it"):
        made = made_by(*arguments)
    if not isinstance(made, Workload):
        raise WorkloadError(workload_name(workload), f"the function gives {kind(made)}; return a Workload.")
    return made


def _module(workload: str) -> ModuleType:
    """Run a user's file, once a process as long as it stays the same; its folder can be imported from."""
    file, name = own_file(workload), workload_name(workload)
    assert file is not None
    if not parts(workload)[1]:
        raise WorkloadError(name, f"it names no class; write for example {file.name}:MyWorkload.")
    if file.suffix != ".py":
        raise WorkloadError(name, f"{file.name} is no Python file; name one that ends in .py.")
    if not file.is_file():
        raise WorkloadError(name, f"there is no file {file}; check the path.")
    key = hashlib.sha256(f"{file} {source_digest(workload)}".encode()).hexdigest()[:16]
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
        with blamed_on(workload, "importing it"):
            spec.loader.exec_module(module)
    except UserError:
        del sys.modules[module_name]
        raise
    return module


def _all_are(kind: type, values: Any) -> bool:
    return isinstance(values, Mapping) and all(isinstance(value, kind) for value in values.values())

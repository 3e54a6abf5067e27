"""A user's own workload: a class, or a function that makes one, in a file of theirs.

What a card says of our workloads, such a class carries itself, as attributes of the same names: `metrics`,
`metaparameters`, `required_metaparameters`, `summary`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

from study.errors import UserError
from study.nearest import did_you_mean
from study.ownfile import OwnFileError, failure, run_file
from study.wording import kind
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
    """Make whatever a user's code raises in the block a `WorkloadError` that names its line.

    What a workload of ours raises passes through.
    """
    try:
        yield
    except UserError:
        raise
    except Exception as error:  # a user's code may raise anything
        file = own_file(workload)
        if file is None:
            raise
        raise WorkloadError(workload_name(workload), f"{part} {failure(error, file)}") from error


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
    """What a user's file defines; its code is run."""
    file, name = own_file(workload), workload_name(workload)
    assert file is not None
    if not parts(workload)[1]:
        raise WorkloadError(name, f"it names no class; write for example {file.name}:MyWorkload.")
    try:
        return run_file(file)
    except OwnFileError as error:
        raise WorkloadError(name, str(error)) from error


def _all_are(kind: type, values: Any) -> bool:
    return isinstance(values, Mapping) and all(isinstance(value, kind) for value in values.values())

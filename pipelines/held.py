"""What a wrapper holds for later copies, and how it keeps the consumer's and the loader's hands off it."""

from __future__ import annotations

import copy
import dataclasses
from collections import UserDict, UserList, deque
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

_ATOMS = frozenset({int, float, complex, bool, str, bytes, type(None)})
_LEAVES = _ATOMS | {torch.Tensor, np.ndarray}
"""The common ones, known without asking what they can do; atoms cannot be changed."""


class ChangedInPlaceError(ValueError):
    """A tensor was changed in place while later copies of it were still to come."""


class Held:
    """An element of somebody's loader, as it is: for factor 1, where there are no later copies.

    Attributes:
        element: what is held.
        number: which element of the pass it is, from 0.
        left: copies that have not been handed out yet.
    """

    __slots__ = ("element", "left", "number")

    def __init__(self, element: Any, number: int, copies: int) -> None:
        self.element = element
        self.number = number
        self.left = copies

    def copy(self) -> Any:
        """The element for the consumer.

        Raises:
            ChangedInPlaceError: it is no longer what it was when it was read.
        """
        self.require_unchanged()
        self.left -= 1
        return self._last() if self.left < 1 else self._another()

    def require_unchanged(self) -> None:
        """`ChangedInPlaceError` if it can be seen that the element is not what it was when it was read."""

    def _another(self) -> Any:
        return self.element

    def _last(self) -> Any:
        return self.element


class OwnedHeld(Held):
    """A deep copy, made when the element is read: the loader may use its memory again.

    Every copy but the last is a deep copy of that, and the consumer may do with it as he likes. So an
    emission costs one copy of its bytes.
    """

    __slots__ = ()

    def __init__(self, element: Any, number: int, copies: int) -> None:
        super().__init__(through(element, own), number, copies)

    def _another(self) -> Any:
        return through(self.element, own)


class WatchedHeld(Held):
    """As `OwnedHeld`, but tensors are not copied: they are shared by all copies, and watched.

    A tensor is handed out as an alias of its own (so `requires_grad_()` and `.grad` reach no other copy), and
    its version counter is compared before each copy. That sees every in-place operation of torch, the
    consumer's or the loader's, on the tensor or on another view of its storage. It does not see writes
    through `tensor.data`, nor through the memory that `tensor.numpy()` lends.

    Tensors without a counter to rely on are copied once, when they are read: those of inference mode, and
    those on memory that belongs to NumPy.
    """

    __slots__ = ("_watched",)

    def __init__(self, element: Any, number: int, copies: int) -> None:
        self._watched: list[tuple[torch.Tensor, int]] = []
        super().__init__(through(element, self._watch), number, copies)

    def require_unchanged(self) -> None:
        """`ChangedInPlaceError` unless all tensors are what they were when they were read."""
        for tensor, version in self._watched:
            if tensor._version != version:
                raise ChangedInPlaceError(
                    f"A tensor {tuple(tensor.shape)} of element {self.number} was changed in place while its "
                    "copies were still to come; make a new tensor instead (x = x / 255, not x /= 255), or "
                    "give the wrapper copy=True."
                )

    def _another(self) -> Any:
        return through(self.element, _lend)

    def _last(self) -> Any:
        return through(self.element, _alias)

    def _watch(self, leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor):
            return own(leaf)
        if leaf.is_inference() or _on_borrowed_memory(leaf):
            with torch.inference_mode(False):
                leaf = leaf.clone()
        self._watched.append((leaf, leaf._version))
        return leaf


def _on_borrowed_memory(tensor: torch.Tensor) -> bool:
    """Whether somebody else, as a rule NumPy, may write to it unseen; memory shared by workers is torch's."""
    if type(tensor) is not torch.Tensor or tensor.layout is not torch.strided or not tensor.is_cpu:
        return False
    storage = tensor.untyped_storage()
    return not storage.resizable() and not storage.is_shared()


def own(leaf: Any) -> Any:
    """A deep copy; of a tensor just its own part of the storage, all of which deepcopy would take.

    Raises:
        ValueError: the leaf cannot be copied.
    """
    if type(leaf) in _ATOMS:
        return leaf
    if isinstance(leaf, torch.Tensor):
        return leaf.clone()
    try:
        return copy.deepcopy(leaf)
    except (TypeError, RuntimeError) as error:
        raise ValueError(
            f"What the loader gives holds a {type(leaf).__name__} that cannot be copied for its later copies "
            f"({error}); let the loader give arrays, tensors or plain values."
        ) from error


def _alias(leaf: Any) -> Any:
    return leaf.detach() if isinstance(leaf, torch.Tensor) and not leaf.requires_grad else leaf


def _lend(leaf: Any) -> Any:
    return _alias(leaf) if isinstance(leaf, torch.Tensor) else own(leaf)


def through(element: Any, change: Callable[[Any], Any]) -> Any:
    """`element` with new containers, each leaf changed; containers keep their types and other attributes.

    Containers are lists, dicts, tuples, dataclasses, deques, and what derives from them. All else is a leaf.
    """
    kind = type(element)
    if kind in _LEAVES:
        return change(element)
    if kind is list:
        return [through(part, change) for part in element]
    if kind is dict:
        return {name: through(part, change) for name, part in element.items()}
    if kind is tuple:
        return tuple([through(part, change) for part in element])  # a list is quicker than a generator
    if isinstance(element, tuple) and hasattr(element, "_make"):
        return element._make([through(part, change) for part in element])
    if isinstance(element, dict | list | deque | UserDict | UserList) or (
        dataclasses.is_dataclass(element) and not isinstance(element, type)
    ):
        return _rebuilt(element, change)
    return change(element)


def _rebuilt(element: Any, change: Callable[[Any], Any]) -> Any:
    fresh = copy.copy(element)
    if isinstance(element, dict):
        for name, part in element.items():
            fresh[name] = through(part, change)
    elif isinstance(element, list | deque):
        for place, part in enumerate(element):
            fresh[place] = through(part, change)
    attributes = set(getattr(element, "__dict__", ()))
    if dataclasses.is_dataclass(element):  # which may have slots
        attributes |= {field.name for field in dataclasses.fields(element) if hasattr(element, field.name)}
    for name in attributes:
        object.__setattr__(fresh, name, through(getattr(element, name), change))
    return fresh

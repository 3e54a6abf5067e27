"""What a wrapper holds for later copies, and how it keeps the consumer's hands off it."""

from __future__ import annotations

import copy
from collections.abc import Callable, MutableMapping, MutableSequence
from typing import Any, cast

import numpy as np
import torch

_LEAVES = frozenset({torch.Tensor, np.ndarray, int, float, bool, str, bytes, bytearray, type(None)})
"""The common ones, known without asking what they can do."""


class ChangedInPlaceError(ValueError):
    """A tensor was changed in place while later copies of it were still to come."""


class Held:
    """An element of somebody's loader, by reference, to be handed out several times.

    Every copy has dicts, lists and tuples of its own, so that `batch.pop("label")` reaches no other copy. The
    leaves in them are shared:

    - a tensor is handed out as an alias of its own (so `requires_grad_()` and `.grad` reach no other copy),
      and its version counter is compared before each copy. That sees every in-place operation of torch,
      whoever made it, except through `.data`, through memory lent to NumPy, and on tensors made in inference
      mode.
    - an array is handed out as a read-only view, so that NumPy refuses to change it.
    - anything else is handed out as it is, unwatched.

    A loader that fills the same array again and again needs a copy of its own in front of the wrapper.

    With `deep`, each copy is a deep copy, and the consumer may do with it as he likes.
    """

    __slots__ = ("_deep", "_watched", "element", "number")

    def __init__(self, element: Any, number: int, deep: bool) -> None:
        self.element = element
        self.number = number
        self._deep = deep
        self._watched: list[tuple[torch.Tensor, int]] = []
        _through(element, self._watch)

    def copy(self) -> Any:
        """The element for the consumer.

        Raises:
            ChangedInPlaceError: it is no longer what it was when it was read.
        """
        self.require_unchanged()
        return _through(self.element, _own if self._deep else _alias)

    def require_unchanged(self) -> None:
        """`ChangedInPlaceError` unless all tensors are what they were when they were read."""
        for tensor, version in self._watched:
            if tensor._version != version:
                raise ChangedInPlaceError(
                    f"A tensor {tuple(tensor.shape)} of element {self.number} was changed in place while its "
                    "copies were still to come; make a new tensor instead (x = x / 255, not x /= 255), or "
                    "give the wrapper copy=True."
                )

    def _watch(self, leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor) and not leaf.is_inference():
            self._watched.append((leaf, leaf._version))
        return leaf


def _own(leaf: Any) -> Any:
    """A deep copy; of a tensor just its own part of the storage, all of which deepcopy would take."""
    return leaf.clone() if isinstance(leaf, torch.Tensor) else copy.deepcopy(leaf)


def _alias(leaf: Any) -> Any:
    if isinstance(leaf, torch.Tensor):
        return leaf if leaf.requires_grad else leaf.detach()
    if isinstance(leaf, np.ndarray):
        view = leaf.view()
        view.flags.writeable = False
        return view
    return leaf


def _through(element: Any, change: Callable[[Any], Any]) -> Any:
    """`element` with new containers, each leaf changed; containers keep their types and other attributes."""
    kind = type(element)
    if kind in _LEAVES:
        return change(element)
    if kind is list:
        return [_through(part, change) for part in element]
    if kind is dict:
        return {name: _through(part, change) for name, part in element.items()}
    if kind is tuple:
        return tuple([_through(part, change) for part in element])  # a list is quicker than a generator
    if isinstance(element, tuple):
        parts = [_through(part, change) for part in element]
        return element._make(parts) if hasattr(element, "_make") else element
    if isinstance(element, MutableMapping):
        fresh = copy.copy(element)
        for name, part in element.items():
            fresh[name] = _through(part, change)
        return fresh
    if isinstance(element, MutableSequence):
        several = copy.copy(cast(Any, element))
        for place, part in enumerate(element):
            several[place] = _through(part, change)
        return several
    return change(element)

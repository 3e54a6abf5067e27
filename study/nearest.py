"""The nearest valid word to a mistyped one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(word: str, valid: Iterable[str]) -> str:
    """`did you mean 'x'?` where something is near, else the list of what is valid."""
    words = sorted(valid)
    near = difflib.get_close_matches(word, words, n=1, cutoff=0.6)
    return f"did you mean '{near[0]}'?" if near else f"valid: {', '.join(words)}."

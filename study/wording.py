"""How values appear in error sentences: short, on one line, and always printable."""

from __future__ import annotations

WIDEST = 60
"""Characters of a user's text that a sentence quotes at most."""


def printable(text: str, widest: int = WIDEST) -> str:
    """`text` with line breaks, control characters and lone surrogates escaped, cut to `widest`."""
    clean = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[: widest + 1])
    return clean if len(clean) <= widest else clean[: widest - 1] + "…"


def shown(value: object) -> str:
    """A value of a study file as a sentence names it: `'high'`, `0.95`, `true`, `a list`."""
    match value:
        case None:
            return "an empty value"
        case bool():
            return str(value).lower()
        case int() if abs(value) >= 10**18:
            return f"{value:g}"
        case str():
            return f"'{printable(value)}'"
        case list() | tuple():
            return "a list"
        case dict():
            return "a group of keys"
        case _:
            return printable(str(value))


def kind(value: object) -> str:
    """The type of a value with its article: `an int`, `a Tensor`."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"

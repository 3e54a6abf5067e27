"""The King James Bible out of the Python package that carries it: 66 books, one text file each.

The package holds one long text and, for every verse (numbered book * 1,000,000 + chapter * 1,000 + verse),
where it starts in that text; both are literals in its source, which is parsed here and not executed.
"""

from __future__ import annotations

import ast
from pathlib import Path

SOURCE = "plain_text_readers_bible.py"
"""The module of the package that has the text without verse numbers."""


def write_books(package: Path, folder: Path) -> None:
    """Write `01_genesis.txt` ... `66_revelation.txt` into `folder` from the unpacked `package`.

    Raises:
        ValueError: the package's source is not built as described above.
    """
    source = (package / SOURCE).read_text(encoding="utf-8")
    text_node, starts_node, titles_node = _arguments(ast.parse(source))
    text, starts = ast.literal_eval(text_node), ast.literal_eval(starts_node)
    titles = [ast.literal_eval(title) for title in titles_node.values]
    first_verses = [starts[number * 1_000_000 + 1_001] for number in range(1, len(titles) + 1)]
    for number, (title, start, end) in enumerate(
        zip(titles, first_verses, [*first_verses[1:], len(text)], strict=True), 1
    ):
        name = f"{number:02}_{title.lower().replace(' ', '_')}.txt"
        (folder / name).write_text(text[start:end].strip() + "\n", encoding="utf-8", newline="\n")


def _arguments(module: ast.Module) -> tuple[ast.expr, ast.expr, ast.Dict]:
    """The text, the verses' starts and the books' titles: arguments of `bible = Bible(...)`."""
    for statement in module.body:
        match statement:
            case ast.Assign(
                value=ast.Call(
                    func=ast.Name(id="Bible"), args=[_, text, starts, _, _, ast.Dict() as titles, *_]
                )
            ):
                return text, starts, titles
    raise ValueError(f"{SOURCE} does not call Bible with a text, its verses and the titles of its books")

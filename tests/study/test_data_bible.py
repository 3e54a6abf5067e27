import pytest

from study.data.bible import SOURCE, write_books

MODULE = '''
from pythonbible.bible.bible import Bible
raise RuntimeError("this is data, not to be run")
bible = Bible(
    Version.KING_JAMES,
    """
In the beginning. And more.
These are the first words, Ēli.
""",
    {1001001: 1, 1001002: 19, 2001001: 29},
    {1001001: 19, 1001002: 28, 2001001: 56},
    {Book.GENESIS: {1: 2}, Book.SAMUEL_1: {1: 1}},
    {Book.GENESIS: "Genesis", Book.SAMUEL_1: "1 Samuel"},
    {Book.GENESIS: "The First Book", Book.SAMUEL_1: "The Other"},
    False,
)
'''


def test_the_books_are_cut_out_of_the_source_which_is_not_run(tmp_path):
    (tmp_path / SOURCE).write_text(MODULE, encoding="utf-8")
    books = tmp_path / "books"
    books.mkdir()
    write_books(tmp_path, books)
    assert {file.name: file.read_text(encoding="utf-8") for file in books.iterdir()} == {
        "01_genesis.txt": "In the beginning. And more.\n",
        "02_1_samuel.txt": "These are the first words, Ēli.\n",
    }


@pytest.mark.parametrize("source", ["", "bible = Bible(1)", "bible = Bible(1, 'text', {}, {}, {}, titles)"])
def test_a_source_built_otherwise_is_refused(tmp_path, source):
    (tmp_path / SOURCE).write_text(source, encoding="utf-8")
    with pytest.raises(ValueError, match=r"plain_text_readers_bible\.py does not call Bible"):
        write_books(tmp_path, tmp_path)

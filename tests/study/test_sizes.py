"""Sizes in bytes, read and said."""

import pytest

from study.errors import UserError
from study.sizes import read_size, size_words


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [("2GB", 2 * 10**9), ("1.5 GiB", 3 * 2**29), ("500mb", 5 * 10**8), ("64", 64), (".5kB", 500), ("3 B", 3)],
)
def test_sizes_are_read_as_people_write_them(text, size_bytes):
    assert read_size(text, "--memory") == size_bytes


@pytest.mark.parametrize("text", ["", "much", "-2GB", "2 gigs", "1e9", "GB"])
def test_what_is_no_size_is_named_with_an_example(text):
    with pytest.raises(UserError, match=r"^--memory cannot be .*; give a size such as 500MB or 2GB\.$"):
        read_size(text, "--memory")


@pytest.mark.parametrize(
    ("size_bytes", "words"),
    [(12, "12 bytes"), (60_000, "60 kB"), (30_878_551, "30.9 MB"), (155_000_000_000, "155 GB")],
)
def test_sizes_are_said_in_three_digits(size_bytes, words):
    assert size_words(size_bytes) == words

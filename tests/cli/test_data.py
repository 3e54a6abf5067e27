import hashlib
import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from study.data.catalogue import DATA_SETS, DataSet, Part

formats = runpy.run_path(str(Path(__file__).parents[1] / "data_formats" / "fashion.py"))


@pytest.fixture
def echostudy(call_echostudy, tmp_path, monkeypatch):
    """The console command with a data root of its own."""
    monkeypatch.setenv("ECHOSTUDY_DATA", str(tmp_path))
    return call_echostudy


@pytest.fixture
def letters(monkeypatch, tmp_path):
    """A data set in the catalogue, which lies in the data root: one letter of a known checksum."""

    class Letters(DataSet):
        def checksums(self):
            return {"a.txt": f"sha256:{hashlib.sha256(b'Dear').hexdigest()}"}

    one = Letters(
        "letters", "one letter", "CC0", "here", 4, (Part("a.txt", 1, "the letter"),), by_hand="a.txt"
    )
    monkeypatch.setitem(DATA_SETS, "letters", one)
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").write_bytes(b"Dear")
    return tmp_path / "letters"


def row(table, name):
    return next(line.split() for line in table.splitlines() if line.split()[:1] == [name])


def test_the_list_shows_every_data_set_and_whether_it_is_there(echostudy, tmp_path):
    code, table, _ = echostudy("data", "list")
    assert code == 0
    assert all(row(table, name) for name in DATA_SETS)
    assert row(table, "digits")[1] == "yes"
    assert row(table, "cifar10")[1:4] == ["no", "186", "MB"]
    formats["write_fashion_mnist"](tmp_path)
    (tmp_path / "fashion_mnist" / "t10k-labels-idx1-ubyte.gz").unlink()
    code, table, _ = echostudy("data", "list")
    assert " ".join(row(table, "fashion_mnist")[1:5]) == "in part 30.9 MB"
    assert str(tmp_path) in table


def test_a_check_shows_counts_and_ends_well(echostudy, letters):
    code, table, _ = echostudy("data", "check", "letters")
    assert code == 0
    assert row(table, "a.txt") == ["a.txt", "1", "1", "1", "the", "letter"]
    assert str(letters) in table


def test_a_check_that_finds_something_names_it_and_ends_with_1(echostudy, letters):
    (letters / "a.txt").write_bytes(b"Deer")
    code, table, _ = echostudy("data", "check", "letters")
    assert code == 1
    assert row(table, "a.txt")[1:4] == ["1", "1", "0"]
    assert "a.txt is not what was published" in table


def test_fetching_what_is_there_says_so(echostudy, letters):
    code, said, _ = echostudy("data", "fetch", "letters")
    assert code == 0
    assert "letters was there already." in said
    code, said, _ = echostudy("data", "fetch", "digits")
    assert code == 0
    assert "It is part of an installed package." in said


def test_what_cannot_be_fetched_is_one_line_and_code_2(echostudy, letters, monkeypatch):
    monkeypatch.setitem(DATA_SETS, "letters", replace(DATA_SETS["letters"], parts=(Part("b", 1, "other"),)))
    (letters / "a.txt").unlink()
    code, said, complaint = echostudy("data", "fetch", "letters")
    assert (code, said) == (2, "")
    assert complaint == (
        f"Error: letters cannot be fetched by a program; put a.txt into {letters} (its home: here).\n"
    )


@pytest.mark.parametrize("command", ["fetch", "check"])
def test_an_unknown_name_is_one_line_and_code_2(echostudy, command):
    code, _, complaint = echostudy("data", command, "cifar100")
    assert code == 2
    assert complaint == "Error: There is no data set 'cifar100'; did you mean 'cifar10'?\n"

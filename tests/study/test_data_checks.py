import hashlib
from dataclasses import replace

import pytest

from study.data.catalogue import DataSet, Part
from study.data.checks import check_data_set, checksum, presence


class Known(DataSet):
    """A data set of two letters, whose checksums are known, and at least one picture, of unknown ones."""

    def checksums(self):
        return {
            "a.txt": f"sha256:{hashlib.sha256(b'Dear').hexdigest()}",
            "b.txt": f"md5:{hashlib.md5(b'Yours').hexdigest()}",
        }


SET = Known(
    name="letters",
    summary="two letters and pictures",
    licence="CC0",
    home="here",
    size_bytes=9,
    parts=(Part("*.txt", 2, "letters"), Part("pictures/*.jpg", 1, "pictures", or_more=True)),
    by_hand="letters",
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"Dear")
    (tmp_path / "b.txt").write_bytes(b"Yours")
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "1.jpg").write_bytes(b"x")
    return tmp_path


def test_a_sound_set_is_counted_and_has_no_faults(folder):
    found = check_data_set(SET, folder)
    assert found.faults == ()
    assert [(one.files, one.known, one.verified) for one in found.parts] == [(2, 2, 2), (1, 0, 0)]


def test_a_changed_file_is_named(folder):
    (folder / "b.txt").write_bytes(b"Yourz")
    found = check_data_set(SET, folder)
    assert found.faults == (f"{folder / 'b.txt'} is not what was published: its md5 differs",)
    assert found.parts[0].verified == 1


def test_a_missing_file_whose_name_is_known_is_named(folder):
    (folder / "a.txt").unlink()
    assert check_data_set(SET, folder).faults == (f"{folder / 'a.txt'} is missing",)


def test_missing_files_whose_names_are_not_known_are_counted(folder):
    (folder / "pictures" / "1.jpg").unlink()
    assert check_data_set(SET, folder).faults == (
        f"{folder / 'pictures' / '*.jpg'} matches 0 files, not 1 or more",
    )


def test_a_file_too_many_is_a_fault_where_the_number_is_fixed(folder):
    (folder / "c.txt").write_bytes(b"P.S.")
    assert check_data_set(SET, folder).faults == (f"{folder / '*.txt'} matches 3 files, not 2",)
    (folder / "pictures" / "2.jpg").write_bytes(b"y")
    more = replace(SET, parts=SET.parts[1:])
    assert check_data_set(more, folder).faults == ()


def test_an_empty_file_is_a_fault_even_where_no_checksum_is_known(folder):
    (folder / "pictures" / "1.jpg").write_bytes(b"")
    assert check_data_set(SET, folder).faults == (f"{folder / 'pictures' / '1.jpg'} is empty",)


def test_a_glance_tells_all_some_and_nothing(folder):
    assert presence(SET, folder) == "yes"
    (folder / "pictures" / "1.jpg").unlink()
    assert presence(SET, folder) == "in part"
    assert presence(SET, folder / "nowhere") == "no"
    assert presence(replace(SET, parts=()), folder / "nowhere") == "yes", "it is part of an installed package"


def test_progress_ends_at_the_whole_file(tmp_path):
    file = tmp_path / "big"
    file.write_bytes(bytes(3_000_000))
    seen = []
    found = checksum(file, "sha256", lambda *what: seen.append(what))
    assert found == f"sha256:{hashlib.sha256(bytes(3_000_000)).hexdigest()}"
    assert seen[-1] == ("checking big", 3_000_000, 3_000_000)
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)


def test_other_files_may_serve_instead(folder):
    shards = replace(SET, instead=(Part("shards/*.tar", 1, "shards", or_more=True),))
    assert check_data_set(shards, folder).faults == ()
    (folder / "a.txt").unlink()
    assert presence(shards, folder) == "yes", "there is another letter, no shard yet"
    assert len(check_data_set(shards, folder).faults) == 1
    (folder / "shards").mkdir()
    (folder / "shards" / "1.tar").write_bytes(b"x")
    assert [one.part.what for one in check_data_set(shards, folder).parts] == ["shards"]
    assert check_data_set(shards, folder).faults == ()

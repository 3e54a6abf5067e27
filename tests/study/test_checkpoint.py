"""A trial's checkpoint, in a folder and in what PyArrow opens by an address."""

import pytest
import torch

from study.checkpoint import Checkpoint
from study.errors import UserError
from study.storage import Storage, check_place, checkpoint_name


@pytest.fixture(params=["", "file://"])
def storage(request, tmp_path) -> Storage:
    (tmp_path / "digits").mkdir()
    return Storage(f"{request.param}{tmp_path}", "digits")


def files(tmp_path):
    return [path.name for path in (tmp_path / "digits").iterdir()]


def test_what_is_saved_is_loaded_and_the_last_save_counts(storage, tmp_path):
    checkpoint = Checkpoint(storage, "abc")
    assert checkpoint.load() is None
    assert checkpoint.save({"step": 1})
    assert checkpoint.save({"step": 2, "weights": torch.ones(3)})
    state = checkpoint.load()
    assert state["step"] == 2
    assert torch.equal(state["weights"], torch.ones(3))
    assert files(tmp_path) == ["abc.pt"]


def test_one_that_is_cut_short_counts_as_none(storage, tmp_path):
    checkpoint = Checkpoint(storage, "abc")
    checkpoint.save({"weights": torch.ones(1000)})
    file = tmp_path / "digits" / checkpoint_name("abc")
    whole = file.read_bytes()
    for length in (0, 10, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:length])
        assert checkpoint.load() is None
    file.write_bytes(whole)
    assert checkpoint.load() is not None


def test_a_checkpoint_never_runs_code(storage, tmp_path):
    class Trap:
        def __reduce__(self):
            return (print, ("code ran",))

    torch.save({"trap": Trap()}, tmp_path / "digits" / checkpoint_name("abc"))
    assert Checkpoint(storage, "abc").load() is None


def test_removing_twice_is_no_error(storage, tmp_path):
    checkpoint = Checkpoint(storage, "abc")
    checkpoint.save({})
    checkpoint.remove()
    checkpoint.remove()
    assert files(tmp_path) == []


def test_what_a_process_that_died_has_left_half_written_goes_with_the_checkpoint(tmp_path):
    (tmp_path / "digits").mkdir()
    for name in ("abc.pt.0a1b.part", "abcd.pt.0a1b.part"):
        (tmp_path / "digits" / name).touch()
    Checkpoint(Storage(str(tmp_path), "digits"), "abc").remove()
    assert files(tmp_path) == ["abcd.pt.0a1b.part"]


def test_where_nothing_can_be_written_saving_says_so_and_loading_finds_nothing(tmp_path):
    (tmp_path / "file").touch()
    checkpoint = Checkpoint(Storage(str(tmp_path / "file"), "never a folder"), "abc")
    assert not checkpoint.save({})
    assert checkpoint.load() is None


@pytest.mark.parametrize("place", ["/mnt/shared", "s3://bucket/path", "s3://b/p?endpoint_override=host:9000"])
def test_folders_and_object_stores_are_places(place):
    check_place(place)


@pytest.mark.parametrize(
    ("place", "what"),
    [
        ("checkpoints", "is not the same folder on every node"),
        ("ftp://host/path", "cannot be kept at 'ftp://'"),
        ("s3://key:secret@bucket/path", "has a key in it"),
    ],
)
def test_what_cannot_be_a_place_is_refused_without_its_secrets(place, what):
    with pytest.raises(UserError, match=what) as error:
        check_place(place)
    assert "secret" not in str(error.value)

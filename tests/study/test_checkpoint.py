"""A trial's checkpoint file."""

import torch

from study.checkpoint import Checkpoint


def test_what_is_saved_is_loaded_and_the_last_save_counts(tmp_path):
    checkpoint = Checkpoint(tmp_path, "abc")
    assert checkpoint.load() is None
    checkpoint.save({"step": 1})
    checkpoint.save({"step": 2, "weights": torch.ones(3)})
    state = checkpoint.load()
    assert state["step"] == 2
    assert torch.equal(state["weights"], torch.ones(3))
    assert [path.name for path in checkpoint.path.parent.iterdir()] == ["abc.pt"]


def test_a_file_cut_short_counts_as_none_and_is_removed(tmp_path):
    checkpoint = Checkpoint(tmp_path, "abc")
    checkpoint.save({"weights": torch.ones(1000)})
    whole = checkpoint.path.read_bytes()
    for length in (0, 10, len(whole) // 2, len(whole) - 1):
        checkpoint.path.write_bytes(whole[:length])
        assert checkpoint.load() is None
        assert not checkpoint.path.exists()


def test_a_checkpoint_never_runs_code(tmp_path):
    class Trap:
        def __reduce__(self):
            return (print, ("code ran",))

    checkpoint = Checkpoint(tmp_path, "abc")
    checkpoint.path.parent.mkdir()
    torch.save({"trap": Trap()}, checkpoint.path)
    assert checkpoint.load() is None


def test_removing_twice_is_no_error(tmp_path):
    checkpoint = Checkpoint(tmp_path, "abc")
    checkpoint.save({})
    checkpoint.remove()
    checkpoint.remove()
    assert not checkpoint.path.exists()

"""Memory: seen to before a study starts, and told apart from other crashes when it runs out all the same."""

from __future__ import annotations

from study.errors import SettingError

ADVICE = (
    "lower conditions.batch_size, or give a trial more (resources.cpu, resources.gpu, or fewer --workers)"
)

SIGNS = ("out of memory", "OutOfMemory", "can't allocate memory", "MemoryError", "memory usage threshold")
"""Parts of what PyTorch, Python and Ray say when there is none left."""


def is_out_of_memory(said: str) -> bool:
    """True if an error's text says that memory has run out, on the machine or on its GPU."""
    return any(sign in said for sign in SIGNS)


def check_memory(used_bytes: float, trials: int, total_bytes: float) -> None:
    """`SettingError` if so many processes of that size do not fit into a machine's memory."""
    if used_bytes * trials > total_bytes:
        raise SettingError(
            ("resources", "cpu"),
            f"lets {trials} trials run at a time on one machine, which take {used_bytes / 1e9:.1f} GB each "
            f"of its {total_bytes / 1e9:.1f} GB of memory; raise it, or run fewer with --workers.",
        )


def check_gpu_memory(used_bytes: float, batch_size: int, share: float, total_bytes: float) -> None:
    """`SettingError` if an update takes more than the share of its GPU that a trial asks for."""
    if used_bytes > min(share, 1) * total_bytes:
        raise SettingError(
            ("resources", "gpu"),
            f"is {share:g} of a GPU of {total_bytes / 1e9:.1f} GB, but an update with batch size "
            f"{batch_size} takes {used_bytes / 1e9:.1f} GB; raise it, or lower conditions.batch_size.",
        )

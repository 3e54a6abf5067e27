"""What is said of data that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pipelines import SourceError
from study.errors import UserError


@contextmanager
def readable() -> Iterator[None]:
    """Make what a source, or a file or folder that is named, does not give in the block a `UserError`."""
    try:
        yield
    except SourceError as error:
        raise UserError(str(error)) from error
    except OSError as error:
        if error.filename is None:  # no file of the user's
            raise
        raise UserError(
            f"{error.filename} cannot be read ({error.strerror}); check what lies there, and whether you may "
            "read it."
        ) from error

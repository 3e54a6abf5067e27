"""One driver a study: a second one on the same results folder is told so, and leaves."""

from __future__ import annotations

import fcntl
import os
import socket
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from study.errors import UserError


class DriverLock:
    """The right to run a study in its folder; it ends with the block, or with the process, however that ends.

    On a file system without locks (some network ones) everyone gets it; the store then keeps doubles out.
    """

    def __init__(self, study_folder: Path) -> None:
        self._path = study_folder / "driver.lock"
        self._file: int | None = None

    def take(self) -> None:
        """Have it from here on; makes the folder. `UserError` that names the driver who has it."""
        while self._file is None:
            file = self._opened()
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                who = os.read(file, 1000).decode(errors="replace")
                os.close(file)
                raise UserError(
                    f"The study in {self._path.parent} is being run already, by {who or 'another process'}; "
                    "wait until that has ended, or end it: nothing is lost either way."
                ) from None
            except OSError:
                pass
            if self._is_in_place(file):
                self._file = file
                with suppress(OSError):  # a full disk: the lock is ours all the same
                    os.truncate(file, 0)
                    os.write(file, f"process {os.getpid()} on {socket.gethostname()}".encode())
            else:
                os.close(file)

    def take_if_it_has_run(self) -> None:
        """The same, where the study has a folder already: before anything else is begun."""
        if self._path.parent.is_dir() and os.access(self._path.parent, os.W_OK):
            self.take()

    def _opened(self) -> int:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            return os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise UserError(
                f"Cannot write to {self._path.parent} ({error.strerror}); free some room, make it writable, "
                "or name another folder with --results."
            ) from error

    def _is_in_place(self, file: int) -> bool:
        """False if the driver before us has removed the file as it left."""
        with suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(file), os.stat(self._path))
        return False

    def __enter__(self) -> DriverLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._path.unlink()
            os.close(self._file)
            self._file = None

"""Where a study's results lie on disk."""

from __future__ import annotations

import errno
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from study.errors import UserError
from study.storage import Storage

DEFAULT_RESULTS = Path("echostudy-results")


@dataclass(frozen=True, slots=True)
class ResultsFolder:
    """One folder for many studies: the MLflow store, and a folder a study for figures and tables.

    `server` is the address of another MLflow store (a server's, or a database's), which is then used in place
    of the embedded one; `checkpoints` is another place for the states of unfinished trials (`study.storage`).
    """

    root: Path
    server: str | None = None
    checkpoints: str | None = None

    @classmethod
    def at(cls, path: Path, server: str | None = None, checkpoints: str | None = None) -> ResultsFolder:
        """The folder as an absolute path (workers and servers have other working folders)."""
        return cls(path.expanduser().absolute(), server, checkpoints)

    @property
    def database(self) -> Path:
        """The SQLite file behind the embedded MLflow store."""
        return self.root / "mlflow.db"

    @property
    def tracking_uri(self) -> str:
        """MLflow's address of the store; a database's has a password in it, maybe: see `store_name`."""
        return self.server or f"sqlite:///{self.database}"

    @property
    def artifacts(self) -> Path:
        """Where artifacts lie, unless an MLflow server keeps them."""
        return self.root / "artifacts"

    @property
    def artifact_location(self) -> str | None:
        """The same as MLflow takes it; None where it is the server's to say."""
        is_http = self.server is not None and self.server.startswith("http")
        return None if is_http else self.artifacts.as_uri()

    def study(self, name: str) -> Path:
        """Figures, tables and logs of one study."""
        return self.root / name

    def storage(self, name: str) -> Storage:
        """Where unfinished trials of one study keep their states."""
        if self.checkpoints is None:
            return Storage(str(self.study(name)), "checkpoints")
        return Storage(self.checkpoints, name)

    def journal(self, name: str) -> Path:
        """What has ended in a study and may not be in the store yet (`study.journal`)."""
        return self.study(name) / "journal.jsonl"

    def logs(self, name: str) -> Path:
        """Tracebacks of one study's crashed trials."""
        return self.study(name) / "logs"

    def require_writable(self) -> None:
        """`UserError` if it is plain that nothing can be written there; creates nothing."""
        nearest = next(path for path in (self.root, *self.root.parents) if os.path.exists(path))
        if not nearest.is_dir():
            raise self._cannot_write(f"{nearest} is a file")
        if not os.access(nearest, os.W_OK | os.X_OK):
            raise self._cannot_write(os.strerror(errno.EACCES))

    def make_writable(self) -> None:
        """Create the folder; `UserError` if nothing can be written there."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.root):
                pass
        except OSError as error:
            raise self._cannot_write(error.strerror or str(error)) from error

    def _cannot_write(self, why: str) -> UserError:
        return UserError(f"Cannot write results to {self.root} ({why}); name another with --results.")

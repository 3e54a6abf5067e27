"""Where a study's results lie on disk."""

from __future__ import annotations

import errno
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from study.errors import UserError

DEFAULT_RESULTS = Path("echostudy-results")


def checkpoint_file(study_folder: Path, trial_id: str) -> Path:
    """Where an unfinished trial keeps its state."""
    return study_folder / "checkpoints" / f"{trial_id}.pt"


@dataclass(frozen=True, slots=True)
class ResultsFolder:
    """One folder for many studies: the MLflow store, and a folder a study for figures and tables.

    `server` is the address of another MLflow store (a server's, or a database's), which is then used in place
    of the embedded one.
    """

    root: Path
    server: str | None = None

    @classmethod
    def at(cls, path: Path, server: str | None = None) -> ResultsFolder:
        """The folder as an absolute path (workers and servers have other working folders)."""
        return cls(path.expanduser().absolute(), server)

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

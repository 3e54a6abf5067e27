"""A study as a job of Ray's job API: code and study file travel to the cluster, where the driver runs."""

from __future__ import annotations

import asyncio
import logging
import shlex
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from study.commit import commit_variables
from study.errors import UserError
from study.token import TOKEN_ADVICE, use_token

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ray.job_submission import JobSubmissionClient

CODE = ("analysis", "echostudy", "models", "pipelines", "study")
"""All that `echostudy run` needs; the packages (PyTorch, MLflow, ...) are those that the cluster has."""

ENTRYPOINT = ("python", "-m", "echostudy", "run")

CHATTY = (
    "ray._private.runtime_env.packaging",
    "ray.dashboard.modules.dashboard_sdk",
    "ray.dashboard.modules.job.sdk",
)
"""Ray's loggers that tell of every package and connection."""


@dataclass(frozen=True, slots=True)
class JobState:
    """How a job stands: Ray's word for it (PENDING, RUNNING, SUCCEEDED, ...), and what Ray says of it."""

    job_id: str
    status: str
    message: str
    entrypoint: str

    @property
    def is_over(self) -> bool:
        """True if it will not change any more."""
        return self.status in {"SUCCEEDED", "FAILED", "STOPPED"}


class JobServer:
    """The job API of the cluster whose dashboard is at `address`, `http://head:8265`.

    Raises:
        UserError: nothing answers there, or the token is not right; so do all its methods.
    """

    def __init__(self, address: str) -> None:
        if not address.startswith(("http://", "https://")):
            raise UserError(f"'{address}' is not the address of a Ray dashboard; give http://head:8265.")
        use_token()
        from ray.job_submission import JobSubmissionClient

        for name in CHATTY:
            logging.getLogger(name).setLevel(logging.WARNING)
        self._address = address
        with self._explained():
            self._client: JobSubmissionClient = JobSubmissionClient(address)

    def submit(self, spec: Path, options: Sequence[str], workload: Path | None) -> str:
        """Run `echostudy run SPEC` with these options on the cluster; the job's id.

        `workload` is a user's own file that goes along, as `workload/NAME`. Whoever may ask the cluster can
        read the options.
        """
        with tempfile.TemporaryDirectory(prefix="echostudy-job-") as folder, self._explained():
            _pack(Path(folder), spec, workload)
            return str(
                self._client.submit_job(
                    entrypoint=shlex.join([*ENTRYPOINT, spec.name, *options]),
                    runtime_env={"working_dir": folder, "env_vars": commit_variables()},
                    metadata={"study": spec.stem},
                )
            )

    def state(self, job_id: str) -> JobState:
        """How a job stands."""
        with self._explained(job_id):
            info: Any = self._client.get_job_info(job_id)
        return JobState(job_id, str(info.status.value), info.message or "", info.entrypoint)

    def logs(self, job_id: str) -> str:
        """What a job has printed so far."""
        with self._explained(job_id):
            return str(self._client.get_job_logs(job_id))

    def stop(self, job_id: str) -> None:
        """Ask a job to end."""
        with self._explained(job_id):
            self._client.stop_job(job_id)

    def follow(self, job_id: str, say: Callable[[str], None]) -> JobState:
        """Pass on all that a job prints until it is over; how it ended."""

        async def pass_on() -> None:
            async for text in self._client.tail_job_logs(job_id):
                say(text)

        with self._explained(job_id):
            asyncio.run(pass_on())
        while not (state := self.state(job_id)).is_over:
            time.sleep(0.5)
        return state

    @contextmanager
    def _explained(self, job_id: str | None = None) -> Iterator[None]:
        try:
            yield
        except UserError:
            raise
        except Exception as error:  # Ray raises RuntimeError, ConnectionError, and what its libraries do
            text = " ".join(str(error).split())
            if job_id is not None and "does not exist" in text:
                raise UserError(f"There is no job {job_id} at {self._address}; check its id.") from error
            if "Authentication" in text:
                what_to_do = TOKEN_ADVICE
            else:
                what_to_do = "see that the cluster runs, and that this is its dashboard's address."
            raise UserError(
                f"The Ray dashboard at {self._address} did not do what it was asked ({text[:300]}); "
                f"{what_to_do}"
            ) from error


def _pack(folder: Path, spec: Path, workload: Path | None) -> None:
    """Put into a folder what the job needs."""
    root = Path(__file__).parents[1]
    for name in CODE:
        shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(spec, folder)
    if workload is not None:
        (folder / "workload").mkdir()
        shutil.copy(workload, folder / "workload")

"""MLflow, the one store of results: what runs, tags, params and metrics are called, and writing them.

Experiment = study; run tree: study -> search -> trial. The names are an interface: notebooks and other
tools read them. Only the driver writes. A run is found by its id tag and never created twice; its outcome
tag is written last, in the same batch as its curve, so a run either has its whole result or none.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

from mlflow.entities import Metric, Param, Run, RunTag, ViewType
from mlflow.tracking import MlflowClient

from study.plan import Plan, Search, Trial
from study.record import TrialRecord
from study.result import PROTOCOL_VERSION, Outcome, Rank
from study.specmodel import RESERVED_NAMES
from study.stored import StoredTrial, has_result
from study.workloads.reference import source_digest

KIND = "echostudy.kind"
TRIAL_ID = "echostudy.trial_id"
SEARCH_ID = "echostudy.search_id"
CONDITION_ID = "echostudy.condition_id"
OUTCOME = "echostudy.outcome"
ERROR = "echostudy.error"
PROTOCOL = "echostudy.protocol_version"
WORKLOAD_SOURCE = "echostudy.workload_source_sha256"
"""Of a trial of a user's own workload: the digest of the file whose code it ran."""
PARENT = "mlflow.parentRunId"

MAX_CURVE_POINTS = 200
NOT_CURVES = {"fresh_examples", "buffer_examples"}
"""The step itself, and a constant that is logged once: every curve costs time and room."""
MAX_BATCH = 1000
"""MLflow takes at most this many metrics in one `log_batch`."""


def runs_of_kind(client: MlflowClient, study: str, kind: str) -> Iterator[Run]:
    """All runs of one kind (study, search, trial) of a study, page by page; none if the study is unknown."""
    experiment = client.get_experiment_by_name(study)
    if experiment is None:
        return
    token: str | None = None
    while True:
        page = client.search_runs(
            [experiment.experiment_id],
            filter_string=f"tags.`{KIND}` = '{kind}'",
            run_view_type=ViewType.ACTIVE_ONLY,
            max_results=MAX_BATCH,
            order_by=["attributes.start_time ASC"],
            page_token=token,
        )
        yield from page
        token = page.token
        if not token:
            return


def stored_trials(client: MlflowClient, study: str) -> dict[str, StoredTrial]:
    """What the store knows of a study's trials, by trial id."""
    return {run.data.tags[TRIAL_ID]: _stored(run) for run in runs_of_kind(client, study, "trial")}


def _stored(run: Run) -> StoredTrial:
    metrics, tags = run.data.metrics, run.data.tags

    def rank_from(place: str) -> Rank | None:
        if f"fresh_examples_{place}" not in metrics:
            return None
        point = int(run.data.params["point"])
        return Rank(metrics[f"fresh_examples_{place}"], int(metrics[f"updates_{place}"]), point)

    return StoredTrial(
        run_id=run.info.run_id,
        outcome=Outcome(tags[OUTCOME]) if OUTCOME in tags else None,
        rank=rank_from("to_target"),
        slot_s=metrics.get("slot_s", 0.0),
        training_s=metrics.get("training_s", 0.0),
        warm=bool(metrics.get("warm", 0.0)),
        workload_source=tags.get(WORKLOAD_SOURCE),
        diverged_at=rank_from("at_divergence"),
        evaluated="examples_consumed" in metrics,
        error=tags.get(ERROR, ""),
        metaparameters={
            name: float(text) for name, text in run.data.params.items() if name not in RESERVED_NAMES
        },
    )


class StudyWriter:
    """Writes one study's runs; knows the runs that are there, so that it never creates one twice."""

    def __init__(
        self, client: MlflowClient, plan: Plan, artifacts: str | None, tags: Mapping[str, str]
    ) -> None:
        self._client = client
        self._plan = plan
        self._common = {PROTOCOL: str(PROTOCOL_VERSION)}
        self._workload_source = source_digest(plan.spec.workload)
        experiment = client.get_experiment_by_name(plan.spec.name)
        self._experiment_id: str = (
            experiment.experiment_id
            if experiment
            else client.create_experiment(plan.spec.name, artifact_location=artifacts)
        )
        self._known = stored_trials(client, plan.spec.name)
        self._trial_runs = {trial_id: stored.run_id for trial_id, stored in self._known.items()}
        self._search_runs = {
            run.data.tags[SEARCH_ID]: run.info.run_id
            for run in runs_of_kind(client, plan.spec.name, "search")
        }
        self._study_run = self._open_study_run(tags)
        self._close_what_a_dead_driver_left_open()

    def write_trial(self, record: TrialRecord) -> None:
        """Write a finished trial: its params, its curve and its outcome, or a crash's last line."""
        assert record.outcome is not None
        trial, now = record.trial, _now_ms()
        crashed = not record.outcome.is_result
        if has_result(self._known.pop(trial.id, None)):  # retried: the run with the old result makes way
            self._client.delete_run(self._trial_runs.pop(trial.id))
        run_id = self._trial_runs.get(trial.id) or self._create_trial_run(trial)
        metrics = [] if crashed else _curve(record, now) + _metrics(record.final_metrics(), now)
        params = _params(_search_params(trial.search) | {"point": trial.point, **trial.metaparameters})
        tags = {OUTCOME: record.outcome.value} | ({ERROR: record.error} if record.error else {})
        if self._workload_source:
            tags[WORKLOAD_SOURCE] = self._workload_source
        while len(metrics) > MAX_BATCH:
            self._client.log_batch(run_id, metrics=metrics[:MAX_BATCH])
            del metrics[:MAX_BATCH]
        self._client.log_batch(run_id, metrics=metrics, params=params, tags=_tags(tags))
        self._client.set_terminated(run_id, _final_status(record.outcome))

    def write_search(self, search: Search, best: Rank | None, *, finished: bool) -> None:
        """Write how a search stands; `finished` once all its trials have a result."""
        run_id, now = self._search_run(search), _now_ms()
        if finished:
            metrics = {"reached": float(best is not None)}
            if best is not None:
                metrics |= {
                    "fresh_examples_to_target": best.fresh_examples,
                    "updates_to_target": float(best.updates),
                    "best_point": float(best.point),
                }
            self._client.log_batch(run_id, metrics=_metrics(metrics, now))
        self._client.set_terminated(run_id, "FINISHED" if finished else "KILLED")

    def close(self, *, finished: bool) -> None:
        """Close the study's run."""
        self._client.set_terminated(self._study_run, "FINISHED" if finished else "KILLED")

    def _open_study_run(self, tags: Mapping[str, str]) -> str:
        name = self._plan.spec.name
        runs = list(runs_of_kind(self._client, name, "study"))
        run_id = str(runs[0].info.run_id) if runs else self._create(f"study {name}", {KIND: "study"})
        self._client.log_batch(run_id, tags=_tags(tags))
        self._client.update_run(run_id, status="RUNNING")
        return run_id

    def _close_what_a_dead_driver_left_open(self) -> None:
        """A trial run that was cut off has no outcome: it is closed now, and used again by its trial."""
        for kind in ("search", "trial"):
            for run in runs_of_kind(self._client, self._plan.spec.name, kind):
                if run.info.status == "RUNNING":
                    outcome = Outcome(run.data.tags[OUTCOME]) if OUTCOME in run.data.tags else None
                    self._client.set_terminated(run.info.run_id, _final_status(outcome))

    def _search_run(self, search: Search) -> str:
        if search.id not in self._search_runs:
            tags = {
                KIND: "search",
                SEARCH_ID: search.id,
                CONDITION_ID: search.condition_id,
                PARENT: self._study_run,
            }
            run_id = self._create(search.label, tags)
            self._client.log_batch(run_id, params=_params(_search_params(search)))
            self._search_runs[search.id] = run_id
        return str(self._search_runs[search.id])

    def _create_trial_run(self, trial: Trial) -> str:
        tags = {
            KIND: "trial",
            TRIAL_ID: trial.id,
            SEARCH_ID: trial.search.id,
            CONDITION_ID: trial.search.condition_id,
            PARENT: self._search_run(trial.search),
        }
        self._trial_runs[trial.id] = self._create(trial.label, tags)
        return self._trial_runs[trial.id]

    def _create(self, name: str, tags: Mapping[str, str]) -> str:
        run = self._client.create_run(self._experiment_id, run_name=name, tags={**self._common, **tags})
        return str(run.info.run_id)


def _final_status(outcome: Outcome | None) -> str:
    """MLflow's run status: FINISHED for a result, FAILED for a crash, KILLED for what was cut off."""
    if outcome is None:
        return "KILLED"
    return "FINISHED" if outcome.is_result else "FAILED"


def _search_params(search: Search) -> dict[str, object]:
    condition, timing = search.condition, search.timing
    timed = {"R": f"{timing.R:g}", "burst": timing.burst, "adaptive": timing.adaptive} if timing else {}
    return {
        "workload": condition.workload,
        "batch_size": condition.batch_size,
        "echo_factor": f"{condition.echo_factor:g}",
        "insertion_point": condition.insertion_point,
        "echo_buffer": condition.echo_buffer,
        "repeat": search.repeat,
        **timed,
    }


def _params(values: Mapping[str, object]) -> list[Param]:
    return [Param(key, str(value)) for key, value in values.items()]


def _tags(values: Mapping[str, str]) -> list[RunTag]:
    return [RunTag(key, value) for key, value in values.items()]


def _metrics(values: Mapping[str, float], now_ms: int) -> list[Metric]:
    return [Metric(key, value, now_ms, 0) for key, value in values.items()]


def _curve(record: TrialRecord, now_ms: int) -> list[Metric]:
    """The curve with step = fresh examples, thinned evenly to `MAX_CURVE_POINTS`; its end is kept."""
    stride = -(-len(record.evaluations) // MAX_CURVE_POINTS) or 1
    kept = record.evaluations[::-1][::stride][::-1]
    return [
        Metric(key, float(value), now_ms, round(one.fresh_examples))
        for one in kept
        for key, value in one.values.items()
        if key not in NOT_CURVES
    ]


def _now_ms() -> int:
    return int(time.time() * 1000)

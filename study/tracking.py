"""MLflow, the one store of results: writing and finding a study's runs (`study.entry` says what is in them).

Experiment = study; run tree: study -> search -> trial. Only the driver writes. A run is found by its id tag
and never created twice; its outcome tag is written last, in the same batch as its curve, so a run either has
its whole result or none. Writing an entry once more changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mlflow.entities import Metric, Param, Run, RunTag, ViewType
from mlflow.tracking import MlflowClient

from study.entry import (
    CONDITION_ID,
    KIND,
    OUTCOME,
    PROTOCOL,
    SEARCH_ID,
    TRIAL_ID,
    Entry,
    SearchFacts,
    final_status,
    search_entry,
    stored_from,
    trial_entry,
)
from study.plan import Plan, Search
from study.record import TrialRecord
from study.result import PROTOCOL_VERSION, Outcome, Rank
from study.stored import StoredTrial
from study.view import VIEW_TAG, runs_view
from study.workloads.reference import source_digest

PARENT = "mlflow.parentRunId"
ENDED = "echostudy.ended_ms"
"""Tells the entry that a trial's result comes from: when it ended, in milliseconds since 1970."""

MAX_BATCH = 1000
"""MLflow takes at most this many metrics in one `log_batch`, and gives as many runs a page."""


def runs_of_kind(client: MlflowClient, study: str, kind: str) -> Iterator[Run]:
    """All runs of one kind (study, search, trial) of a study, page by page; none if the study is unknown."""
    experiment = client.get_experiment_by_name(study)
    if experiment is None:
        return
    yield from _runs(client, experiment.experiment_id, f"tags.`{KIND}` = '{kind}'")


def _runs(client: MlflowClient, experiment_id: str, which: str) -> Iterator[Run]:
    token: str | None = None
    while True:
        page = client.search_runs(
            [experiment_id],
            filter_string=which,
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
    stored: dict[str, StoredTrial] = {}
    for run in runs_of_kind(client, study, "trial"):
        trial_id = run.data.tags[TRIAL_ID]
        if trial_id not in stored or stored[trial_id].outcome is None:
            stored[trial_id] = stored_from(run.info.run_id, run.data.tags, run.data.metrics, run.data.params)
    return stored


class StudyWriter:
    """Writes one study's runs; knows the runs that are there, so that it never creates one twice.

    `shared`: another driver may write to the same store, so that a run is looked for once more before it is
    created.
    """

    def __init__(
        self,
        client: MlflowClient,
        plan: Plan,
        artifacts: str | None,
        tags: Mapping[str, str],
        *,
        shared: bool = False,
    ) -> None:
        self._client = client
        self._shared = shared
        self._workload_source = source_digest(plan.spec.workload)
        name = plan.spec.name
        experiment = client.get_experiment_by_name(name)
        self._experiment_id: str = (
            experiment.experiment_id
            if experiment
            else client.create_experiment(name, artifact_location=artifacts)
        )
        view = runs_view(plan)
        if experiment is None or experiment.tags.get(VIEW_TAG) != view:
            client.set_experiment_tag(self._experiment_id, VIEW_TAG, view)
        self._searches = self._found("search", SEARCH_ID)
        self._trials = self._found("trial", TRIAL_ID)
        self._study_run = self._open_study_run(name, tags)

    def write_trial(self, record: TrialRecord) -> None:
        """Write a finished trial at once."""
        self.write(trial_entry(record, self._workload_source))

    def write_search(self, search: Search, best: Rank | None, *, finished: bool) -> None:
        """Write how a search stands at once."""
        self.write(search_entry(search, best, finished=finished))

    def write(self, entry: Entry) -> None:
        """Write an entry, as far as the store does not hold it yet."""
        run_id = self._search_run(entry.search) if entry.trial_id is None else self._trial_run(entry)
        if run_id is None:
            return
        metrics = [Metric(name, value, entry.time_ms, step) for name, value, step in entry.metrics]
        tags = dict(entry.tags) | ({ENDED: str(entry.time_ms)} if entry.trial_id else {})
        while len(metrics) > MAX_BATCH:
            self._client.log_batch(run_id, metrics=metrics[:MAX_BATCH])
            del metrics[:MAX_BATCH]
        self._client.log_batch(run_id, metrics=metrics, params=_params(entry.params), tags=_tags(tags))
        self._client.set_terminated(run_id, entry.status, end_time=entry.time_ms)
        if entry.trial_id:
            self._trials[entry.trial_id] = (run_id, tags)

    def close(self, *, finished: bool) -> None:
        """Close the study's run; of results that two drivers have written at one moment, one goes."""
        if self._shared:
            self._drop_double_results()
        self._client.set_terminated(self._study_run, "FINISHED" if finished else "KILLED")

    def _found(self, kind: str, id_tag: str) -> dict[str, tuple[str, dict[str, str]]]:
        """Run id and tags of all runs of a kind, by the id that they are found by.

        What a driver left behind that died, or that lost the store, is put right: an open run is closed (it
        is used again by its trial), and of a run that is there twice one goes.
        """
        found: dict[str, tuple[str, dict[str, str]]] = {}
        for run in _runs(self._client, self._experiment_id, f"tags.`{KIND}` = '{kind}'"):
            run_id, tags = str(run.info.run_id), dict(run.data.tags)
            outcome = Outcome(tags[OUTCOME]) if OUTCOME in tags else None
            if tags[id_tag] in found:
                other, other_tags = found[tags[id_tag]]
                keep_other = OUTCOME in other_tags or outcome is None
                self._client.delete_run(run_id if keep_other else other)
                if keep_other:
                    continue
            found[tags[id_tag]] = run_id, tags
            if run.info.status == "RUNNING":
                self._client.set_terminated(run_id, final_status(outcome))
        return found

    def _drop_double_results(self) -> None:
        """Keep the older of two runs of a trial with a result: whoever looks keeps the same one."""
        seen: set[str] = set()
        for run in _runs(self._client, self._experiment_id, f"tags.`{KIND}` = 'trial'"):
            tags = run.data.tags
            if OUTCOME not in tags or not Outcome(tags[OUTCOME]).is_result:
                continue
            if tags[TRIAL_ID] in seen:
                self._client.delete_run(run.info.run_id)
            seen.add(tags[TRIAL_ID])

    def _open_study_run(self, name: str, tags: Mapping[str, str]) -> str:
        runs = list(_runs(self._client, self._experiment_id, f"tags.`{KIND}` = 'study'"))
        run_id = str(runs[0].info.run_id) if runs else self._create(f"study {name}", {KIND: "study"})
        for double in runs[1:]:
            self._client.delete_run(double.info.run_id)
        self._client.log_batch(run_id, tags=_tags(tags))
        self._client.update_run(run_id, status="RUNNING")
        return run_id

    def _search_run(self, search: SearchFacts) -> str:
        if search.id not in self._searches:
            tags = {
                KIND: "search",
                SEARCH_ID: search.id,
                CONDITION_ID: search.condition_id,
                PARENT: self._study_run,
            }
            run_id = self._found_or_created(SEARCH_ID, search.id, search.name, tags)[0]
            self._client.log_batch(run_id, params=_params(search.params))
            self._searches[search.id] = run_id, tags
        return self._searches[search.id][0]

    def _trial_run(self, entry: Entry) -> str | None:
        """The run to write a trial's entry to; None if the store holds its result already."""
        assert entry.trial_id is not None
        tags = {
            KIND: "trial",
            TRIAL_ID: entry.trial_id,
            SEARCH_ID: entry.search.id,
            CONDITION_ID: entry.search.condition_id,
            PARENT: self._search_run(entry.search),
        }
        known = self._trials.get(entry.trial_id)
        run_id, old = known or self._found_or_created(TRIAL_ID, entry.trial_id, entry.name, tags, entry)
        if OUTCOME not in old or not Outcome(old[OUTCOME]).is_result:
            return run_id
        if old.get(ENDED) == str(entry.time_ms) or not entry.replaces:
            return None
        self._client.delete_run(run_id)
        del self._trials[entry.trial_id]
        return self._create(entry.name, tags, entry)

    def _found_or_created(
        self, id_tag: str, id_: str, name: str, tags: dict[str, str], entry: Entry | None = None
    ) -> tuple[str, dict[str, str]]:
        if self._shared:
            which = f"tags.`{KIND}` = '{tags[KIND]}' and tags.`{id_tag}` = '{id_}'"
            for run in _runs(self._client, self._experiment_id, which):
                return str(run.info.run_id), dict(run.data.tags)
        return self._create(name, tags, entry), tags

    def _create(self, name: str, tags: Mapping[str, str], entry: Entry | None = None) -> str:
        run = self._client.create_run(
            self._experiment_id,
            start_time=entry and entry.time_ms - entry.duration_ms,
            run_name=name,
            tags={PROTOCOL: str(PROTOCOL_VERSION), **tags},
        )
        return str(run.info.run_id)


def _params(values: Mapping[str, str]) -> list[Param]:
    return [Param(key, value) for key, value in values.items()]


def _tags(values: Mapping[str, str]) -> list[RunTag]:
    return [RunTag(key, value) for key, value in values.items()]

"""`echostudy doctor`: whether all that a study needs is there, here or on every node of a cluster."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from study.errors import UserError
from study.examination import Facts, Wanted, examine, versions
from study.folder import ResultsFolder
from study.spec import Resources, StudySpec
from study.storage import Storage
from study.workloads.carried import carried_text
from study.workloads.options import WorkloadOptions
from study.workloads.reference import workload_name

LEAST_FREE_BYTES = 2e9
ANSWER_WITHIN_S = 180.0
HERE = "this machine"

Declared: TypeAlias = Mapping[str, float] | None
"""What a node offers, as Ray was told; None where Ray does not run."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: what was looked at, what was found, and whether a study could run with it."""

    what: str
    said: str
    good: bool


def diagnosis(results: ResultsFolder, spec: StudySpec | None, address: str | None) -> Iterator[Finding]:
    """Findings in the order in which they are made; a part that fails keeps none of the others back.

    With `spec`, the data and GPUs of that study are looked for; with `address`, on all nodes of that cluster.
    """
    with _probe(results, spec) as wanted:
        if address is None:
            yield from _of_nodes({HERE: examine(wanted, HERE)}, {HERE: None}, wanted, spec)
        else:
            try:
                facts, declared = _ask_nodes(address, wanted)
            except UserError as error:
                yield Finding("Ray", str(error), good=False)
            else:
                yield from _silent(declared, facts)
                yield from _of_nodes(facts, declared, wanted, spec)
    yield _mlflow(results)


@contextmanager
def _probe(results: ResultsFolder, spec: StudySpec | None) -> Iterator[Wanted]:
    """A file on the storage that the nodes are to find; it is gone afterwards."""
    results.require_writable()
    nearest = next(path for path in (results.root, *results.root.parents) if path.is_dir())
    storage = Storage(results.checkpoints or str(nearest), f".doctor-{secrets.token_hex(4)}")
    text = secrets.token_hex(8).encode()
    try:
        storage.write("driver", text)
    except OSError as error:
        raise UserError(f"Cannot write to {storage.place} ({error}); name another place.") from error
    try:
        workload = spec.workload if spec else None
        options = spec.options if spec else WorkloadOptions()
        yield Wanted(storage, text, workload, options, carried_text(workload) if workload else None)
    finally:
        storage.clear()


def _ask_nodes(
    address: str, wanted: Wanted
) -> tuple[dict[str, Facts], dict[str, Mapping[str, float] | None]]:
    """What every living node of a cluster says, by its name; and what each has declared to Ray."""
    from study.token import use_token

    use_token()
    from study.remote import cluster_ray, on_every_node

    with cluster_ray(address) as cluster:
        declared = cluster.nodes()
        facts = on_every_node(examine, wanted, within_s=ANSWER_WITHIN_S)
    return facts, dict(declared)


def _silent(declared: Mapping[str, object], facts: Mapping[str, Facts]) -> Iterator[Finding]:
    for node in declared:
        if node not in facts:
            said = f"{node} has not answered within {ANSWER_WITHIN_S:g} s; see that it is not overloaded."
            yield Finding("node", said, good=False)


def _of_nodes(
    facts: Mapping[str, Facts],
    declared: Mapping[str, Declared],
    wanted: Wanted,
    spec: StudySpec | None,
) -> Iterator[Finding]:
    yield _versions(facts)
    yield from _storage(facts, wanted)
    yield from _data(facts, spec)
    yield _gpus(facts, declared, spec.resources if spec else None)
    yield _disk(facts)


def _versions(facts: Mapping[str, Facts]) -> Finding:
    here = versions()
    others = [
        f"{node} has {name} {version}, the driver {here[name]}"
        for node, one in facts.items()
        for name, version in one.versions.items()
        if version != here[name]
    ]
    if others:
        return Finding("versions", f"{'; '.join(others)}; install the same everywhere.", good=False)
    same = ", ".join(f"{name} {version}" for name, version in here.items())
    return Finding("versions", f"{same} on {_all(facts)}", good=True)


def _storage(facts: Mapping[str, Facts], wanted: Wanted) -> Iterator[Finding]:
    place = wanted.storage.place
    bad = {node: one.storage for node, one in facts.items() if one.storage}
    for node, one in facts.items():
        if node not in bad and wanted.storage.read(one.answer) != wanted.text:
            bad[node] = "takes what is written there, and it does not arrive here"
    for node, why in bad.items():
        said = f"on {node}, {place} {why}; name a place that all nodes share with --results or --checkpoints."
        yield Finding("storage", said, good=False)
    if not bad:
        yield Finding("storage", f"{place} can be read and written from {_all(facts)}", good=True)


def _data(facts: Mapping[str, Facts], spec: StudySpec | None) -> Iterator[Finding]:
    if spec is None:
        return
    bad = {node: one.data for node, one in facts.items() if one.data}
    for node, why in bad.items():
        yield Finding("data", f"on {node}: {why}", good=False)
    if not bad:
        yield Finding("data", f"those of {workload_name(spec.workload)} are on {_all(facts)}", good=True)


def _gpus(
    facts: Mapping[str, Facts],
    declared: Mapping[str, Declared],
    wanted: Resources | None,
) -> Finding:
    """What PyTorch sees, what Ray was told, and what the study asks for have to fit together."""
    seen = {node: one.gpus for node, one in facts.items()}
    for node, resources in declared.items():
        told = (resources or {}).get("GPU", 0)
        if node in seen and resources is not None and told > seen[node]:
            return Finding(
                "GPU",
                f"Ray was told of {told:g} on {node}, where PyTorch sees {seen[node]}; see that driver and "
                "PyTorch there are made for each other.",
                good=False,
            )
    total = sum(seen.values())
    if wanted is not None and wanted.gpu and not total:
        return Finding("GPU", f"the study asks for {wanted.gpu:g} a trial, and there is none", good=False)
    counts = ", ".join(f"{count} on {nodes} nodes" for count, nodes in Counter(seen.values()).items())
    return Finding("GPU", f"{total} seen by PyTorch" + (f" ({counts})" if len(seen) > 1 else ""), good=True)


def _disk(facts: Mapping[str, Facts]) -> Finding:
    least = min(facts, key=lambda node: facts[node].free_bytes)
    free = facts[least].free_bytes
    said = f"{free / 1e9:.0f} GB free" + (f" at least (on {least})" if len(facts) > 1 else "")
    if free < LEAST_FREE_BYTES:
        return Finding("disk", f"{said}; free some room.", good=False)
    return Finding("disk", said, good=True)


def _mlflow(results: ResultsFolder) -> Finding:
    if results.server is None and not results.database.exists():
        return Finding("MLflow", f"a store will be made in {results.root}", good=True)
    from study.store import open_store, store_name

    try:
        open_store(results.tracking_uri)
    except UserError as error:
        return Finding("MLflow", str(error), good=False)
    return Finding("MLflow", f"the store at {store_name(results.tracking_uri)} answers", good=True)


def _all(facts: Mapping[str, Facts]) -> str:
    return next(iter(facts)) if len(facts) == 1 else f"all {len(facts)} nodes"

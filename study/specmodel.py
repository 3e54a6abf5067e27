"""What a study file may say: its groups, keys, bounds, and the rules that join several of them.

A rule over several keys is checked at the last of them in the order below, as soon as the others are sound,
so that one reading of a file finds (nearly) all of its faults.
"""

from __future__ import annotations

import math
import re
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from study.fields import Count, Group, Values, Whole, all_refused, refused
from study.nearest import did_you_mean
from study.ranges import Range
from study.result import Target
from study.wording import shown
from study.workloads.options import WorkloadOptions
from study.workloads.registry import WORKLOADS, Metric, WorkloadCard, workload_card
from study.yamltext import KeyPath

MAX_TRIALS = 2_000_000
"""Trials a plan may hold in memory: 4,000 conditions at the paper's 5 repeats of 100 points."""

RESERVED_NAMES = frozenset(
    {"workload", "batch_size", "echo_factor", "insertion_point", "echo_buffer", "repeat", "point"}
)
"""Names of MLflow parameters that a trial has beside its metaparameters."""

InsertionPoint: TypeAlias = Literal["before_augmentation", "after_augmentation", "after_batching"]


def _safe_name(name: str) -> str:
    """Names become folders and MLflow experiments."""
    if not re.fullmatch(r"(?!\.)[A-Za-z0-9._-]{1,100}", name):
        raise refused(
            f"must be made of 1 to 100 letters, digits, '.', '_' or '-', without a dot first, "
            f"not {shown(name)}; write for example name: digits"
        )
    return name


def _free_name(name: str) -> str:
    if not name.isidentifier():
        raise refused("must be one word of letters, digits and '_'; write for example learning_rate")
    if name in RESERVED_NAMES:
        raise refused("has a name that the study itself uses; set it under conditions, or take it out")
    return name


def _known_workload(name: str) -> str:
    if name not in WORKLOADS:
        raise refused(f"cannot be {shown(name)}; {did_you_mean(name, WORKLOADS)}")
    return name


def _a_share_or_whole(amount: float) -> float:
    """Ray's rule: a share of one processor, or a whole number of them."""
    if amount > 1 and not amount.is_integer():
        raise refused(f"must be a share up to 1 or a whole number, not {amount:g}; round it up")
    return amount


MetaparameterName: TypeAlias = Annotated[str, AfterValidator(_free_name)]
Amount: TypeAlias = Annotated[float, Field(le=10_000), AfterValidator(_a_share_or_whole)]


class Conditions(Group):
    """The grid: every combination is a condition. The baseline, e = 1, is added by the plan."""

    batch_size: Values[Count] = Field(examples=["[32]"])
    echo_factor: Values[Annotated[float, Field(ge=1, le=1_000_000)]] = Field(examples=["[2]"])
    insertion_point: Values[InsertionPoint] = Field(examples=["[before_augmentation]"])
    echo_buffer: Values[Whole] = Field(examples=["[1024]"])

    @property
    def upper_count(self) -> int:
        """Conditions of the grid and its baselines; more than the plan's where e = 1 is in the grid."""
        echoes = len(self.echo_factor) * len(self.insertion_point) * len(self.echo_buffer)
        return len(self.batch_size) * (1 + echoes)


class SearchSpec(Group):
    """How the metaparameters of a condition are searched: a fresh table of points for every repeat."""

    sampler: Literal["sobol", "halton"] = Field("sobol", examples=["sobol"])
    points: Annotated[Count, Field(le=2**16)] = Field(examples=["16"])
    repeats: Annotated[Count, Field(le=1000)] = Field(examples=["3"])


class TargetSpec(Group):
    """The validation metric to reach; the workload's card knows whether higher or lower is better."""

    metric: str = Field(examples=["valid_accuracy"])
    value: float = Field(examples=["0.95"])


class Budget(Group):
    """What a trial may spend, in fresh examples, and how many lie between its evaluations."""

    fresh_examples: Count = Field(examples=["12000"])
    evaluate_every: Count = Field(examples=["256"])

    @field_validator("evaluate_every")
    @classmethod
    def _is_within_the_budget(cls, evaluate_every: int, info: ValidationInfo) -> int:
        budget = info.data.get("fresh_examples")
        if budget is not None and evaluate_every > budget:
            raise refused(f"must be at most fresh_examples ({budget}), not {evaluate_every}; lower it")
        return evaluate_every


class Resources(Group):
    """What one trial occupies while it runs: processors, or a share of one."""

    cpu: Annotated[Amount, Field(gt=0)] = Field(default=1.0, examples=["1"])
    gpu: Annotated[Amount, Field(ge=0)] = Field(default=0.0, examples=["0"])


class StudySpec(Group):
    """A study file's meaning."""

    name: Annotated[str, AfterValidator(_safe_name)] = Field(examples=["digits"])
    workload: Annotated[str, AfterValidator(_known_workload)] = Field(examples=["digits_convnet"])
    options: WorkloadOptions = Field(WorkloadOptions(), examples=["{autocast: bf16}"])
    conditions: Conditions = Field(
        examples=[
            "{batch_size: [32], echo_factor: [2], insertion_point: [after_batching], echo_buffer: [1024]}"
        ]
    )
    metaparameters: dict[MetaparameterName, Range] = Field(
        examples=["{learning_rate: {low: 0.003, high: 0.3, scale: log}}"]
    )
    search: SearchSpec = Field(examples=["{sampler: sobol, points: 16, repeats: 3}"])
    target: TargetSpec = Field(examples=["{metric: valid_accuracy, value: 0.95}"])
    budget: Budget = Field(examples=["{fresh_examples: 12000, evaluate_every: 256}"])
    stop: Literal["racing", "at_target", "exhaustive"] = Field("racing", examples=["racing"])
    seed: Whole = Field(0, examples=["0"])
    resources: Resources = Field(Resources(), examples=["{cpu: 1, gpu: 0}"])

    @property
    def rule(self) -> Target:
        """The target as the result rule takes it."""
        card = workload_card(self.workload)
        return Target(
            self.target.metric, self.target.value, card.metrics[self.target.metric].higher_is_better
        )

    def space(self) -> dict[str, dict[str, float | str]]:
        """The metaparameter space, JSON-able, in the order of the names and not of the file."""
        return {name: self.metaparameters[name].model_dump() for name in sorted(self.metaparameters)}

    @field_validator("options")
    @classmethod
    def _they_make_sense(cls, options: WorkloadOptions, info: ValidationInfo) -> WorkloadOptions:
        card = _card(info)
        problems: dict[KeyPath, str] = {
            (name,): f"means nothing to {card.name}; take it out"
            for name in options.changed()
            if card and name not in card.options
        }
        if problems:
            raise all_refused(problems)
        return options

    @field_validator("conditions")
    @classmethod
    def _a_batch_fits_the_data(cls, conditions: Conditions, info: ValidationInfo) -> Conditions:
        card = _card(info)
        problems: dict[KeyPath, str] = {
            ("batch_size", i): f"must be at most the {card.train_examples} training examples of {card.name}, "
            f"not {size}; lower it"
            for i, size in enumerate(conditions.batch_size)
            if card and card.train_examples is not None and size > card.train_examples
        }
        if problems:
            raise all_refused(problems)
        return conditions

    @field_validator("metaparameters")
    @classmethod
    def _the_workload_knows_them(cls, ranges: dict[str, Range], info: ValidationInfo) -> dict[str, Range]:
        card = _card(info)
        if card is None:
            return ranges
        known = card.metaparameters
        unknown: dict[KeyPath, str] = {
            (name,): f"is no metaparameter of {card.name}; {did_you_mean(name, known)}"
            for name in ranges
            if name not in known
        }
        if unknown:
            raise all_refused(unknown)
        for name in card.required_metaparameters:
            if name not in ranges:
                example = f"{name}: {{low: 0.003, high: 0.3, scale: log}}"
                raise refused(f"must include {name}; write for example {example}")
        return ranges

    @field_validator("search")
    @classmethod
    def _the_plan_stays_within_bounds(cls, search: SearchSpec, info: ValidationInfo) -> SearchSpec:
        conditions = info.data.get("conditions")
        trials = conditions.upper_count * search.points * search.repeats if conditions else 0
        if trials > MAX_TRIALS:
            raise refused(
                f"makes {trials:,} trials with these conditions and repeats; stay below {MAX_TRIALS:,}",
                "points",
            )
        return search

    @field_validator("target")
    @classmethod
    def _the_workload_measures_it(cls, target: TargetSpec, info: ValidationInfo) -> TargetSpec:
        card = _card(info)
        if card is None:
            return target
        if target.metric not in card.metrics:
            raise refused(
                f"cannot be {shown(target.metric)}; {did_you_mean(target.metric, card.metrics)}", "metric"
            )
        metric = card.metrics[target.metric]
        if not metric.low <= target.value <= metric.high:
            side = "raise" if target.value < metric.low else "lower"
            raise refused(f"{_room(metric)}, as {target.metric} is, not {target.value:g}; {side} it", "value")
        return target

    @field_validator("budget")
    @classmethod
    def _a_batch_is_within_the_budget(cls, budget: Budget, info: ValidationInfo) -> Budget:
        conditions = info.data.get("conditions")
        largest = max(conditions.batch_size) if conditions else 0
        if budget.fresh_examples < largest:
            raise refused(
                f"must be at least one batch ({largest}), not {budget.fresh_examples}; raise it",
                "fresh_examples",
            )
        return budget


def _room(metric: Metric) -> str:
    """The values a metric can have, in words."""
    if math.isinf(metric.high):
        return f"must be at least {metric.low:g}"
    return f"must be from {metric.low:g} to {metric.high:g}"


def _card(info: ValidationInfo) -> WorkloadCard | None:
    """The card of the study's workload, or None where the workload itself is at fault."""
    name = info.data.get("workload")
    return None if name is None else workload_card(name)

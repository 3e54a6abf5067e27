"""What a study file may say: its groups, keys, bounds, and the rules that join several of them.

A rule over several keys is checked at the last of them in the order below, as soon as the others are sound,
so that one reading of a file finds (nearly) all of its faults.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from study.budget import Budget
from study.conditions import Condition, Conditions, Selector
from study.fields import AS_WHOLE, Count, Group, Items, Whole, all_refused, refused
from study.nearest import did_you_mean
from study.ranges import Choice, Metaparameter, Range
from study.result import Target
from study.timing import TimingSpec
from study.wording import shown
from study.workloads.options import WorkloadOptions
from study.workloads.own import WorkloadError, own_card
from study.workloads.reference import is_own, workload_name
from study.workloads.registry import WORKLOADS, Metric, WorkloadCard, workload_card
from study.yamltext import KeyPath

MAX_TRIALS = 2_000_000
"""Trials a plan may hold in memory: 4,000 conditions at the paper's 5 repeats of 100 points."""

RESERVED_NAMES = frozenset(
    {"workload", "batch_size", "echo_factor", "insertion_point", "echo_buffer", "repeat", "point"}
    | {"R", "burst", "adaptive"}
)
"""Names of MLflow parameters that a trial has beside its metaparameters."""


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
    if is_own(name):
        try:
            own_card(name)
        except WorkloadError as error:
            raise refused(f"cannot be {error.name}: {error.reason}") from error
    elif name not in WORKLOADS:
        raise refused(f"cannot be {shown(name)}; {did_you_mean(name, WORKLOADS)}")
    return name


def _a_share_or_whole(amount: float) -> float:
    """Ray's rule: a share of one processor, or a whole number of them."""
    if amount > 1 and not amount.is_integer():
        raise refused(f"must be a share up to 1 or a whole number, not {amount:g}; round it up")
    return amount


MetaparameterName: TypeAlias = Annotated[str, AfterValidator(_free_name)]
Amount: TypeAlias = Annotated[float, Field(le=10_000), AfterValidator(_a_share_or_whole)]


class SearchSpec(Group):
    """How the metaparameters of a condition are searched: a fresh table of points for every repeat.

    `tpe` is no table: Optuna's sampler chooses each point after the results before it. Under `count:
    non_divergent` a search goes on until `points` of its trials did not diverge (`study.counting`).
    """

    sampler: Literal["sobol", "halton", "tpe"] = Field("sobol", examples=["sobol"])
    points: Annotated[int, Field(ge=1, le=2**16), AS_WHOLE] = Field(examples=["16"])
    repeats: Annotated[int, Field(ge=1, le=1000), AS_WHOLE] = Field(examples=["3"])
    count: Literal["points", "non_divergent"] = Field("points", examples=["points"])


class Override(Group):
    """Other ranges for some of the conditions; of several overrides for a condition the last counts."""

    where: Selector = Field(examples=["{insertion_point: after_batching}"])
    metaparameters: dict[MetaparameterName, Metaparameter] = Field(
        examples=["{learning_rate: {low: 0.001, high: 0.1, scale: log}}"]
    )


def _or_pilot(schema: dict[str, Any]) -> None:
    """For editors: a target may be left for the pilot to find (`study.spec.load_spec`)."""
    schema["anyOf"] = [{"type": schema.pop("type")}, {"const": "pilot"}]


class TargetSpec(Group):
    """The validation metric to reach; the workload's card knows whether higher or lower is better."""

    metric: str = Field(examples=["valid_accuracy"])
    value: float = Field(examples=["0.95"], json_schema_extra=_or_pilot)


class Resources(Group):
    """What one trial occupies while it runs: processors, or a share of one."""

    cpu: Annotated[Amount, Field(gt=0)] = Field(default=1.0, examples=["1"])
    gpu: Annotated[Amount, Field(ge=0)] = Field(default=0.0, examples=["0"])


class Limits(Group):
    """Where a run ends before its plan does: it says so, and the same command goes on from there.

    `trials` are all that the study may have, topped-up ones included; `hours` are of one run's wall clock;
    `crashed_share` is the share of one run's trials that may crash for good.
    """

    trials: Count | None = Field(default=None, examples=["1000"])
    hours: Annotated[float, Field(gt=0, le=1e6)] | None = Field(default=None, examples=["12"])
    crashed_share: Annotated[float, Field(ge=0, le=1)] = Field(default=0.2, examples=["0.2"])


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
    metaparameters: dict[MetaparameterName, Metaparameter] = Field(
        examples=["{learning_rate: {low: 0.003, high: 0.3, scale: log}}"]
    )
    overrides: Items[Override] = Field(
        (),
        examples=["[{where: {batch_size: 32}, metaparameters: {momentum: {low: 0.5, high: 0.9}}}]"],
    )
    search: SearchSpec = Field(examples=["{sampler: sobol, points: 16, repeats: 3}"])
    target: TargetSpec = Field(examples=["{metric: valid_accuracy, value: 0.95}"])
    budget: Budget = Field(examples=["{fresh_examples: 12000, evaluate_every: 256}"])
    stop: Literal["racing", "at_target", "exhaustive"] = Field("racing", examples=["racing"])
    measure: Literal["fresh_examples", "time"] = Field("fresh_examples", examples=["fresh_examples"])
    timing: TimingSpec | None = Field(None, examples=["{burst: [1, 512], adaptive: true}"])
    seed: Whole = Field(0, examples=["0"])
    resources: Resources = Field(Resources(), examples=["{cpu: 1, gpu: 0}"])
    limits: Limits = Field(Limits(), examples=["{hours: 12}"])

    @property
    def rule(self) -> Target:
        """The target as the result rule takes it."""
        card = workload_card(self.workload)
        return Target(
            self.target.metric, self.target.value, card.metrics[self.target.metric].higher_is_better
        )

    def conditions_in_order(self) -> tuple[Condition, ...]:
        """Every condition of the study, in table order."""
        return self.conditions.expand(workload_name(self.workload))

    def space(self, condition: Condition) -> dict[str, Range | Choice]:
        """The metaparameters of a condition, in the order of the names and not of the file."""
        space = dict(self.metaparameters)
        for override in self.overrides:
            if override.where.selects(condition):
                space |= override.metaparameters
        return {name: space[name] for name in sorted(space)}

    def budget_of(self, condition: Condition) -> tuple[Fraction, Fraction]:
        """A trial's budget and the interval of its evaluations, both in fresh examples, exactly."""
        train_examples = workload_card(self.workload).train_examples
        return self.budget.in_fresh_examples(condition.batch_size, condition.echo_ratio, train_examples)

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
        sizes: dict[KeyPath, int] = {("batch_size", i): size for i, size in enumerate(conditions.batch_size)}
        sizes |= {("also", i, "batch_size"): one.batch_size for i, one in enumerate(conditions.also)}
        problems: dict[KeyPath, str] = {
            path: f"must be at most the {most} training examples of {card.name}, not {size}; lower it"
            for path, size in sizes.items()
            if card and (most := card.train_examples) is not None and size > most
        }
        if problems:
            raise all_refused(problems)
        return conditions

    @field_validator("conditions")
    @classmethod
    def _exclusions_exclude(cls, conditions: Conditions, info: ValidationInfo) -> Conditions:
        full = conditions.model_copy(update={"exclude": ()})
        echoes = [one for one in full.expand("") if not one.is_baseline]
        for i, selector in enumerate(conditions.exclude):
            if not any(selector.selects(one) for one in echoes):
                raise refused("leaves out nothing, since no condition is like that; correct it", "exclude", i)
        return conditions

    @field_validator("metaparameters")
    @classmethod
    def _the_workload_knows_them(
        cls, ranges: dict[str, Range | Choice], info: ValidationInfo
    ) -> dict[str, Range | Choice]:
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

    @field_validator("overrides")
    @classmethod
    def _overrides_override(
        cls, overrides: tuple[Override, ...], info: ValidationInfo
    ) -> tuple[Override, ...]:
        known, conditions = info.data.get("metaparameters"), info.data.get("conditions")
        for i, override in enumerate(overrides):
            for name in override.metaparameters:
                if known is not None and name not in known:
                    raise refused(
                        f"is not searched elsewhere; {did_you_mean(name, known)}", i, "metaparameters", name
                    )
            if conditions and not any(override.where.selects(one) for one in conditions.expand("")):
                raise refused("selects no condition of the study; correct it", i, "where")
        return overrides

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
        ranges, overrides = info.data.get("metaparameters", {}), info.data.get("overrides", ())
        for space in (ranges, *(ranges | one.metaparameters for one in overrides)):
            different = math.prod(one.different_values for one in space.values())
            if ranges and different < search.points:
                raise refused(
                    f"must be at most the {different:g} different points of these metaparameters, not "
                    f"{search.points}; lower it or give a range",
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
    def _the_workload_and_its_batches_allow_it(cls, budget: Budget, info: ValidationInfo) -> Budget:
        card, conditions = _card(info), info.data.get("conditions")
        if card is None or conditions is None:
            return budget
        train_examples = card.train_examples
        if train_examples is None and "passes" in (budget.unit, budget.interval_unit):
            raise refused(
                f"is in passes, but how many examples {card.name} has is not known beforehand; "
                "give it in fresh_examples"
            )
        largest = max(conditions.batch_sizes)
        fresh, _ = budget.in_fresh_examples(largest, Fraction(1), train_examples)
        if fresh < largest:
            raise refused(
                f"must be at least one batch ({largest}), not {budget.amount:g}; raise it", budget.unit
            )
        return budget

    @field_validator("measure")
    @classmethod
    def _time_is_measured_at_some_ratios(cls, measure: str, info: ValidationInfo) -> str:
        conditions = info.data.get("conditions")
        if measure == "time" and conditions is not None and conditions.R is None:
            raise refused("cannot be time without conditions.R; write for example R: [1, 2, 4] there")
        return measure

    @field_validator("timing")
    @classmethod
    def _only_time_has_a_timing(cls, timing: TimingSpec | None, info: ValidationInfo) -> TimingSpec | None:
        if timing is not None and info.data.get("measure") == "fresh_examples":
            raise refused("means nothing without measure: time; add that, or take it out")
        if timing is None or not timing.adaptive:
            return timing
        conditions, search = info.data.get("conditions"), info.data.get("search")
        if search is not None and search.sampler == "tpe":
            raise refused("needs a table of points, which tpe has not; take sampler: sobol", "adaptive")
        if conditions is not None and all(one.is_baseline for one in conditions.expand("")):
            raise refused("needs an echo factor above 1 for its ceiling; add one to conditions", "adaptive")
        return timing

    @field_validator("limits")
    @classmethod
    def _the_plan_is_within_its_limit(cls, limits: Limits, info: ValidationInfo) -> Limits:
        search, conditions = info.data.get("search"), info.data.get("conditions")
        if limits.trials is None or search is None or conditions is None:
            return limits
        trials = len(conditions.expand("")) * search.points * search.repeats
        if trials > limits.trials:
            raise refused(
                f"must be at least the {trials:,} trials of the plan, not {limits.trials:,}; raise it or ask "
                "for fewer points",
                "trials",
            )
        return limits


def _room(metric: Metric) -> str:
    """The values a metric can have, in words."""
    if math.isinf(metric.high):
        return f"must be at least {metric.low:g}"
    return f"must be from {metric.low:g} to {metric.high:g}"


def _card(info: ValidationInfo) -> WorkloadCard | None:
    """The card of the study's workload, or None where the workload itself is at fault."""
    name = info.data.get("workload")
    return None if name is None else workload_card(name)

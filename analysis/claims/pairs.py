"""Conditions that differ in one setting alone."""

from __future__ import annotations

from itertools import combinations, pairwise

from study.plan import Condition

SETTINGS = ("batch_size", "echo_factor", "insertion_point", "echo_buffer")


def alike(conditions: list[Condition], setting: str) -> list[tuple[Condition, Condition]]:
    """Pairs of conditions that differ in one setting alone, in the plan's order."""
    return [pair for group in groups(conditions, setting) for pair in combinations(group, 2)]


def neighbours(conditions: list[Condition], setting: str) -> list[tuple[Condition, Condition]]:
    """Pairs that differ in one setting alone and stand next to each other in it, the smaller first."""
    pairs: list[tuple[Condition, Condition]] = []
    for group in groups(conditions, setting):
        ordered = sorted(group, key=lambda one: float(getattr(one, setting)))
        pairs += pairwise(ordered)
    return pairs


def groups(conditions: list[Condition], setting: str) -> list[list[Condition]]:
    """Conditions that share all settings but one, two or more together."""
    others = [name for name in SETTINGS if name != setting]
    groups: dict[tuple[object, ...], list[Condition]] = {}
    for condition in conditions:
        groups.setdefault(tuple(getattr(condition, name) for name in others), []).append(condition)
    return [group for group in groups.values() if len(group) > 1]

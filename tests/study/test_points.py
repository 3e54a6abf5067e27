import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from study.points import point_table
from study.specmodel import StudySpec

RANGES = {
    "learning_rate": {"low": 0.003, "high": 0.3, "scale": "log"},
    "momentum": {"low": 0.7, "high": 0.99, "scale": "reverse_log"},
    "weight_decay": {"low": 0, "high": 0.001, "scale": "linear"},
}

samplers = st.sampled_from(["sobol", "halton"])
counts = st.integers(1, 70)
seeds = st.integers(0, 2**53)
repeats = st.integers(0, 999)
names = st.sets(st.sampled_from(sorted(RANGES))).map(lambda some: sorted(some | {"learning_rate"}))


def study(points=16, sampler="sobol", seed=0, names=("learning_rate", "momentum"), **conditions):
    grid = {
        "batch_size": [32],
        "echo_factor": [2],
        "insertion_point": ["before_augmentation"],
        "echo_buffer": [1024],
    }
    return StudySpec.model_validate(
        {
            "name": "points",
            "workload": "digits_convnet",
            "conditions": grid | conditions,
            "metaparameters": {name: RANGES[name] for name in names},
            "search": {"sampler": sampler, "points": points, "repeats": 1},
            "target": {"metric": "valid_accuracy", "value": 0.95},
            "budget": {"fresh_examples": 12000, "evaluate_every": 256},
            "seed": seed,
        }
    )


@given(counts, counts, samplers, seeds, repeats, names)
def test_a_shorter_table_is_the_beginning_of_a_longer_one(few, more, sampler, seed, repeat, names):
    short, long = (
        point_table(study(count, sampler, seed, names), repeat) for count in sorted((few, few + more))
    )
    assert long[: len(short)] == short


@given(counts, samplers, seeds, repeats, names)
def test_points_are_as_many_as_asked_for_inside_their_ranges_and_all_different(
    points, sampler, seed, repeat, names
):
    spec = study(points, sampler, seed, names)
    table = point_table(spec, repeat)
    assert len(table) == points
    assert len({tuple(point.items()) for point in table}) == points
    for name in names:
        values = [point[name] for point in table]
        assert len(set(values)) == points
        assert all(
            spec.metaparameters[name].low <= value <= spec.metaparameters[name].high for value in values
        )


@given(counts, samplers, seeds, repeats)
def test_a_table_is_the_same_on_every_call(points, sampler, seed, repeat):
    spec = study(points, sampler, seed)
    assert point_table(spec, repeat) == point_table(spec, repeat)


@given(samplers, seeds, repeats, st.integers(1, 5))
def test_another_repeat_or_seed_shares_no_point(sampler, seed, repeat, later):
    def points(seed, repeat):
        return {tuple(point.items()) for point in point_table(study(8, sampler, seed), repeat)}

    assert points(seed, repeat).isdisjoint(points(seed, repeat + later))
    assert points(seed, repeat).isdisjoint(points((seed + later) % 2**53, repeat))


@pytest.mark.parametrize("sampler", ["sobol", "halton"])
@pytest.mark.parametrize("points", [2, 16, 256])
def test_the_first_dimension_has_one_point_in_every_equal_part_of_its_scale(sampler, points):
    # Both sequences are nets in base 2 there; the scale is undone here with the logarithm alone.
    for repeat in range(5):
        table = point_table(study(points, sampler), repeat)
        shares = [math.log(point["learning_rate"] / 0.003) / math.log(0.3 / 0.003) for point in table]
        assert sorted(math.floor(share * points) for share in shares) == list(range(points))


@pytest.mark.parametrize("points", [4, 64])
def test_sobol_points_are_balanced_in_every_dimension(points):
    table = point_table(study(points, names=sorted(RANGES)), repeat=0)
    shares = {
        "momentum": [math.log((1 - p["momentum"]) / 0.3) / math.log(0.01 / 0.3) for p in table],
        "weight_decay": [p["weight_decay"] / 0.001 for p in table],
    }
    for along in shares.values():
        assert sorted(math.floor(share * points) for share in along) == list(range(points))


def test_the_points_do_not_depend_on_the_echo_settings():
    echo = {"echo_factor": [8, 3.5], "insertion_point": ["after_batching"], "echo_buffer": [0]}
    assert point_table(study(), 0) == point_table(study(batch_size=[64], **echo), 0)


def test_the_points_do_not_depend_on_the_order_of_the_ranges_in_the_file():
    forwards, backwards = ("learning_rate", "momentum"), ("momentum", "learning_rate")
    assert point_table(study(names=forwards), 2) == point_table(study(names=backwards), 2)


def test_the_first_points_keep_their_golden_values():
    assert point_table(study(points=2), repeat=0) == [
        {"learning_rate": 0.2645060090924, "momentum": 0.7761421830682},
        {"learning_rate": 0.01120874741595, "momentum": 0.97779139376371},
    ]
    assert point_table(study(points=1, sampler="halton"), repeat=1) == [
        {"learning_rate": 0.01144861294728, "momentum": 0.94303733927651}
    ]

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from study.seeds import derived_seed, stable_digest

parts = st.lists(
    st.integers() | st.text(max_size=5) | st.floats(allow_nan=False, allow_infinity=False), max_size=4
)


def test_a_seed_is_blake2b_of_the_canonical_json_of_its_parts():
    reference = hashlib.blake2b(b'["stream",0,2]', digest_size=8).hexdigest()
    assert derived_seed("stream", 0, 2) == int(reference, 16)


def test_seeds_keep_their_golden_values():
    assert derived_seed("stream", 0, 2) == 12965447022520572880
    assert derived_seed("points", 0, 0) == 14710743766969468543


@given(parts)
def test_a_seed_fits_in_64_bits_and_is_the_same_on_every_call(some):
    seed = derived_seed(*some)
    assert 0 <= seed < 2**64
    assert seed == derived_seed(*some)
    assert seed.to_bytes(8, "big") == stable_digest(*some)


@given(parts, parts)
def test_different_parts_give_different_seeds(some, others):
    assert (derived_seed(*some) == derived_seed(*others)) == (repr(some) == repr(others))


def test_the_order_of_keys_within_a_part_does_not_matter():
    assert derived_seed({"a": 1, "b": 2}) == derived_seed({"b": 2, "a": 1})


def test_neighbouring_parts_do_not_run_into_each_other():
    assert derived_seed("a", "bc") != derived_seed("ab", "c")


@pytest.mark.parametrize("part", [float("nan"), float("inf"), object(), {1, 2}])
def test_parts_that_json_cannot_hold_are_refused(part):
    with pytest.raises((ValueError, TypeError)):
        derived_seed(part)

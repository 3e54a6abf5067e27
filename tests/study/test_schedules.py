"""Learning-rate schedules: their ends, their shape, and PyTorch's own schedulers as references."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from study.schedules import Cosine, Linear, WarmupExponential, constant, linear_decay


def reference(make_scheduler, updates):
    """The learning rates that a scheduler of PyTorch gives a rate of 1."""
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    scheduler = make_scheduler(optimizer)
    rates = []
    for _ in range(updates):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return rates


def test_linear_decay_is_pytorchs_linear_schedule():
    expected = reference(
        lambda o: torch.optim.lr_scheduler.LinearLR(o, start_factor=1.0, end_factor=0.1, total_iters=30), 45
    )
    assert [Linear(30, 0.1)(u) for u in range(45)] == pytest.approx(expected)


def test_cosine_decay_is_pytorchs_cosine_schedule_until_its_end():
    expected = reference(lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, T_max=30, eta_min=0.1), 31)
    assert [Cosine(30, 0.1)(u) for u in range(31)] == pytest.approx(expected)
    assert Cosine(30, 0.1)(1000) == pytest.approx(0.1)


def test_steps_after_the_warm_up_are_pytorchs_step_schedule():
    expected = reference(lambda o: torch.optim.lr_scheduler.StepLR(o, step_size=7, gamma=0.5), 30)
    assert [WarmupExponential(10, 7, 0.5)(10 + u) for u in range(30)] == pytest.approx(expected)


def test_a_warm_up_rises_evenly_from_its_first_update_to_the_full_rate():
    schedule = WarmupExponential(warmup_updates=4, decay_every=100, decay_factor=0.1)
    assert [schedule(u) for u in range(6)] == [0.25, 0.5, 0.75, 1.0, 1.0, 1.0]
    assert WarmupExponential(0, 100, 0.1)(0) == 1


@given(
    updates=st.floats(1, 1e6), end=st.floats(0, 1), first=st.integers(0, 10**7), later=st.integers(0, 10**7)
)
def test_decays_never_rise_and_stay_between_their_ends(updates, end, first, later):
    first, later = sorted((first, later))
    for schedule in (Linear(updates, end), Cosine(updates, end)):
        assert schedule(0) == 1
        assert schedule(later) <= schedule(first) + 1e-12
        assert end - 1e-12 <= schedule(later) <= 1
        assert math.isclose(schedule(math.ceil(updates)), end, abs_tol=1e-12)


def test_without_a_decay_metaparameter_the_rate_is_constant():
    assert linear_decay({"learning_rate": 0.1}) is constant
    assert constant(0) == constant(10**9) == 1
    assert linear_decay({"decay_updates": 10.0, "end_factor": 0.5}) == Linear(10.0, 0.5)
    assert linear_decay({"decay_updates": 10.0}) == Linear(10.0, 0.0)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Linear(0), "Linear: decay_updates is 0; give a number above 0."),
        (lambda: Linear(1, -1), "Linear: end_factor is -1; give a number of at least 0."),
        (lambda: Cosine(math.nan), "Cosine: decay_updates is nan; give a number above 0."),
        (
            lambda: WarmupExponential(-1, 1, 1),
            "WarmupExponential: warmup_updates is -1; give a number of at least 0.",
        ),
    ],
)
def test_a_schedule_that_cannot_be_is_refused_with_what_to_give(make, sentence):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole sentence is compared
        make()
    assert str(caught.value) == sentence

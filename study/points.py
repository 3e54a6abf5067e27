"""The metaparameter points of a search: a low-discrepancy table, made once and owned by the plan.

Source: quasi-random search as in Bousquet et al., "Critical hyper-parameters: no random, no cry",
arXiv 1706.03200; the sequences are SciPy's scrambled Sobol and Halton.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from study.ranges import Choice, Range
from study.seeds import derived_seed
from study.spec import StudySpec


def point_table(
    spec: StudySpec,
    repeat: int,
    space: Mapping[str, Range | Choice] | None = None,
    points: int | None = None,
) -> list[dict[str, float]]:
    """`points` different points (default `spec.search.points`), each a value for every metaparameter.

    Random in (study seed, repeat) alone: every condition of a repeat is searched with the same table (where
    `space` differs, with the same shares of its ranges), and a shorter table is the beginning of a longer
    one. A metaparameter's dimension is its place in the sorted names, so neither the order in the file nor
    anything outside the space changes a point. Where whole numbers or choices make two rows of the sequence
    the same point, the later one is passed over.
    """
    space = spec.metaparameters if space is None else space
    wanted = spec.search.points if points is None else points
    names = sorted(space)
    seed = derived_seed("points", spec.seed, repeat)
    rows = wanted
    while True:
        shares = _sequence(spec.search.sampler, len(names), seed, rows)
        found: dict[tuple[float, ...], None] = {}
        for row in shares:
            found[tuple(space[name].at(u) for name, u in zip(names, row, strict=True))] = None
            if len(found) == wanted:
                return [dict(zip(names, point, strict=True)) for point in found]
        rows *= 2


@lru_cache(maxsize=256)
def _sequence(sampler: str, dimensions: int, seed: int, rows: int) -> list[list[float]]:
    """The first rows of a scrambled sequence in the unit cube."""
    import numpy as np  # late: both take longer to load than a plan that is not laid out takes to make
    from scipy.stats import qmc

    make = {"sobol": qmc.Sobol, "halton": qmc.Halton}[sampler]
    sequence = make(dimensions, scramble=True, rng=np.random.default_rng(seed))
    # A power of two keeps the Sobol sequence balanced; its beginning is cut off after that.
    whole = sequence.random(1 << (rows - 1).bit_length())
    rounded: list[list[float]] = whole[:rows].tolist()
    return rounded

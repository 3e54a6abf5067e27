"""The metaparameter points of a search: a low-discrepancy table, made once and owned by the plan.

Source: quasi-random search as in Bousquet et al., "Critical hyper-parameters: no random, no cry",
arXiv 1706.03200; the sequences are SciPy's scrambled Sobol and Halton.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import qmc

from study.seeds import derived_seed
from study.spec import StudySpec

_SEQUENCES = {"sobol": qmc.Sobol, "halton": qmc.Halton}


def point_table(spec: StudySpec, repeat: int) -> list[dict[str, float]]:
    """`spec.search.points` different points, each a value for every metaparameter.

    Random in (study seed, repeat) alone: every condition of a repeat is searched with the same table, and a
    shorter table is the beginning of a longer one. A metaparameter's dimension is its place in the sorted
    names, so neither the order in the file nor anything outside the space changes a point.
    """
    names = sorted(spec.metaparameters)
    rng = np.random.default_rng(derived_seed("points", spec.seed, repeat))
    sequence = _SEQUENCES[spec.search.sampler](len(names), scramble=True, rng=rng)
    # A power of two keeps the Sobol sequence balanced; its beginning is cut off after that.
    whole = sequence.random(1 << (spec.search.points - 1).bit_length())
    return [
        {name: spec.metaparameters[name].at(u) for name, u in zip(names, row, strict=True)}
        for row in whole[: spec.search.points].tolist()
    ]

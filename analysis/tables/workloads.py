"""Table 1: workloads and targets, the paper's and this study's.

The paper's rows: Choi et al., arXiv 1907.05550, table 1 and section 3.1, as far as its text was at hand;
`recalled` marks what is from memory, and what is unknown is left open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from study.workloads.registry import WORKLOADS

if TYPE_CHECKING:
    from study.plan import Plan

COLUMNS = ("source", "workload", "training_examples", "metric", "target", "batch_sizes", "trials", "repeats")

PAPER = (
    ("LM1B, Transformer", "30,301,028", "cross entropy", "3.9 (recalled)", "1024, 4096", "100"),
    ("Common Crawl, Transformer", "25.8 bn (recalled)", "cross entropy", "3.9 (recalled)", "1024", "100"),
    ("CIFAR-10, ResNet-32", "45,000", "accuracy", "0.91 (recalled)", "128", "100"),
    ("ImageNet, ResNet-50", "1,281,167", "accuracy", "0.75 (recalled)", "1024", "50"),
    ("COCO, SSD", "118,287 (recalled)", "mAP", "0.24 (recalled)", "256", "50"),
)


def table1(plan: Plan) -> pd.DataFrame:
    """The paper's workloads, and this study's below; all columns are words (`COLUMNS`)."""
    spec, card = plan.spec, WORKLOADS.get(plan.spec.workload)
    sign = "≥" if spec.rule.higher_is_better else "≤"
    examples = getattr(card, "train_examples", None)
    mine = (
        "this study",
        spec.workload if card is None else f"{spec.workload}: {card.summary}",
        "" if examples is None else f"{examples:,}",
        spec.target.metric,
        f"{sign} {spec.target.value:g}",
        ", ".join(map(str, sorted({one.batch_size for one in plan.conditions}))),
        str(spec.search.points),
        str(spec.search.repeats),
    )
    rows = [("paper", *row, "5") for row in PAPER]
    return pd.DataFrame([*rows, mine], columns=list(COLUMNS)).astype("str")

"""Language models."""

from __future__ import annotations

import math

from study.workloads.card import NESTEROV, Metric, WorkloadCard

_METRICS = {"valid_loss": Metric(higher_is_better=False, low=0, high=math.inf)}
_OPTIONS = ("autocast", "compile", "on_error")

CARDS: tuple[WorkloadCard, ...] = (
    WorkloadCard(
        name="text_transformer",
        factory="study.workloads.text:TextTransformer",
        summary="State of the Union addresses, or any folder of .txt, in word pieces; a small Transformer",
        train_examples=None,
        metrics=_METRICS,
        metaparameters=NESTEROV,
        options=_OPTIONS,
        augments=False,
        data_set="addresses",
    ),
    WorkloadCard(
        name="lm1b_transformer",
        factory="study.workloads.text_shards:Lm1bTransformer",
        summary="LM1B, streamed sentence by sentence, 32,000 word pieces; Transformer base",
        train_examples=30_301_028,
        metrics=_METRICS,
        metaparameters=NESTEROV,
        options=_OPTIONS,
        augments=False,
        data_set="lm1b",
        target_note="recalled",
    ),
    WorkloadCard(
        name="common_crawl_transformer",
        factory="study.workloads.text_shards:CommonCrawlTransformer",
        summary="C4's pages of Common Crawl, streamed in windows of 128 word pieces; Transformer base",
        train_examples=None,
        metrics=_METRICS,
        metaparameters=NESTEROV,
        options=_OPTIONS,
        augments=False,
        data_set="common_crawl",
        target_note="recalled",
    ),
)

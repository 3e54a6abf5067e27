"""Tiny samples of the text data sets in their official formats: sentences made by a small grammar."""

import gzip
import json
from pathlib import Path

import numpy as np

LM1B = "1-billion-word-language-modeling-benchmark-r13output"

WHO = ("The president", "A senator", "Her neighbour", "The old judge", "Nobody")
DOES = ("signed", "praised", "refused", "forgot", "read aloud")
WHAT = ("the treaty", "a café menu", "two long letters", "the annual report", "what was said")


def sentences(count: int, seed: int) -> list[str]:
    """Sentences as LM1B has them, with a space before the full stop."""
    random = np.random.default_rng(seed)
    return [
        f"{random.choice(WHO)} {random.choice(DOES)} {random.choice(WHAT)} in {1790 + random.integers(230)} ."
        for _ in range(count)
    ]


def write_lines(file: Path, lines: list[str]) -> None:
    """A line each, in UTF-8."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def write_json_shard(file: Path, documents: list[str]) -> None:
    """A gzipped JSON-lines file as C4's."""
    file.parent.mkdir(parents=True, exist_ok=True)
    records = [
        {"text": text, "timestamp": "2019-04-25T12:57:54Z", "url": f"https://example.org/{i}"}
        for i, text in enumerate(documents)
    ]
    content = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    file.write_bytes(gzip.compress(content.encode(), mtime=0))


def write_addresses(root: Path) -> None:
    """Twelve speeches of forty sentences, a file each."""
    for year in range(1790, 1802):
        write_lines(root / "addresses" / f"{year}_somebody.txt", sentences(40, year))


def write_lm1b(root: Path) -> None:
    """Three shards of training sentences, and two held out, of which the first is the test set."""
    folder = root / "lm1b" / LM1B
    for shard in range(1, 4):
        name = f"training-monolingual.tokenized.shuffled/news.en-{shard:05}-of-00100"
        write_lines(folder / name, sentences(40, shard))
    for shard in range(2):
        name = f"heldout-monolingual.tokenized.shuffled/news.en.heldout-{shard:05}-of-00050"
        write_lines(folder / name, sentences(12, 100 + shard))


def write_common_crawl(root: Path) -> None:
    """Two shards of training pages, and one of validation pages."""
    for shard in range(2):
        pages = [" ".join(sentences(25, 20 * shard + page)) for page in range(20)]
        write_json_shard(root / "common_crawl" / f"c4-train.{shard:05}-of-01024.json.gz", pages)
    pages = [" ".join(sentences(25, 1000 + page)) for page in range(3)]
    write_json_shard(root / "common_crawl" / "c4-validation.00000-of-00008.json.gz", pages)


SAMPLES = {
    "text_transformer": write_addresses,
    "lm1b_transformer": write_lm1b,
    "common_crawl_transformer": write_common_crawl,
}
"""What each workload of this family reads."""

UPDATES = {"text_transformer": 32, "lm1b_transformer": 2, "common_crawl_transformer": 2}
"""For how many updates each trains, where that is asked: Transformer base takes seconds for each."""

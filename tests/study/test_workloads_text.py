"""The language models on tiny samples: what they read, what they measure, what they say of missing data."""

import gzip
import itertools
import math

import pytest
import torch
from data_formats.text import (
    LM1B,
    SAMPLES,
    sentences,
    write_addresses,
    write_common_crawl,
    write_lines,
    write_lm1b,
)

from pipelines import Pipeline
from study.data.text_examples import NO_TARGET
from study.errors import UserError
from study.workloads.base import Workload
from study.workloads.load import load_workload
from study.workloads.options import WorkloadOptions
from study.workloads.text import TextTransformer
from study.workloads.text_shards import CommonCrawlTransformer, Lm1bTransformer

torch.set_num_threads(1)

SKIP = WorkloadOptions(on_error="skip")
CPU = torch.device("cpu")


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("ECHOSTUDY_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture(params=SAMPLES)
def workload(request, root) -> Workload:
    SAMPLES[request.param](root)
    return load_workload(request.param)


def shuffle_of_one_batch(workload: Workload) -> tuple[torch.Tensor, torch.Tensor]:
    batch = next(Pipeline(workload.train_data(), batch_size=4))
    return batch.inputs, batch.targets


def test_loss_falls_within_a_few_updates(workload):
    torch.manual_seed(0)
    model = workload.model()
    optimizer = workload.optimizer(model, {"learning_rate": 0.05})
    inputs, targets = shuffle_of_one_batch(workload)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        losses.append(workload.loss(model, inputs, targets))
        losses[-1].backward()
        optimizer.step()
    assert losses[-1] < losses[0]


def test_the_loss_is_the_mean_over_tokens_that_have_a_next_one(workload):
    torch.manual_seed(0)
    model = workload.model()
    inputs, targets = shuffle_of_one_batch(workload)
    targets[1, 5:] = NO_TARGET
    with torch.no_grad():
        by_hand = [
            -logits.double().log_softmax(0)[target].item()
            for text, next_ones in zip(model(inputs), targets, strict=True)
            for logits, target in zip(text, next_ones, strict=True)
            if target != NO_TARGET
        ]
        loss = workload.loss(model, inputs, targets).item()
    assert loss == pytest.approx(sum(by_hand) / len(by_hand), rel=1e-5)


def test_the_validation_loss_weighs_every_token_the_same(root, monkeypatch):
    write_lm1b(root)
    workload = Lm1bTransformer()
    torch.manual_seed(0)
    model = workload.model()
    inputs, targets = workload.valid
    assert len(set((targets != NO_TARGET).sum(1).tolist())) > 1  # sentences of several lengths
    whole = workload.loss(model.eval(), inputs, targets).item()
    model.train()
    monkeypatch.setattr("study.workloads.text._AT_ONCE", 5)
    assert workload.evaluate(model, CPU) == {"valid_loss": pytest.approx(whole, rel=1e-5)}
    assert model.training


def test_an_untrained_model_is_near_the_loss_of_guessing(workload):
    torch.manual_seed(0)
    model = workload.model()
    vocabulary = model.output.weight.shape[0]
    assert workload.evaluate(model, CPU)["valid_loss"] == pytest.approx(math.log(vocabulary) + 0.5, abs=0.5)


def test_paper_scale_models_are_of_the_base_size():
    with torch.device("meta"):
        workload = object.__new__(Lm1bTransformer)
        workload._vocabulary = type("Full", (), {"size": 32_000})
        model = workload.model()
    assert sum(weights.numel() for weights in model.parameters()) == 51_683_328


def test_documents_are_split_whole_into_nine_parts_and_one(root):
    for number in range(20):  # document n says n, so many times that it fills windows
        write_lines(root / "text" / f"{number:02}.txt", [f"number-{number} " * 60])
    workload = TextTransformer()
    said = {}
    for name, (inputs, _) in {"train": workload.train_data(), "valid": workload.valid}.items():
        words = workload._vocabulary.decode(inputs.flatten().tolist()).split()
        said[name] = {word for word in words if words.count(word) > 20}
    assert said["valid"] == {"number-4", "number-14"}
    assert said["train"] == {f"number-{n}" for n in range(20) if n not in (4, 14)}


def test_of_two_documents_one_is_for_validation(root):
    write_lines(root / "text" / "a.txt", sentences(40, 0))
    write_lines(root / "text" / "b.txt", sentences(40, 1))
    workload = TextTransformer()
    assert len(workload.train_data()[0]) > 1
    assert len(workload.valid[0]) > 1


def test_a_folder_of_ones_own_comes_before_the_addresses_and_these_before_the_bible(root):
    write_lines(root / "bible" / "01_genesis.txt", ["In the beginning " * 40])
    write_lines(root / "bible" / "02_exodus.txt", ["Now these are the names " * 40])
    assert "beginning" in said_by(TextTransformer())
    write_addresses(root)
    assert "treaty" in said_by(TextTransformer())
    write_lines(root / "text" / "mine.txt", ["Completely different words " * 40])
    write_lines(root / "text" / "yours.txt", ["These are for validation " * 40])
    assert "Completely different" in said_by(TextTransformer())


def said_by(workload: TextTransformer) -> str:
    return workload._vocabulary.decode(workload.train_data()[0].flatten().tolist())


def test_the_second_time_the_same_data_are_read(root):
    write_addresses(root)
    first, second = TextTransformer(), TextTransformer()
    for ours, theirs in zip(
        first.train_data() + first.valid, second.train_data() + second.valid, strict=True
    ):
        assert torch.equal(ours, theirs)


def test_a_document_in_another_encoding_is_an_error_or_left_out_and_counted(root):
    write_addresses(root)
    (root / "addresses" / "1795_somebody.txt").write_bytes("Größe\n".encode("latin-1") * 50)
    with pytest.raises(UserError, match=r"1795_somebody\.txt line 1 is not UTF-8 text"):
        TextTransformer()
    workload = TextTransformer(SKIP)
    assert workload.skipped == 1
    assert "treaty" in said_by(workload)


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ([["one document"] * 50], "holds 1 documents, too few to train on some"),
        ([["short"], ["short"]], "holds less than the 32 tokens of one example"),
        ([["long enough "] * 50, []], "holds less than the 32 tokens of one example"),
    ],
)
def test_too_little_text_is_an_error(root, lines, complaint):
    for number, content in enumerate(lines):
        write_lines(root / "text" / f"{number}.txt", content)
    with pytest.raises(UserError, match=complaint):
        TextTransformer()


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("text_transformer", "run 'echostudy data fetch addresses', put .txt documents of your own into"),
        ("lm1b_transformer", "run 'echostudy data fetch lm1b'"),
        ("common_crawl_transformer", "run 'echostudy data fetch common_crawl'"),
    ],
)
def test_missing_data_are_named_with_the_command_that_helps(root, name, advice):
    with pytest.raises(UserError, match=advice):
        load_workload(name)


def test_lm1b_trains_on_the_training_shards_and_validates_on_all_held_out_shards_but_the_first(root):
    write_lm1b(root)
    workload = Lm1bTransformer()
    stream = workload.train_data().read_pass(0, 0, 0, 1)
    assert texts_of(workload, (give() for _, give in stream)) == sorted(
        line for shard in range(1, 4) for line in sentences(40, shard)
    )
    assert texts_of(workload, zip(*workload.valid, strict=True)) == sorted(sentences(12, 101))


def texts_of(workload, examples) -> list[str]:
    """The sentences of examples, from their targets but the last."""
    return sorted(
        workload._vocabulary.decode(targets[targets != NO_TARGET].tolist()[:-1]) for _, targets in examples
    )


def test_lm1b_may_lie_without_its_outermost_folder(root):
    write_lm1b(root)
    for folder in (root / "lm1b" / LM1B).iterdir():
        folder.rename(root / "lm1b" / folder.name)
    assert len(Lm1bTransformer().valid[0]) == 12


def test_lm1b_does_not_validate_on_its_test_set(root):
    write_lm1b(root)
    (found,) = root.rglob("news.en.heldout-00001-of-00050")
    found.unlink()
    with pytest.raises(UserError, match="holds the benchmark's test set alone; put the other shards"):
        Lm1bTransformer()


@pytest.mark.parametrize("missing", ["training", "heldout"])
def test_an_incomplete_lm1b_is_an_error(root, missing):
    write_lm1b(root)
    for file in root.rglob(f"{missing}-*/*"):
        file.unlink()
    with pytest.raises(UserError, match=rf"lm1b holds no {missing}-monolingual"):
        Lm1bTransformer()


@pytest.mark.parametrize(("kind", "missing"), [("train", "training"), ("validation", "validation")])
def test_an_incomplete_common_crawl_is_an_error(root, kind, missing):
    write_common_crawl(root)
    for file in (root / "common_crawl").glob(f"*{kind}*"):
        file.unlink()
    with pytest.raises(UserError, match=f"holds no {missing} shards; put c4-train"):
        CommonCrawlTransformer()


def test_damaged_training_shards_are_an_error_or_skipped_and_counted_in_the_ledger(root):
    write_common_crawl(root)
    shard = root / "common_crawl" / "c4-train.00001-of-01024.json.gz"
    lines = gzip.decompress(shard.read_bytes()).splitlines()
    lines[7] = lines[7][:30]
    shard.write_bytes(gzip.compress(b"\n".join(lines)))
    with pytest.raises(UserError, match=r"c4-train\.00001-of-01024\.json\.gz line 8 is no JSON"):
        CommonCrawlTransformer()
    workload = CommonCrawlTransformer(SKIP)
    source = workload.train_data()
    sound = sum(1 for _ in source.read_pass(0, 0, 0, 1)) - 1
    pipeline = Pipeline(source, batch_size=1)
    for _ in itertools.islice(pipeline, sound):
        pass
    assert pipeline.ledger.skipped == 1
    assert workload.skipped == 0


def test_damaged_validation_records_are_an_error_or_left_out_and_counted(root):
    write_lm1b(root)
    (shard,) = root.rglob("news.en.heldout-00001-of-00050")
    shard.write_bytes(shard.read_bytes() + b"caf\xe9 .\n")
    with pytest.raises(UserError, match=r"news\.en\.heldout-00001-of-00050 line 13 is not UTF-8"):
        Lm1bTransformer()
    workload = Lm1bTransformer(SKIP)
    assert workload.skipped == 1
    assert len(workload.valid[0]) == 12


def test_validation_shards_without_text_are_an_error(root):
    write_lm1b(root)
    (shard,) = root.rglob("news.en.heldout-00001-of-00050")
    shard.write_bytes(b"\n\n")
    with pytest.raises(UserError, match="hold no text to validate on"):
        Lm1bTransformer()

"""`echostudy profile`: what is planted is found, of workloads and loaders, and each fault is a sentence."""

import json
import re
from pathlib import Path

import pytest

DOC = Path(__file__).parents[2] / "docs" / "profile.md"
BATCH, UPDATE_S, SLOW_S, QUICK_S = 8, 0.02, 0.03, 0.0

WORKLOAD = '''
import time
import torch
from torch import nn
from pipelines import MemorySource, throttle
from study.workloads.classification import ClassificationWorkload, classification_metrics

IMAGES, LABELS = torch.rand(256, 4), torch.arange(256) % 2
TOOK = {"read": READ, "decode": DECODE, "augment": AUGMENT, "update": UPDATE}

def sleep(seconds):
    if seconds:
        time.sleep(seconds)

def slowed(inputs, targets, draws):
    sleep(TOOK["augment"])
    return inputs + 1, targets

class Slow(torch.optim.SGD):
    """An update ends its time after the loss has begun, whatever of it the computer takes."""
    def __init__(self, model):
        super().__init__(model.parameters(), lr=0.01)
        self.model = model
    def step(self):
        super().step()
        sleep(max(0, self.model.began + TOOK["update"] - time.perf_counter()))

class Map(ClassificationWorkload):
    """A source of a known pace, and an update of a known time."""
    augment = staticmethod(slowed)
    def train_data(self):
        memory = MemorySource(IMAGES, LABELS)
        return throttle(memory, R=1, update_s=TOOK["read"] or 1e-6, batch_size=8, burst=BURST)
    def model(self):
        return nn.Linear(4, 2)
    def loss(self, model, inputs, targets):
        model.began = time.perf_counter()
        return super().loss(model, inputs, targets)
    def optimizer(self, model, metaparameters):
        return Slow(model)
    def evaluate(self, model, device):
        return classification_metrics(model, IMAGES, LABELS)

class Source:
    identity, skips_damage = "a stream", False
    def read_pass(self, number, seed, rank, world_size):
        for place in range(256):
            if place % 8 == 0:
                sleep(TOOK["read"])
            yield place, lambda place=place: self.example(place)
    def example(self, place):
        if place % 8 == 0:
            sleep(TOOK["decode"])
        return IMAGES[place], LABELS[place]

class Stream(Map):
    """Examples one after the other."""
    def train_data(self):
        return Source()
'''

LOADER = """
import time
import torch
from torch.utils.data import DataLoader, Dataset, default_collate

def sleep(seconds):
    if seconds:
        time.sleep(seconds)

class Photos(Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, place):
        if place % 8 == 0:
            sleep(READ)
        return augment(torch.rand(3, 4, 4)), place

def augment(image):
    sleep(AUGMENT / 8)
    return image

def collate(examples):
    sleep(BATCHING)
    return default_collate(examples)

def make_loader():
    print("a line that a user's script prints")
    return DataLoader(Photos(), 8, collate_fn=collate)

def make_whole():
    return [torch.rand(8, 2)] * 4

def make_none():
    return []

def make_number():
    return 3

def make_broken():
    return {}["photos"]

class Damaged(Photos):
    def __getitem__(self, place):
        raise OSError("photo 7 is cut off")

def make_damaged():
    return DataLoader(Damaged(), 8, num_workers=1)

def step(batch):
    sleep(UPDATE)

def stumble(batch):
    raise RuntimeError("shapes differ")

def other(batch):
    return batch
"""


def written(folder, code, **times):
    """The code with its times, as mine.py."""
    for name, value in times.items():
        code = re.sub(rf"\b{name}\b", str(value), code)
    (folder / "mine.py").write_text(code)


def planted(folder, **slow):
    """A workload in mine.py of stages that take so long (capitals), and others that take nothing."""
    times = dict.fromkeys(("READ", "DECODE", "AUGMENT", "UPDATE"), QUICK_S) | {"BURST": 1} | slow
    written(folder, WORKLOAD, **times)


@pytest.fixture
def echostudy(call_echostudy, monkeypatch, tmp_path):
    """The console command in a folder with a loader in mine.py."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path, LOADER, READ=0.001, AUGMENT=0.001, BATCHING=0.001, UPDATE=0.002)
    return call_echostudy


def found(echostudy, *arguments):
    """The JSON object of a profile."""
    code, out, err = echostudy("profile", *arguments, "--json")
    assert code == 0, err
    return json.loads(out)


@pytest.mark.parametrize(
    "slow", ["Map read", "Map augment", "Map update", "Stream read", "Stream decode", "Stream update"]
)
def test_the_stage_of_a_workload_that_was_slowed_is_the_longest(echostudy, tmp_path, slow):
    kind, stage = slow.split()
    planted(tmp_path, **{stage.upper(): SLOW_S})
    stages = found(echostudy, f"mine.py:{kind}", "--batch-size", BATCH, "--seconds", 0.15)["stages_s"]
    assert max(stages, key=stages.get) == stage, stages


@pytest.mark.parametrize("stage", ["read", "augment", "batch", "update"])
def test_the_stage_of_a_loader_that_was_slowed_is_the_longest(echostudy, tmp_path, stage):
    times = {"READ": QUICK_S, "AUGMENT": QUICK_S, "BATCHING": QUICK_S, "UPDATE": QUICK_S}
    written(tmp_path, LOADER, **times | {"BATCHING" if stage == "batch" else stage.upper(): SLOW_S})
    functions = [("loader", "make_loader"), ("step", "step"), ("augment", "augment"), ("collate", "collate")]
    options = [word for name, function in functions for word in (f"--{name}", f"mine.py:{function}")]
    profile = found(echostudy, *options, "--seconds", 0.15)
    stages = profile["stages_s"]
    assert max(stages, key=stages.get) == stage, stages
    assert list(profile["R"]) == ["before_augmentation", "after_augmentation", "after_batching"]


@pytest.mark.parametrize(("ratio", "burst"), [(2, 1), (4, 1), (8, 1), (4, 32)])
def test_a_planted_ratio_is_found_and_advised(echostudy, tmp_path, ratio, burst):
    planted(tmp_path, READ=ratio * UPDATE_S, UPDATE=UPDATE_S, BURST=burst)
    profile = found(echostudy, "mine.py:Map", "--batch-size", BATCH, "--seconds", 0.5)
    slower = profile["update_s"] / UPDATE_S  # on a busy machine
    assert slower > 0.95
    for one in profile["R"].values():
        assert one * slower == pytest.approx(ratio, rel=0.3)  # how near it comes: docs/profile.md
    assert profile["burst_batches"] == pytest.approx(max(1, burst / BATCH), rel=0.3)
    assert profile["device_wait_share"] > 0.2
    advice = profile["advice"]
    assert (advice["decision"], advice["insertion_point"]) == ("echo", "before_augmentation")
    assert advice["echo_factor"] <= profile["R"]["before_augmentation"]
    assert advice["echo_buffer"] == 256
    assert advice["speed_up"] == [1, advice["echo_factor"]]


def test_where_the_device_is_the_slower_the_advice_is_not_to_echo(echostudy, tmp_path):
    planted(tmp_path, UPDATE=0.03)
    code, out, _ = echostudy("profile", "mine.py:Map", "--batch-size", BATCH, "--seconds", 0.15)
    assert code == 0
    assert "The longest stage is update" in out
    assert "Do not echo: R is 0." in out


def test_a_loader_is_one_stage_unless_its_functions_are_named(echostudy):
    profile = found(echostudy, "--loader", "mine.py:make_loader", "--step", "mine.py:step", "--seconds", 0.1)
    assert set(profile["stages_s"]) == {"loader", "update"}
    assert set(profile["R"]) == {"after_batching"}
    assert profile["batch_size"] == BATCH
    assert profile["examples"] == 64


def test_without_a_step_r_is_unknown_until_the_seconds_of_an_update_are_given(echostudy):
    unknown = found(echostudy, "--loader", "mine.py:make_loader", "--seconds", 0.1)
    assert (unknown["R"], unknown["device_wait_share"]) == ({}, None)
    assert unknown["advice"]["decision"] == "unknown"
    known = found(echostudy, "--loader", "mine.py:make_loader", "--update-s", 0.0005, "--seconds", 0.1)
    assert known["R"]["after_batching"] > 2
    assert known["advice"]["decision"] == "echo"


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_a_figure_is_drawn_into_the_file_that_is_named(echostudy, tmp_path, kind):
    code, out, _ = echostudy(
        *("profile", "--loader", "mine.py:make_whole", "--step", "mine.py:step"),
        *("--seconds", 0.1, "--figure", tmp_path / f"time.{kind}"),
    )
    assert code == 0
    assert f"time.{kind}" in out
    assert {file.name for file in tmp_path.iterdir() if file.is_file()} == {"mine.py", f"time.{kind}"}
    assert (tmp_path / f"time.{kind}").read_bytes()[:4] == {"png": b"\x89PNG", "svg": b"<?xm"}[kind]


def test_the_script_of_the_document_can_be_profiled_as_it_says(echostudy, tmp_path):
    script, command = re.search(
        r"```python\n(.*?)```.*?\$ echostudy profile (.*?[^\\])\n", DOC.read_text(), re.DOTALL
    ).groups()
    (tmp_path / "train.py").write_text(script)
    code, out, err = echostudy("profile", *command.replace("\\\n", "").split(), "--seconds", 0.1)
    assert code == 0, err
    assert re.search(r"^ *read +\d", out, re.MULTILINE)
    assert re.search(r"^ *before_augmentation +\d", out, re.MULTILINE)


LOADER_OPTION = ["--loader", "mine.py:make_loader"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "profile needs something to measure: give a WORKLOAD, or --loader FILE.py:NAME."),
        (["digits_convnet", *LOADER_OPTION], "profile needs something to measure"),
        (["digits_convnt"], "There is no workload 'digits_convnt'; did you mean 'digits_convnet'?"),
        (["digits_convnet", "--step", "mine.py:step"], "--step belongs to a loader of your own"),
        (
            ["digits_convnet", "--batch-size", "2000"],
            "--batch-size is 2000, but digits_convnet has 1400 training",
        ),
        (["coco_ssd"], "echostudy data"),
        (
            ["digits_convnet", "--memory", "much"],
            "--memory cannot be 'much'; give a size such as 500MB or 2GB.",
        ),
        (["digits_convnet", "--figure", "time.doc"], "--figure cannot be time.doc; let its name end in .png"),
        (["digits_convnet", "--figure", "no/time.png"], "there is no folder no; make it first."),
        (["digits_convnet", "--study", "nothing"], "There are no results of a study 'nothing'"),
        ([*LOADER_OPTION, "--batch-size", "8"], "--batch-size is a workload's"),
        ([*LOADER_OPTION, "--update-s", "0"], "--update-s cannot be 0"),
        ([*LOADER_OPTION, "--update-s", "1", "--step", "mine.py:step"], "--update-s stands for the step"),
        (["mine.py:Mine"], "The workload mine.py:Mine cannot be used: the file has no class"),
        (
            ["--loader", "mine.py"],
            "--loader mine.py cannot be used: it names no function; write for example mine.py:make_loader.",
        ),
        (["--loader", "no.py:make"], "--loader no.py:make cannot be used: there is no file"),
        (
            ["--loader", "mine.py:make_loadr"],
            "the file has no function of that name; did you mean 'make_loader'?",
        ),
        (["--loader", "mine.py:make_none"], "The loader gives no batches"),
        (["--loader", "mine.py:make_number"], "--loader make_number gives an int, which cannot be iterated"),
        (
            ["--loader", "mine.py:make_broken"],
            "making the loader failed at line 40 (KeyError: 'photos'); correct it.",
        ),
        (
            ["--loader", "mine.py:make_damaged"],
            "the loader failed at line 44 (OSError: photo 7 is cut off); correct",
        ),
        (
            [*LOADER_OPTION, "--step", "mine.py:stumble"],
            "the step failed at line 53 (RuntimeError: shapes differ)",
        ),
        (
            [*LOADER_OPTION, "--step", "mine.py:stp"],
            "--step mine.py:stp cannot be used: the file has no function",
        ),
        ([*LOADER_OPTION, "--collate", "mine.py:other"], "The function collate was never called"),
    ],
)
def test_what_cannot_be_measured_is_one_sentence_and_exit_code_2(
    echostudy, monkeypatch, tmp_path, arguments, sentence
):
    monkeypatch.setenv("ECHOSTUDY_DATA", str(tmp_path / "no data"))
    code, out, err = echostudy("profile", *arguments, "--seconds", 0.1)
    assert code == 2
    assert sentence in err
    assert err.strip().splitlines()[-1].startswith("Error: ")
    assert "Traceback" not in out + err

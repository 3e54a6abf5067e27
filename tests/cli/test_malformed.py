"""300 malformed study files through the console command: one clear sentence each, and nothing written."""

import random
import re
import sys
from pathlib import Path

import pytest

from echostudy.cli import main

FILES = 300
TEXT = Path("study/specs/digits.yaml").read_text(encoding="utf-8")
BODY = [line.partition("#")[0].rstrip() for line in TEXT.splitlines()]
BODY = [line for line in BODY if line]
WORDS = sorted(set(re.findall(r"[a-z_]{3,}(?=:)", "\n".join(BODY))))
WRONG = ["true", "[]", "{}", "-1", "1e999", ".nan", "'0'", "[[1]]", "{a: 1}", "~", "2024-01-01"]


def misspell_a_key(text: str, rng: random.Random) -> str:
    word = rng.choice(WORDS)
    at = rng.randrange(1, len(word))
    return text.replace(f"{word}:", f"{word[:at]}{rng.choice('xqz')}{word[at:]}:", 1)


def give_a_wrong_value(text: str, rng: random.Random) -> str:
    values = list(re.finditer(r"(?<=: )[^\s,{}\[\]]+", text))
    value = rng.choice(values)
    return text[: value.start()] + rng.choice(WRONG) + text[value.end() :]


def leave_a_group_out(text: str, rng: random.Random) -> str:
    needed = ["name", "workload", "metaparameters", "search", "target", "budget"]
    word = rng.choice(needed)
    return re.sub(rf"^{word}:.*\n(?: .*\n)*", "", text, count=1, flags=re.MULTILINE)


def break_the_yaml(text: str, rng: random.Random) -> str:
    lines = text.splitlines()
    at = rng.randrange(len(lines))
    lines[at] += rng.choice([" {", " [", " '", ' "', " : :", " *nobody", " &a *b", "\x07"])
    return "\n".join(lines)


def repeat_a_key(text: str, rng: random.Random) -> str:
    lines = [line for line in text.splitlines() if not line.startswith(" ")]
    return f"{text}\n{rng.choice(lines)}\n"


MUTATIONS = [misspell_a_key, give_a_wrong_value, leave_a_group_out, break_the_yaml, repeat_a_key]


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__)
def test_a_malformed_study_file_is_one_sentence_with_its_line_and_writes_nothing(
    mutate, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    path = Path("broken.yaml")
    refused = 0
    seed = 0
    while refused < FILES // len(MUTATIONS):
        seed += 1
        assert seed < 3 * FILES, "the mutations leave too many files sound"
        path.write_text(mutate("\n".join(BODY) + "\n", random.Random(seed)), encoding="utf-8")
        monkeypatch.setattr(sys, "argv", ["echostudy", "plan", str(path), "--results", "results"])
        with pytest.raises(SystemExit) as end:
            main()
        written = capsys.readouterr()
        if not end.value.code:  # a change that happens to be sound, such as seed: 1 in place of seed: 0
            continue
        refused += 1
        assert end.value.code == 2
        assert written.out == ""
        assert written.err.count("\n") == 1
        assert re.match(r"Error: broken\.yaml line \d+: ", written.err), written.err
        assert [one.name for one in tmp_path.iterdir()] == ["broken.yaml"]

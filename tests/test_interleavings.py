"""Edits and questions in random turns, on packages of which is known who calls whom: no answer is whole and wrong, or of an older tree
without a word.

LSPIDX_INTERLEAVINGS is how many turns are made, LSPIDX_INTERLEAVINGS_SEED where the random numbers begin; `make moving` makes 1,000 and
prints what became of them. A turn is one to three changes and one to three questions. What fails says its seed and all that was done.
"""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from moving_changes import AT_ONCE, begin_history, change
from moving_edits import edit
from moving_program import new_files, read_program
from moving_questions import Face, Said, complaint, faces, question
from support import crawl_with_ty, write_tree

TURNS = int(os.environ.get("LSPIDX_INTERLEAVINGS", "16"))
SEED = int(os.environ.get("LSPIDX_INTERLEAVINGS_SEED", "1"))
PER_TREE = 40
"""Turns on one package."""


def test_no_answer_is_whole_and_wrong_or_of_an_older_tree_without_a_word(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    failures: list[str] = []
    done = 0
    for number in range(-(-TURNS // PER_TREE)):
        turns = min(PER_TREE, TURNS - done)
        failures += _on_one_tree(tmp_path / str(number), SEED * 1000 + number, turns, counts)
        done += turns
        print(f"\n{done} turns of seed {SEED}:", *(f"{count:>6} {what}" for what, count in sorted(counts.items())), sep="\n  ", flush=True)
    assert not failures, f"{len(failures)} answers\n" + "\n\n".join(failures[:20])
    if done >= PER_TREE // 4:
        assert counts["complete"] > sum(counts[what] for what in counts if what.startswith(("complete", "partial"))) / 3, "little was said"


def _on_one_tree(folder: Path, seed: int, turns: int, counts: Counter[str]) -> list[str]:
    chance = Random(seed)
    root = write_tree(folder / "thing", new_files(chance))
    begin_history(root)
    crawl_with_ty(root)
    failures: list[str] = []
    log: list[str] = []
    with faces(root, with_mcp=turns >= PER_TREE or seed % 2 == 0) as asking:
        for turn in range(turns):
            said = _turn(chance, root, asking, log, counts)
            failures += [f"seed {seed}, turn {turn}: {one}\n    " + "\n    ".join(log[-12:]) for one in said]
            if said:
                print(failures[-1], flush=True)
    return failures


def _turn(chance: Random, root: Path, asking: dict[str, Face], log: list[str], counts: Counter[str]) -> list[str]:
    """Changes, then questions, each by a face that is drawn; now and then a change comes while a question is under way."""
    failures: list[str] = []
    for _ in range(chance.choice((0, 1, 1, 1, 2, 3))):
        if chance.random() < 0.3:
            face = chance.choice([*asking.values()])
            what, failure = edit(chance, root, face, counts)
            failures += [failure] if failure else []
            log.append(f"{face.name}: {what}")
        else:
            log.append(change(chance, root))
    counts["turns"] += 1
    for _ in range(chance.choice((1, 1, 2, 3))):
        truth = read_program(root)
        asked = question(chance, truth)
        if asked is None:
            return failures
        face = chance.choices([*asking.values()], [6, 2, 2, 1, 4][: len(asking)])[0]
        truths = [truth]
        if chance.random() < 0.15 and not truth.broken:
            said = _while_it_changes(chance, root, face, asked.tool, asked.arguments, log)
            truths.append(read_program(root))
            counts["questions while a file changes"] += 1
        else:
            said = face.ask(asked.tool, asked.arguments)
        log.append(f"{face.name}: {asked.tool} {asked.arguments} -> {said.status} {sorted(said.codes)}")
        wrong = complaint(asked, said, truths, counts)
        if said.status == "complete":
            counts[f"complete, by {face.name}"] += 1
        if wrong:
            counts[f"WRONG {wrong[:24]}"] += 1
            failures.append(f"{face.name}: {asked.tool} {asked.arguments}: {wrong}")
    return failures


def _while_it_changes(chance: Random, root: Path, face: Face, tool: str, arguments: dict[str, object], log: list[str]) -> Said:
    found: list[Said] = []
    thread = threading.Thread(target=lambda: found.append(face.ask(tool, arguments)))
    thread.start()
    time.sleep(chance.random() * 0.6)
    log.append(f"meanwhile: {change(chance, root, AT_ONCE)}")
    thread.join()
    return found[0] if found else Said("fault", words="the question has ended without an answer")


pytestmark = pytest.mark.slow

"""Every kind of file below `.lspidx`, damaged in every way that a disk, a synchronisation or a hand may damage it (ADR 0026).

LSPIDX_DAMAGE_CASES is how many cases are tried from number LSPIDX_DAMAGE_FIRST on, LSPIDX_DAMAGE_SEED where the random numbers begin;
`make fuzz` tries 2,000 and prints what became of them; without a number it is one case for each kind of file. A case that fails says its
seed and its number, by which it can be tried alone.
"""

from __future__ import annotations

import functools
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from damage_support import Seed, Wrong, counted, make_seeds, other_content, try_case

from indexer.errors import Damaged
from indexer.store import damage
from indexer.store.generations import Home
from indexer.store.states import read_state

pytestmark = pytest.mark.slow

KINDS = 31
"""How many kinds of files there are in the two seeds."""
CASES = int(os.environ.get("LSPIDX_DAMAGE_CASES", str(KINDS)))
SEED = int(os.environ.get("LSPIDX_DAMAGE_SEED", "14"))
FIRST = int(os.environ.get("LSPIDX_DAMAGE_FIRST", "0"))
MOST_SHOWN = 30
PER_CASE = 10
"""Files that are only read cost a hundredth of a case."""


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Seed]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield make_seeds(tmp_path_factory.mktemp("damage"), patch.setattr)


def test_damage_heals_or_says_what_to_do(seeds: list[Seed]):
    counts: Counter[str] = Counter()
    assert sum(len(seed.files()) for seed in seeds) == KINDS, "a run without a number tries one case for each kind of file"
    failures: list[str] = []
    for number in counted(range(FIRST, FIRST + CASES), "damaged files"):
        try:
            try_case(seeds, number, SEED, counts)
        except Wrong as error:
            failures.append(str(error))
            counts["WRONG"] += 1
    print(f"\n{CASES} cases from number {FIRST} of seed {SEED}:")
    for what, count in sorted(counts.items()):
        print(f"  {count:>6} {what}")
    assert not failures, f"{len(failures)} cases\n" + "\n\n".join(failures[:MOST_SHOWN])


def test_no_damage_of_what_is_published_passes_for_whole(seeds: list[Seed]):
    """What every reader relies on, without a crawl for each case: a file is as it was written, or is found not to be."""
    seed = seeds[0]
    seed.restore()
    home = Home(seed.root)
    generation = home.require()
    readers: dict[Path, Callable[[], object]] = {
        generation: lambda: damage.check_database(generation, damage.read_manifest(generation)),
        generation.with_suffix(".json"): lambda: damage.read_manifest(generation),
        home.path / "flags.json": home.checked_flags,
    }
    readers |= {file: functools.partial(damage.check_shard, file) for file in home.shards.glob("*.parquet")}
    readers |= {file: functools.partial(read_state, file) for file in home.states.glob("*.json")}
    whole = {file: (file.read_bytes(), read()) for file, read in readers.items()}
    counts: Counter[str] = Counter()
    for number in counted(range(FIRST, FIRST + CASES * PER_CASE), "files that are only read"):
        chance = random.Random(f"{SEED} {number}")
        file = chance.choice(sorted(readers))
        content, said = whole[file]
        made, how = other_content(content, [one for one, _ in whole.values()], chance)
        file.write_bytes(made)
        try:
            found = readers[file]()
            known = [said, *(one for of, (_, one) in whole.items() if of.parent == home.states == file.parent)]  # a state says whose it is
            assert made == content or (file.suffix == ".json" and found in known), f"seed {SEED}, case {number}: {how} {file}"
            counts["read as it was written"] += 1
        except Damaged:
            assert made != content, f"seed {SEED}, case {number}: {how} {file}"
            counts["found to be damaged"] += 1
        except msgspec.DecodeError:
            counts["taken for an earlier version's, which nobody goes on from"] += 1
        file.write_bytes(content)
    print(f"\n{CASES * PER_CASE} files from number {FIRST} of seed {SEED}: {dict(counts)}")

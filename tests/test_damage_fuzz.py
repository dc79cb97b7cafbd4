"""Every kind of file below `.lspidx`, damaged in every way that a disk, a synchronisation or a hand may damage it (ADR 0026).

LSPIDX_DAMAGE_CASES is how many cases are tried from number LSPIDX_DAMAGE_FIRST on, LSPIDX_DAMAGE_SEED where the random numbers begin;
`make fuzz` tries 2,000 and prints what became of them. A case that fails says its seed and its number, by which it can be tried alone.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

import pytest
from damage_support import Seed, Wrong, make_seeds, try_case

pytestmark = pytest.mark.slow

CASES = int(os.environ.get("LSPIDX_DAMAGE_CASES", "40"))
SEED = int(os.environ.get("LSPIDX_DAMAGE_SEED", "14"))
FIRST = int(os.environ.get("LSPIDX_DAMAGE_FIRST", "0"))
MOST_SHOWN = 30


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Seed]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield make_seeds(tmp_path_factory.mktemp("damage"), patch.setattr)


def test_damage_heals_or_says_what_to_do(seeds: list[Seed]):
    counts: Counter[str] = Counter()
    failures: list[str] = []
    for number in range(FIRST, FIRST + CASES):
        try:
            try_case(seeds[number % 3 == 2], number, SEED, counts)
        except Wrong as error:
            failures.append(str(error))
            counts["WRONG"] += 1
    print(f"\n{CASES} cases from number {FIRST} of seed {SEED}:")
    for what, count in sorted(counts.items()):
        print(f"  {count:>6} {what}")
    assert not failures, f"{len(failures)} cases\n" + "\n\n".join(failures[:MOST_SHOWN])

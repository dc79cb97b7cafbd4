"""What ty and the crawl make of small sources: occurrences, calls, types and overrides against goldens that a person can check."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from support import CORPORA, check_golden, graph

from indexer.crawl.run import Crawl

BEHAVIOURS = sorted(folder.name for folder in (CORPORA / "python").iterdir() if folder.is_dir())


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_call_graph_of_small_sources(index: duckdb.DuckDBPyConnection, behaviour: str) -> None:
    """Occurrences, call edges, types and overrides of each corpus equal the golden that was checked by eye."""
    check_golden(f"call_graph/{behaviour}.txt", graph(index, CORPORA / "python", behaviour, own="python . workspace . "))


def test_nothing_is_lost_and_shared_answers_agree(corpora: Crawl) -> None:
    """The corpora crawl without loss, and asking the server about certain tokens confirms them."""
    assert corpora.manifest["lost"] == {}
    assert corpora.manifest["server_restarts"] == 0
    assert Path(corpora.generation).is_file()

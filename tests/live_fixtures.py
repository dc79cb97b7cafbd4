"""A plugin with the real servers that the tests of live tools ask: one of each language, for the tests of one module."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from live_support import Live, corpus


@pytest.fixture(scope="module")
def lives(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Live]]:
    """Servers by language, started when first asked for."""

    class Started(dict[str, Live]):
        def __missing__(self, language: str) -> Live:
            self[language] = stack.enter_context(corpus(language, tmp_path_factory.mktemp("live")))
            return self[language]

    with ExitStack() as stack:
        yield Started()

"""A certificate that is made out when the answer is on its way: what may be missing of uses takes longer to tell than the uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from query.answers.envelope import Completeness, Reason
from query.facts.completeness import Certificate
from query.facts.gaps.uses import Question
from query.facts.index import Index
from query.facts.symbols import Symbol


class Later(Certificate):
    """As `Certificate`, but `of_uses` says nothing until `settled` is asked."""

    def __init__(self, index: Index, unsaved: Mapping[str, str] = {}) -> None:
        super().__init__(index, unsaved)
        self._waiting: list[Callable[[], Completeness]] = []

    def of_uses(
        self,
        symbols: Sequence[Symbol],
        question: Question,
        methods: Sequence[str],
        more: Sequence[Reason] = (),
        *,
        typed: Callable[[], str] | None = None,
        within: Callable[[str], bool] | None = None,
    ) -> Completeness:
        """As if nothing were missing: `settled` says what is."""
        make: Any = super().of_uses
        self._waiting.append(lambda: make(symbols, question, methods, more, typed=typed, within=within))
        return Completeness(status="complete")

    def settled(self) -> list[Completeness]:
        """What `of_uses` was to say, each time that it was asked."""
        return [make() for make in self._waiting]

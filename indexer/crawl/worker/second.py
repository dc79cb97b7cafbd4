"""What a second server says of the identifiers that stayed open after the first one and after values were followed (ADR 0108). Pure.

A document's facts are then rows of `occurrences` and `targets` alone, which the parent adds to those that the first server gave: one row
for each answer, and one without a target where there is none, so that nobody asks again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from indexer import monikers
from indexer.crawl import methods
from indexer.crawl.units import PlannedDocument
from indexer.crawl.worker.harvest import Answers, Place
from indexer.crawl.worker.places import Places
from indexer.model import CoverageStatus, Evidence
from indexer.store.facts import AT_PLACE, DocumentFacts
from indexer.syntax.model import Syntax, Tokens


def tokens_at(tokens: Tokens, places: Collection[tuple[int, int]]) -> Iterator[int]:
    """The identifiers that begin at these lines and columns, each once."""
    left = set(places)
    for token in range(len(tokens)):
        place = (tokens.line[token], tokens.col[token])
        if place in left:
            left.discard(place)
            yield token


def facts_of(document: PlannedDocument, syntax: Syntax, answers: Answers, places: Places) -> DocumentFacts:
    """The rows about the identifiers of `document.places`. Of what was not answered because the server was lost there are none.

    Args:
        places: says which file of the workspace a URI is.
    """
    facts = DocumentFacts(document.header("second"))
    tokens = syntax.tokens
    was_lost = bool(answers.tallies[methods.DEFINITION].failed)
    asked = list(tokens_at(tokens, document.places))
    if was_lost:
        reason = answers.tallies[methods.DEFINITION].failed
        facts.add("coverage", method=methods.DEFINITION, status=str(CoverageStatus.LOST), reason=reason, asked=0, answered=0)
    abroad = [place for token in asked for place in answers.definitions.get(token, ()) if not places.inside(place[0])]
    places.abroad.learn(abroad, document.language)
    numbers: dict[Place, int] = {}
    for token in asked:
        here = (tokens.line[token], tokens.col[token])
        found = [
            place for place in answers.definitions.get(token, ()) if not (places.inside(place[0]) == document.path and place[1:3] == here)
        ]
        if was_lost and not found:
            continue
        targets = [number for place in found if (number := _number(facts, numbers, place, places)) >= 0]
        for target in targets or [-1]:
            facts.add(
                "occurrences",
                line=here[0], col=here[1], end_col=tokens.end_col[token], name=tokens.name[token], roles=tokens.roles[token],
                enclosing=tokens.enclosing[token], evidence=int(Evidence.SECOND_SERVER), symbol=-1, target=target,
            )  # fmt: skip
    return facts


def _number(facts: DocumentFacts, numbers: dict[Place, int], place: Place, places: Places) -> int:
    """The place's row among the targets; -1 where nobody knows what stands there."""
    known = numbers.get(place)
    if known is not None:
        return known
    uri, line, col, end_line, end_col = place
    if path := places.inside(uri):
        facts.add("targets", path=path, line=line, col=col, end_line=end_line, end_col=end_col, symbol=AT_PLACE)
    elif moniker := places.abroad.moniker(place):
        facts.add("targets", path=places.key(uri), line=0, col=0, end_line=0, end_col=0, symbol=monikers.key(moniker))
    else:
        return -1
    numbers[place] = len(numbers)
    return numbers[place]

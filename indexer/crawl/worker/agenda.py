"""In which order the questions of a unit are put. Sends nothing: it yields what to ask, and when an answer must come first.

What a server infers for circular definitions depends on what it was asked before, so the order must be the tree's own and not that in
which answers arrive (ADR 0006).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from indexer.crawl import methods
from indexer.crawl.worker.document import Document
from indexer.crawl.worker.limits import Budget
from indexer.crawl.worker.questions import Question, most
from indexer.crawl.worker.schedule import Line

_ROUND = 2_000  # questions; many times the window, so that a round's answers are there when the next has been put

Asked = tuple[Document, str, bytes, int]
"""Document, method, parameters as JSON, ordinal of the token or symbol that it is about (below 0: a cross-check's token)."""


def agenda(
    line: Line[Document],
    prepare: Callable[[Document], Iterator[Question]],
    budget: Budget,
    *,
    overlap: bool,
    has_grown: Callable[[], bool],
    is_large: Callable[[], bool],
) -> Iterator[Asked | None]:
    """All questions about the documents in a line. None stands for: nothing to ask until what has come, or is to come, is dealt with.

    Documents are asked in rounds; second tries of a round follow the next round's questions, when all answers of the former have long
    been there. It ends early where the server has grown too large, with no question open.

    Args:
        prepare: reads a document and says what to ask about it.
        overlap: whether a document may be asked about while another has questions open.
        has_grown, is_large: whether the server is too large for one more document, or for one more round.
    """
    waiting: list[Document] = []
    goes_on = True
    while waiting or (line and goes_on):
        asked, asked_now = 0, list[Document]()
        while line and goes_on and asked < _ROUND and (overlap or not (asked_now or waiting)):
            document = line.take()
            for question in most(prepare(document), document, budget.questions_left(0)):
                if document.unbuilt:
                    break
                yield document, *question
                document.answers.tallies[methods.TALLIED.get(question[0], question[0])].asked += question[2] >= 0
                asked += 1
            asked_now.append(document)
            goes_on = not has_grown()
        second: list[Document] = []
        for document in waiting if overlap else [*waiting, *asked_now]:
            while document.open:
                yield None
            more = list(most(document.second_tries(), document, budget.questions_left(document.asked)))
            for question in more:
                yield document, *question
            if more:
                second.append(document)
            else:
                document.settled = True
        waiting = [*second, *asked_now] if overlap else second
        goes_on = goes_on and not is_large()
        if not overlap:
            yield None

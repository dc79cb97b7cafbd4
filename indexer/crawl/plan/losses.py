"""Whether a crawl lost a language: what is said then, how the run ends, and whether its result may replace a better index. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from indexer.crawl import methods
from indexer.crawl.units import PlannedDocument
from indexer.model import LossReason
from indexer.model.gaps import is_mostly_answered

LOST_SHARE = 0.5
"""Of a language's documents: where the servers' answers for so many are missing, the language counts as lost."""

_FEW_FILES, _FEW_LANGUAGES, _LANGUAGES_NAMED = 5, 3, 5
"""Languages of so few files are said together, where there are more than so many of them; so many are named."""

_REMEDIES = {
    LossReason.NOT_READY: "see what the server says above; with more time: language.{language}.timeout_s in lspidx.toml",
    LossReason.SERVER_TIMEOUT: "with more time: language.{language}.timeout_s in lspidx.toml",
    LossReason.TIME_LIMIT: "with more time: LSPIDX_MAX_FILE_S, LSPIDX_MAX_UNIT_S; or leave such files out: --exclude PATTERN",
    LossReason.QUESTION_LIMIT: "with more questions: LSPIDX_MAX_UNIT_QUESTIONS; or leave such files out: --exclude PATTERN",
    LossReason.SERVER_MEMORY: "with more memory: language.{language}.memory_mb in lspidx.toml, or fewer servers: --jobs 1",
    LossReason.SERVER_UNAVAILABLE: "lspidx doctor says what was looked for and found",
    LossReason.SERVER_CRASHED: "another server: --server, see lspidx servers list",
}


class Lost(msgspec.Struct, frozen=True, kw_only=True):
    """A language most of whose documents have no answers from a server.

    documents: of the language. lost: how many of them. reason: the commonest `LossReason`. why: what the server said, if anything.
    """

    language: str
    documents: int
    lost: int
    reason: str
    why: str = ""

    @property
    def sentence(self) -> str:
        said = f": {self.why}" if self.why else ""
        return (
            f"{self.lost} of {self.documents} {self.language} files have no answers from a server ({self.reason.replace('_', ' ')}){said}"
        )

    @property
    def remedy(self) -> str:
        return _REMEDIES.get(LossReason(self.reason), "the log says more: .lspidx/log/lspidx.log").format(language=self.language)


def languages_lost(
    documents: Iterable[PlannedDocument],
    losses: Iterable[tuple[str, str, str]],
    problems: Mapping[str, str],
    *,
    least_share: float = LOST_SHARE,
) -> list[Lost]:
    """The languages that this crawl has lost, the one with most files first.

    Args:
        documents: all that servers were to be asked about, now or in an earlier run.
        losses: path, method and reason of what is lost.
        problems: by language, why its server could not be started.
        least_share: of a language's documents, from which on it counts as lost.
    """
    language_of = {document.path: document.language for document in documents}
    totals = Counter(language_of.values())
    reasons: dict[str, Counter[str]] = {}
    for path, method, reason in losses:
        if method == methods.DEFINITION and path in language_of and not is_mostly_answered(reason):
            reasons.setdefault(language_of[path], Counter())[reason.partition(":")[0]] += 1
    return [
        Lost(
            language=language,
            documents=totals[language],
            lost=counts.total(),
            reason=min(counts, key=lambda reason: (-counts[reason], reason)),
            why=problems.get(language, ""),
        )
        for language, counts in sorted(reasons.items(), key=lambda item: (-totals[item[0]], item[0]))
        if counts.total() >= least_share * totals[language]
    ]


def worse_than(former: Mapping[str, Any], lost: Sequence[Lost]) -> list[Lost]:
    """The languages that an earlier index, by its manifest, has and this one would not."""
    lost_then = {item["language"] for item in former.get("languages_lost", [])}
    resolved_then = former.get("resolution", {})
    return [item for item in lost if item.language not in lost_then and resolved_then.get(item.language, {}).get("identifiers", 0) > 0]


def unresolved_too_often(resolution: Mapping[str, Mapping[str, int]], least_percent: float) -> list[str]:
    """One sentence for each language of whose identifiers fewer than `least_percent` are resolved."""
    sentences: list[str] = []
    for language, numbers in resolution.items():
        identifiers = numbers["identifiers"]
        resolved = 100 * (identifiers - numbers["unresolved"]) / identifiers if identifiers else 100.0
        if resolved < least_percent:
            sentences.append(f"{resolved:.1f} % of the {language} identifiers are resolved, less than min_resolved = {least_percent:g}")
    return sentences


def without_server(missing: Mapping[str, str], languages: Sequence[str]) -> list[str]:
    """What is said of languages that have no server here: a line each, and one for all those of a few files, where they are several.

    Args:
        missing: by language, why there is none and how to get one. languages: of all documents.
    """
    files = Counter(language for language in languages if language in missing)
    few = [language for language in missing if files[language] <= _FEW_FILES]
    together = few if len(few) > _FEW_LANGUAGES else []
    said = [
        f"{files[language]} {language} {'file has' if files[language] == 1 else 'files have'} no language server here, "
        f"only {'its' if files[language] == 1 else 'their'} text is read; {problem}"
        for language, problem in missing.items()
        if language not in together
    ]
    if together:
        named = sorted(together, key=lambda language: (-files[language], language))
        more = " …" if len(named) > _LANGUAGES_NAMED else ""
        number = sum(files[language] for language in together)
        shown = ", ".join(named[:_LANGUAGES_NAMED])
        said.append(
            f"{number} files of {len(together)} languages have no language server here, only their text is read: {shown}{more}; "
            "to get them: lspidx doctor"
        )
    return said

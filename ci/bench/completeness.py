"""Is "complete" true, and is "partial" worth reading? `python -m ci.bench.completeness`, from the repository's root.

Three parts, each of which can be left out: call edges that pyrefly knows and the index lacks (`witness`), on flask and django's package
with their dependencies; a sample of questions about repositories (`sample`), which are clones in a folder that the caller names, but
for django, flask and gin, which come from the registries where no clone is there; and the traps of `tests/traps/` (`traps`).

The record is `result-completeness.json` in the working folder; of a part that is left out, the record of the last run stays.
Partial answers to be read lie in `completeness/partial.toml` there. Exits with 1 where a figure that is required is not reached.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ci.bench import corpora, sample, traps, witness
from ci.bench.corpora import Bench
from ci.bench.engines import lspidx, run_once
from indexer.store.generations import Home

PARTS = ("witness", "sample", "traps")
WITNESSED = ("flask", "django/")

MOST_SILENT_PERCENT = 1.0
"""Of the edges that are missed, those of whose callee the answer says "complete"."""
LEAST_COMPLETE_PERCENT = 70.0
LEAST_MATTERING_PERCENT = 90.0
"""Of the partial answers that a person has read."""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m ci.bench.completeness", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("clones", type=Path, nargs="?", help=f"a folder of clones: {', '.join(sample.REPOSITORIES)}")
    parser.add_argument("--out", type=Path, default=Path(".bench"), help="working folder, kept between runs (default: .bench)")
    parser.add_argument("--only", choices=PARTS, action="append", help="one part only; may be repeated")
    parser.add_argument("--again", action="store_true", help="make the indexes that are there anew")
    parser.add_argument("--report", action="store_true", help="print the tables of the last record, and measure nothing")
    arguments = parser.parse_args()
    bench = Bench(arguments.out.absolute())
    bench.folder.mkdir(parents=True, exist_ok=True)
    place = bench.folder / "result-completeness.json"
    result: dict[str, Any] = json.loads(place.read_text(encoding="utf-8")) if place.is_file() else {}
    for part in () if arguments.report else arguments.only or PARTS:
        if part == "witness":
            result["witness"] = _witness(bench, again=arguments.again)
        elif part == "sample":
            result["sample"], result["left_out"] = _sample(bench, arguments.clones, again=arguments.again)
        else:
            result["traps"] = _traps(bench)
        place.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if "sample" in result:
        result["read"] = sample.judged(_partial(bench))
    print(to_markdown(result))
    missed = failures(result)
    print("\n".join(["", "required and not met:", *missed] if missed else ["", "what is required is met"]), file=sys.stderr)
    return 1 if missed else 0


def _partial(bench: Bench) -> Path:
    return bench.folder / "completeness" / "partial.toml"


# ---- the parts


def _witness(bench: Bench, *, again: bool) -> dict[str, Any]:
    corpora.fetch_python(bench, ["flask", "django"])
    pyrefly = witness.install(bench)
    found: dict[str, Any] = {}
    for name in WITNESSED:
        corpus = bench.corpora("python")[name]
        if again or Home(corpus.root).current() is None:
            run_once(bench, corpus, lspidx(corpus))
        found[name] = witness.compare(witness.edges(witness.report(bench, corpus, pyrefly), corpus.root), corpus.root)
        _say(f"{name}: {sum(found[name]['edges'].values())} edges compared, {len(found[name]['missed'])} missed")
    return found


def _sample(bench: Bench, clones: Path | None, *, again: bool) -> tuple[list[dict[str, Any]], list[str]]:
    """The answers, and the repositories that could not be had."""
    sources = {name: source for name in sample.REPOSITORIES if (source := _source(bench, clones, name)) is not None}
    if again:
        shutil.rmtree(bench.folder / "completeness" / "work", ignore_errors=True)
    asked: list[sample.Asked] = []
    for number, (name, source) in enumerate(sources.items()):
        share = sample.QUESTIONS * (number + 1) // len(sources) - sample.QUESTIONS * number // len(sources)
        asked += sample.ask_all(name, sample.indexed(bench, name, source), share)
        _say(f"{name}: {share} questions asked")
    sample.write_partial(_partial(bench), asked)
    return sample.record(asked), sorted(set(sample.REPOSITORIES) - set(sources))


def _source(bench: Bench, clones: Path | None, name: str) -> Path | None:
    """A clone, or the archive of a registry that the other benches use; None where neither can be had."""
    if clones is not None and (clones / name / ".git").exists():
        return (clones / name).absolute()
    if name in corpora.SDISTS:
        corpora.fetch_python(bench, [name])
        return bench.folder / "corpora" / corpora.SDISTS[name][1]
    if name in corpora.GO:
        corpora.fetch_go(bench, [name])
        return bench.corpora("go")[name].root
    return None


def _traps(bench: Bench) -> list[dict[str, Any]]:
    folder = bench.folder / "traps"
    shutil.rmtree(folder, ignore_errors=True)
    return [
        {
            "name": verdict.trap.name, "language": verdict.trap.language, "is_trap": verdict.trap.is_trap, "what": verdict.trap.what,
            "said": verdict.said.value, "passed": verdict.passed, "told": verdict.told,
        }
        for verdict in traps.judge_all(folder)
    ]  # fmt: skip


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


# ---- the tables


def to_markdown(result: Mapping[str, Any]) -> str:
    """The tables of the parts that the record has."""
    parts: list[str] = []
    if "witness" in result:
        parts.append(f"**Call edges that pyrefly knows**\n\n{witness.to_markdown(result['witness'])}")
    if "sample" in result:
        left_out = f"\n\nCould not be had: {', '.join(result['left_out'])}." if result["left_out"] else ""
        parts.append(f"**Sampled questions**\n\n{sample.to_markdown(result['sample'], result['read'])}{left_out}")
    if "traps" in result:
        parts.append(f"**Traps**\n\n{_traps_table(result['traps'])}")
    return "\n\n".join(parts)


def _traps_table(rows: Sequence[Mapping[str, Any]]) -> str:
    lines = [
        "| language | traps | the use is a row | a reason names it | doubt that does not | silent | harmless | complete | cries wolf |",
        f"|---|{'---:|' * 8}",
    ]
    for language in [*dict.fromkeys(row["language"] for row in rows), ""]:
        chosen = [row for row in rows if row["language"] == language or not language]
        planted = [row["said"] for row in chosen if row["is_trap"]]
        harmless = [row["said"] for row in chosen if not row["is_trap"]]
        cells = [len(planted), *(planted.count(said) for said in (traps.Said.ROW, traps.Said.NAMED, traps.Said.PARTIAL, traps.Said.SILENT))]
        cells += [len(harmless), *(harmless.count(said) for said in (traps.Said.COMPLETE, traps.Said.WOLF))]
        lines.append(f"| {language or 'all'} | {' | '.join(map(str, cells))} |")
    failed = [f"{row['name']} ({row['said']})" for row in rows if not row["passed"]]
    return "\n".join([*lines, *(["", f"Not passed: {', '.join(failed)}."] if failed else [])])


def failures(result: Mapping[str, Any]) -> list[str]:
    """What is required and not met, one sentence each."""
    found: list[str] = []
    for corpus, compared in result.get("witness", {}).items():
        silent = sum(item["said"] == "silent" for item in compared["missed"])
        share = 100 * silent / max(len(compared["missed"]), 1)
        if share > MOST_SILENT_PERCENT:
            found.append(
                f"{corpus}: of {share:.1f} % of the missed edges the answer says complete, required at most {MOST_SILENT_PERCENT:g} %"
            )
    asked = result.get("sample", [])
    share = 100 * sum(item["status"] == "complete" for item in asked) / max(len(asked), 1)
    if asked and share < LEAST_COMPLETE_PERCENT:
        found.append(f"{share:.0f} % of the sampled answers are complete, required at least {LEAST_COMPLETE_PERCENT:g} %")
    read = result.get("read", {"matters": 0, "wolf": 0})
    said = read["matters"] + read["wolf"]
    if said and 100 * read["matters"] / said < LEAST_MATTERING_PERCENT:
        found.append(f"{read['wolf']} of {said} partial answers that were read could not matter, at most one in ten may be so")
    if wrong := [row["name"] for row in result.get("traps", []) if not row["passed"]]:
        found.append(f"{len(wrong)} of {len(result['traps'])} traps and harmless cases are not passed")
    return found


if __name__ == "__main__":
    sys.exit(main())

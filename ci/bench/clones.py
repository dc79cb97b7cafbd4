"""What `lspidx index` makes of repositories as git gives them: `make bench-clones CLONES=folder`.

Each folder in CLONES is one clone, which is never changed: the commit that it has checked out is cloned again for each stage, indexed
there, measured, looked at, and removed. `before` is `lspidx index` in that clone, `after` is `lspidx index --fetch`, with the download
included in its time. Servers are the installed ones, but what is downloaded goes to folders that are new for each stage, as on a machine
that has never seen the repository. A result is one file below `results/`, so a run that is interrupted goes on where it was; one working
folder holds the results of one state of lspidx.

Of each index, callers are drawn (the same ones from the same index) and written to `callers/`, with an empty `verdict` beside the line
of source that is said to be the call. Who has read it writes `right` or `wrong` there, with a `why` for a wrong one, and the table counts
them.

Exits with 1 where a clone could not be measured because this program failed; such a clone has no result.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tomllib
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ci.bench import clones_table
from ci.bench.memory import measure
from indexer.servers.installed import servers_dir
from indexer.store.generations import Home

COMMAND = Path(sys.executable).with_name("lspidx")
STAGES = {"before": (), "after": ("--fetch",)}
"""The options of each stage's command."""

SAMPLED = 10
_SOURCE_CHARS = 200
_DEFINITION = "textDocument/definition"
_REPLACED = "server replaced: memory="

Result = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m ci.bench.clones", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("clones", type=Path, nargs="?", help="a folder of clones")
    parser.add_argument("--out", type=Path, default=Path(".bench/clones"), help="working folder")
    parser.add_argument("--stage", choices=[*STAGES], action="append", help="one of them only; may be repeated")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these clones only")
    parser.add_argument("--jobs", type=int, default=2, help="of lspidx index")
    parser.add_argument("--limit", type=float, default=900.0, metavar="SECONDS", help="for one run of lspidx index")
    parser.add_argument("--lspidx", type=Path, default=COMMAND, help="the command to run")
    parser.add_argument("--again", action="store_true", help="measure what has a result, too")
    parser.add_argument("--keep", action="store_true", help="leave the indexed clones in the working folder")
    parser.add_argument("--report", action="store_true", help="print the table of the results that are there, and measure nothing")
    arguments = parser.parse_args()
    bench = Bench(arguments.out.absolute(), arguments.lspidx.absolute(), jobs=arguments.jobs, limit_s=arguments.limit)
    failed: list[str] = []
    if not arguments.report:
        if arguments.clones is None or not arguments.clones.is_dir():
            parser.error("a folder of clones is needed: make bench-clones CLONES=folder")
        failed = bench.measure_all(
            arguments.clones.absolute(), arguments.stage or [*STAGES], arguments.only, again=arguments.again, keep=arguments.keep
        )
    found = bench.results()
    (bench.folder / "result.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    table = clones_table.to_markdown(found)
    (bench.folder / "result.md").write_text(table + "\n", encoding="utf-8")
    print(table)
    for name in failed:
        print(f"not measured, the benchmark failed: {name}", file=sys.stderr)
    return 1 if failed else 0


class Bench:
    """The working folder and how lspidx is run."""

    def __init__(self, folder: Path, command: Path, *, jobs: int, limit_s: float) -> None:
        self.folder, self._command, self._jobs, self._limit_s = folder, command, jobs, limit_s
        self._servers = servers_dir()
        for name in ("results", "callers", "log"):
            (folder / name).mkdir(parents=True, exist_ok=True)

    def measure_all(self, clones: Path, stages: Sequence[str], only: Sequence[str], *, again: bool, keep: bool) -> list[str]:
        """Measures what has no result, the smallest first; the names of clones on which this program failed."""
        there = [path for path in clones.iterdir() if (path / ".git").exists()]
        unknown = set(only) - {path.name for path in there}
        if unknown:
            raise SystemExit(f"no clone in {clones}: {', '.join(sorted(unknown))}")
        failed: list[str] = []
        for clone in sorted((path for path in there if not only or path.name in only), key=_size):
            for stage in stages:
                if (self._result(clone.name, stage)).is_file() and not again:
                    continue
                try:
                    found = self.measure(clone, stage, keep=keep)
                except Exception:  # ours, so it says nothing of lspidx; the others are measured all the same
                    traceback.print_exc()
                    failed.append(f"{clone.name} ({stage})")
                else:
                    print(clones_table.line(found), file=sys.stderr, flush=True)
        return failed

    def _result(self, name: str, stage: str) -> Path:
        return self.folder / "results" / f"{name}-{stage}.json"

    def measure(self, clone: Path, stage: str, *, keep: bool = False) -> Result:
        """Indexes a copy of the clone and says what came of it; what is not complete leaves no result."""
        place = self.folder / "work" / stage / clone.name
        remove(place)
        place.mkdir(parents=True)
        root = place / clone.name
        commit = _git(clone, "rev-parse", "HEAD")
        subprocess.run(["git", "clone", "--quiet", "--shared", str(clone), str(root)], check=True)
        assert _git(root, "rev-parse", "HEAD") == commit
        options = ["--jobs", str(self._jobs), *STAGES[stage]]
        run = measure(
            [str(self._command), "index", *options, str(root)],
            cwd=root,
            environment=self._environment(place),
            log=self.folder / "log" / f"{clone.name}-{stage}.log",
            limit_s=self._limit_s,
        )
        found: Result = {"name": clone.name, "stage": stage, "commit": commit, "jobs": self._jobs, "limit_s": self._limit_s, **asdict(run)}
        found["source_files"] = len(_git(root, "ls-files").splitlines())
        found["index"] = _look(root)
        if found["index"] is not None:
            _write_callers(self._callers(clone.name, stage), sample_callers(root))
        text = json.dumps(found, indent=1) + "\n"
        beside = self._result(clone.name, stage).with_suffix(".tmp")
        beside.write_text(text, encoding="utf-8")
        os.replace(beside, self._result(clone.name, stage))
        if not keep:
            remove(place)
        return found

    def _callers(self, name: str, stage: str) -> Path:
        return self.folder / "callers" / f"{name}-{stage}.toml"

    def _environment(self, place: Path) -> Mapping[str, str]:
        """The caller's, but for what would bring the repository's dependencies along: active environments, filled caches."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "LSPIDX_", "VIRTUAL_ENV", "CONDA_"))}
        home = place / "machine"
        (home / "lspidx").mkdir(parents=True)
        (home / "lspidx" / "servers").symlink_to(self._servers, target_is_directory=True)
        cargo = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
        (home / "cargo").mkdir()
        if (cargo / "config.toml").is_file():  # where crates come from on this machine
            shutil.copyfile(cargo / "config.toml", home / "cargo" / "config.toml")
        return {
            **kept,
            "LSPIDX_SERVERS_DIR": str(home / "lspidx" / "servers"),  # what --fetch brings goes beside it
            "GOMODCACHE": str(home / "go"),
            "CARGO_HOME": str(home / "cargo"),
        }

    def results(self) -> list[Result]:
        """All results that are there, each with what people say of its callers."""
        found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((self.folder / "results").glob("*.json"))]
        return [{**item, "callers": judged(self._callers(item["name"], item["stage"]))} for item in found]


def _size(clone: Path) -> tuple[int, str]:
    return len(_git(clone, "ls-files").splitlines()), clone.name


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def remove(place: Path) -> None:
    """Go's module cache is read-only."""
    if place.is_dir():
        for folder, _, _ in os.walk(place):
            if not os.path.islink(folder):
                os.chmod(folder, 0o755)
        shutil.rmtree(place)


# ---- what is in an index


def _look(root: Path) -> Result | None:
    """What the index of `root` covers, as its own views and manifest say; None where there is none."""
    import duckdb

    home = Home(root)
    database = home.current()
    if database is None:
        return None
    manifest = home.manifest()
    if not manifest:
        raise RuntimeError(f"the index in {root} has no manifest that can be read")
    with duckdb.connect(str(database), read_only=True) as connection:

        def counts(sql: str) -> dict[str, Any]:
            return dict(connection.execute(sql).fetchall())

        asked = f"SELECT language, c.status, c.reason FROM coverage c JOIN documents USING (path) WHERE method = '{_DEFINITION}'"
        found: Result = {
            "documents": counts("SELECT language, count(*) FROM documents WHERE status <> 'skipped' GROUP BY ALL ORDER BY ALL"),
            "lost": counts(f"SELECT split_part(reason, ':', 1), count(*) FROM ({asked}) WHERE status = 'lost' GROUP BY ALL ORDER BY ALL"),
            "lost_by_language": counts(f"SELECT language, count(*) FROM ({asked}) WHERE status = 'lost' GROUP BY ALL ORDER BY ALL"),
            "not_served": counts(f"SELECT language, count(*) FROM ({asked}) WHERE status = 'skipped' GROUP BY ALL ORDER BY ALL"),
            "lost_otherwise": counts(
                f"SELECT method, count(*) FROM coverage WHERE status = 'lost' AND method <> '{_DEFINITION}' GROUP BY ALL ORDER BY ALL"
            ),
            "skipped": manifest.get("skipped") or {},
            "resolution": manifest.get("resolution") or {},
            "counts": manifest.get("counts") or {},
            "prerequisites": [{key: item[key] for key in ("language", "name", "remedy")} for item in manifest.get("prerequisites") or []],
            "restarts": manifest.get("server_restarts", 0),
            "replaced": _replaced(home.log_file),
            "partial": bool(manifest.get("partial")),
            "environment": manifest.get("environment", ""),
            "servers": {item["name"]: item["version"] for item in manifest.get("servers") or []},
        }
    return {**found, "naming_nothing": _naming_nothing(root)}


def _naming_nothing(root: Path) -> dict[str, float]:
    """By language with many unresolved identifiers, the part of these of which it is known that they name nothing here."""
    from query.facts import unresolved
    from query.facts.index import open_index

    with open_index(root) as index:
        return {item["language"]: item["naming_nothing"] for item in unresolved.reasons(index)}


def _replaced(log: Path) -> int:
    """How often a server was replaced because it had grown too large."""
    return log.read_text(encoding="utf-8", errors="replace").count(_REPLACED) if log.is_file() else 0


# ---- callers, for reading


def sample_callers(root: Path) -> list[dict[str, str]]:
    """Ten calls of symbols of the repository, each of another symbol; which ones follows from where they are alone."""
    import duckdb

    database = Home(root).require()
    sql = (
        "SELECT b.qualified_name, b.path || ':' || (b.sel_line + 1), a.qualified_name, c.path, c.line, c.col, c.evidence FROM ("
        " SELECT *, md5(path || ':' || line || ':' || col || ':' || callee) AS draw FROM calls"
        " WHERE callee IN (SELECT symbol FROM symbols WHERE NOT is_external)"
        " QUALIFY row_number() OVER (PARTITION BY callee ORDER BY draw, caller) = 1) c "
        "JOIN symbols a ON a.symbol = c.caller JOIN symbols b ON b.symbol = c.callee ORDER BY c.draw, c.callee LIMIT ?"
    )
    with duckdb.connect(str(database), read_only=True) as connection:
        rows = connection.execute(sql, [SAMPLED]).fetchall()
    return [
        {
            "symbol": symbol,
            "defined": defined or "",
            "caller": caller,
            "place": f"{path}:{line + 1}:{col + 1}",
            "evidence": evidence,
            "source": _source_line(root / path, line),
        }
        for symbol, defined, caller, path, line, col, evidence in rows
    ]


def _source_line(path: Path, line: int) -> str:
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    return lines[line].strip()[:_SOURCE_CHARS] if line < len(lines) else ""


_HEAD = '# Is `symbol`, which is defined at `defined`, what is called at `place`, and by `caller`? verdict = "right" or "wrong"\n'


def _write_callers(place: Path, sample: Sequence[Mapping[str, str]]) -> None:
    """Verdicts that were given on the same rows stay, each with its reason."""
    known = {(item["symbol"], item["caller"], item["place"]): item for item in _read_callers(place)}
    parts = [_HEAD]
    for item in sample:
        before = known.get((item["symbol"], item["caller"], item["place"]), {})
        row = {**item, "verdict": before.get("verdict", ""), **({"why": before["why"]} if before.get("why") else {})}
        parts.append("\n[[caller]]\n" + "".join(f"{key} = {toml_text(value)}\n" for key, value in row.items()))
    place.write_text("".join(parts), encoding="utf-8")


def toml_text(text: str) -> str:
    """A basic string: JSON's escapes are TOML's, but for characters beyond the first plane and DEL."""
    return json.dumps(text.encode("utf-8", "replace").decode(), ensure_ascii=False).replace("\x7f", "\\u007f")


def _read_callers(place: Path) -> Iterable[dict[str, str]]:
    """Raises ValueError where a person has left something that is no TOML, or another word for a verdict."""
    if not place.is_file():
        return []
    try:
        rows: list[dict[str, str]] = tomllib.loads(place.read_text(encoding="utf-8")).get("caller", [])
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{place}: {error}") from error
    for row in rows:
        if row.get("verdict", "") not in ("", "right", "wrong"):
            raise ValueError(f"{place}: the verdict on {row['place']} is '{row['verdict']}', neither 'right' nor 'wrong'")
    return rows


def judged(place: Path) -> dict[str, int]:
    """How many callers were drawn, and what was said of them."""
    verdicts = [row.get("verdict", "") for row in _read_callers(place)]
    return {"drawn": len(verdicts), "right": verdicts.count("right"), "wrong": verdicts.count("wrong")}


if __name__ == "__main__":
    sys.exit(main())

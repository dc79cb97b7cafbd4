"""`python -m ci.bench.agent_tasks`: prepares three repositories, runs the tasks over MCP, prints the table; with `--write` into the page.

Exits with 1 where a fact was wrong, a task came to a dead end, or an answer took more than it may beside search and reading.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from ci.bench.agent_tasks import go_tasks, python_tasks, typescript_tasks
from ci.bench.agent_tasks.report import failures, table, written_into
from ci.bench.agent_tasks.repositories import REPOSITORIES, copy_of, prepare, sources
from ci.bench.agent_tasks.work import Agent, DeadEndError, Reader, Row, Task
from ci.bench.agents import opened

TASKS = sorted((*python_tasks.TASKS, *typescript_tasks.TASKS, *go_tasks.TASKS), key=lambda task: (task.number, task.repository))
PAGE = Path("query/doc/agents.md")


def main() -> int:
    options = _options()
    chosen = [task for task in TASKS if _is_chosen(task, options.only)]
    folder = options.folder.absolute() / "agent-tasks"
    roots = {name: prepare(REPOSITORIES[name], options.clones.absolute(), folder) for name in sorted({task.repository for task in chosen})}
    rows: list[Row] = []
    for task in chosen:
        rows.append(asyncio.run(run(task, roots[task.repository], folder)))
        print(f"{task.number} {task.title} ({task.repository}): {rows[-1]}", file=sys.stderr, flush=True)
    rows = joined(rows, options.folder / "agent-tasks.json")
    text = table(rows)
    print(text)
    if options.write and len(rows) == len(TASKS):
        PAGE.write_text(written_into(PAGE.read_text(encoding="utf-8"), text), encoding="utf-8")
    missed = failures(rows)
    print("\n".join(missed), file=sys.stderr)
    return 1 if missed else 0


def joined(rows: Sequence[Row], record: Path) -> list[Row]:
    """Rows of earlier runs, each replaced by that of a later one, by number; the record is written anew."""
    known = [Row(**row) for row in json.loads(record.read_text(encoding="utf-8"))["rows"]] if record.is_file() else []
    tasks = {(task.number, task.repository) for task in TASKS}
    newest = {(row.number, row.repository): row for row in (*known, *rows) if (row.number, row.repository) in tasks}
    found = [newest[key] for key in sorted(newest)]
    date = datetime.now(UTC).date().isoformat()
    record.write_text(json.dumps({"date": date, "rows": [asdict(row) for row in found]}, indent=1) + "\n", encoding="utf-8")
    return found


async def run(task: Task, root: Path, folder: Path) -> Row:
    """A task in a copy of its repository: by reading first, which changes nothing, then over MCP."""
    from mcp import StdioServerParameters

    copy = copy_of(root, folder / f"at-work-{task.number}-{task.repository}", indexed=task.indexed)
    reader = Reader(root=copy, files=sources(copy, REPOSITORIES[task.repository].source))
    task.by_reading(reader)
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "query.cli", "-C", str(copy), "mcp", "--allow-edits"], cwd=str(Path.cwd()), env=dict(os.environ)
    )
    log = folder / f"task-{task.number}-{task.repository}.log"
    wrong: list[str] = []
    dead_ends: list[str] = []
    async with contextlib.AsyncExitStack() as stack:
        agent = Agent(session=await opened(stack, server, stack.enter_context(log.open("w", encoding="utf-8"))))
        try:
            wrong = await task.work(agent, copy)
        except DeadEndError as error:
            dead_ends = [str(error)]
    log.with_suffix(".txt").write_text(
        "\n".join(f"##### {tool} {json.dumps(given)}\n{text}\n" for tool, given, text in agent.log), encoding="utf-8"
    )
    return Row(
        number=task.number,
        title=task.title,
        repository=task.repository,
        calls=agent.calls,
        characters=agent.characters,
        whole=reader.whole,
        sparing=reader.sparing,
        wrong=wrong,
        dead_ends=dead_ends,
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m ci.bench.agent_tasks", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--clones", type=Path, default=Path(".bench/repositories"), help="folder with clones of kombu, fast-check and go-git"
    )
    parser.add_argument("--folder", type=Path, default=Path(".bench"), help="where work trees and results are kept")
    parser.add_argument("--only", nargs="*", default=[], metavar="TASK", help="numbers, repositories, or both: 2-kombu")
    parser.add_argument("--write", action="store_true", help=f"write the table into {PAGE}, once every task has run")
    return parser.parse_args()


def _is_chosen(task: Task, only: list[str]) -> bool:
    return not only or not {str(task.number), task.repository, f"{task.number}-{task.repository}"}.isdisjoint(only)


if __name__ == "__main__":
    raise SystemExit(main())

"""A hostile tree costs bounded time: questions and seconds per file and per unit, and what is cut is a gap with its reason."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import crawl_with_fake, fake_server, rows, write_tree

from indexer.config import Config, load_config
from indexer.crawl import pool
from indexer.crawl.messages import Limits
from indexer.crawl.run import Crawl
from indexer.crawl.worker.limits import Budget
from indexer.errors import ConfigError, ServerError
from indexer.model import Trust
from indexer.store.generations import Home
from query.facts import hierarchy
from query.facts.index import open_index
from query.surface.registry import call

CrawlWith = Callable[..., Crawl]

GENERATED = "import a\n" + "".join(f"def first{number}(x):\n    return x.first{number}\n" for number in range(30)) + "a.first()\n"
FILES = {
    "a.py": "def first():\n    return second()\n\ndef second():\n    return len('x')\n",
    "b.py": GENERATED,
    "c.py": "import a\n\nclass Child(a.Base):\n    pass\n\na.first()\n",
}
POISON = "# POISON\nimport a\nclass Poisoned:\n    def method(self):\n        return self.method().elsewhere\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "work", FILES)


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which the fake server writes down each request."""
    monkeypatch.setenv("FAKE_RECORD", str(tmp_path / "record"))
    return tmp_path / "record"


@pytest.fixture
def crawl_with(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, root: Path) -> CrawlWith:

    def go(script: str, *, timeout_s: float = 20.0, full: bool = False, spec: dict[str, Any] | None = None, **settings: Any) -> Crawl:
        found = fake_server(script, tmp_path / "pids", **{"open": "none", "timeout_s": timeout_s, **(spec or {})})
        return crawl_with_fake(root, found, full=full, **settings)

    return go


def _statuses(done: Crawl) -> dict[str, str]:
    return dict(rows(done.generation, "SELECT path, status FROM documents ORDER BY path"))


def _coverage(done: Crawl, path: str) -> dict[str, tuple[str, str]]:
    found = rows(done.generation, "SELECT method, status, reason FROM coverage WHERE path = ?", path)
    return {method.rpartition("/")[2]: (status, reason) for method, status, reason in found}


def _asked(record: Path, path: str) -> int:
    return sum(path in line for line in record.read_text().splitlines())


# ---- questions


@pytest.mark.slow
def test_a_file_that_would_ask_too_much_is_asked_about_in_part_and_the_answers_say_so(crawl_with: CrawlWith, record: Path) -> None:
    """The first questions keep their answers; callers of what the rest may use are not complete; no loss, so nothing is asked again."""
    done = crawl_with("good", max_file_questions=12)
    assert _asked(record, "b.py") == 12
    assert _statuses(done) == {"a.py": "ok", "b.py": "partial", "c.py": "ok"}
    status, reason = _coverage(done, "b.py")["definition"]
    assert status == "done"
    assert reason.startswith("questions_cut: 10 of ")
    assert _coverage(done, "b.py")["hover"][0] == "skipped"
    assert _coverage(done, "b.py")["hover"][1].startswith("questions_cut: 0 of ")
    assert done.manifest["lost"] == {}
    with open_index(done.root) as index:
        answer = call(index, "find_callers", {"symbol": "a.first"})
        reasons = {item.code: item for item in answer.completeness.reasons}
        assert answer.completeness.status == "partial"
        assert reasons["questions_cut"].paths == ["b.py"]
    assert crawl_with("good", max_file_questions=12).up_to_date
    whole = crawl_with("good")
    assert not whole.up_to_date
    assert set(_statuses(whole).values()) == {"ok"}


@pytest.mark.slow
def test_a_refresh_cuts_the_same_questions_as_a_crawl_of_everything(crawl_with: CrawlWith, root: Path) -> None:
    crawl_with("good", max_file_questions=12)
    (root / "b.py").write_text(GENERATED + "a.second()\n")
    sql = "SELECT path, line, col, name, symbol, evidence FROM occurrences ORDER BY ALL"
    refreshed = rows(crawl_with("good", max_file_questions=12).generation, sql)
    assert refreshed == rows(crawl_with("good", max_file_questions=12, full=True).generation, sql)


@pytest.mark.slow
def test_a_unit_that_asks_too_much_loses_its_last_files_and_the_next_run_goes_on(crawl_with: CrawlWith) -> None:
    done = crawl_with("good", max_unit_questions=20)
    assert _statuses(done) == {"a.py": "ok", "b.py": "ok", "c.py": "lost"}
    assert _coverage(done, "c.py")["definition"] == ("lost", "question_limit")
    with open_index(done.root) as index:
        reasons = {item.code for item in call(index, "find_callers", {"symbol": "a.first"}).completeness.reasons}
    assert "lost_question_limit" in reasons
    assert set(_statuses(crawl_with("good", max_unit_questions=20)).values()) == {"ok"}


# ---- seconds


@pytest.mark.slow
def test_files_that_hold_a_server_are_not_all_given_the_same_time_again(crawl_with: CrawlWith, root: Path, record: Path) -> None:
    """Of eight, three are tried a second time, none a third; their neighbours have their answers."""
    for number in range(8):
        (root / f"poison_{number}.py").write_text(POISON)
    done = crawl_with("poison_hang", timeout_s=0.5)
    statuses = _statuses(done)
    assert {path for path, status in statuses.items() if status == "lost"} == {f"poison_{number}.py" for number in range(8)}
    assert {statuses[path] for path in FILES} == {"ok"}
    assert _coverage(done, "poison_3.py")["definition"] == ("lost", "server_timeout")
    assert done.manifest["server_restarts"] <= 8 + 3


@pytest.mark.slow
def test_a_file_that_takes_too_long_is_lost_though_every_answer_comes(crawl_with: CrawlWith, root: Path, record: Path) -> None:
    """Two tenths of a second for each of hundreds of questions: no silence is long, and all together are."""
    defined = "".join(f"def x{number}(): pass\n" for number in range(300))
    (root / "slow.py").write_text("# POISON\nimport a\n" + "".join(f"a.x{number}\n" for number in range(300)) + defined)
    done = crawl_with("poison_slow_at_definition", max_file_s=1.0, spec={"window": 4})
    status, reason = _coverage(done, "slow.py")["definition"]
    kept = re.fullmatch(r"time_limit: (\d+) of (\d+) answered", reason)
    assert status == "lost"
    assert kept is not None
    assert 0 < int(kept[1]) < int(kept[2])
    sql = "SELECT count(*) FROM occurrences WHERE path = 'slow.py' AND evidence = 'definition' AND symbol IS NOT NULL"
    assert rows(done.generation, sql)[0][0] > 0  # what came in time is kept
    assert {_statuses(done)[path] for path in FILES} == {"ok"}
    assert _asked(record, "slow.py") < 100


@pytest.mark.slow
def test_a_unit_that_takes_too_long_ends_with_a_gap_for_the_rest(crawl_with: CrawlWith, root: Path, record: Path) -> None:
    for number in range(4):
        (root / f"z_slow_{number}.py").write_text("# POISON\nimport a\n" + "".join(f"a.x{number}\n" for number in range(200)))
    done = crawl_with("poison_late_at_definition", max_unit_s=2.0, spec={"window": 4})
    lost = {path for path, status in _statuses(done).items() if status == "lost"}
    assert {_coverage(done, path)["definition"][1].partition(":")[0] for path in lost} == {"time_limit"}
    assert "z_slow_3.py" in lost
    assert _asked(record, "z_slow") < 150


LOADS = {"ready": "progress", "ready_title": "Load"}


@pytest.mark.slow
def test_a_server_that_says_for_ever_how_far_it_has_loaded_is_ended_when_its_time_is_over(crawl_with: CrawlWith, root: Path) -> None:
    """It is never silent, and fifteen times its limit of silence would be five minutes here."""
    with pytest.raises(ServerError, match="time that there was for it"):
        crawl_with("progress_goes_on", max_load_s=2.0, spec=LOADS)
    assert Home(root).current() is None


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["hangs_at_initialize", "trickles_at_initialize"])
def test_a_server_that_hangs_at_its_start_is_ended_when_its_time_is_over(crawl_with: CrawlWith, fault: str) -> None:
    with pytest.raises(ServerError, match="time that there was for it"):
        crawl_with(fault, max_load_s=2.0)


@pytest.mark.slow
def test_what_a_server_loads_after_it_was_lost_is_time_of_the_unit(crawl_with: CrawlWith, root: Path) -> None:
    """The second one says for ever that it loads: what the unit had before stays, and the rest of it is a gap."""
    (root / "poison.py").write_text(POISON)
    done = crawl_with("poison_dies_and_then_loads_for_ever", max_unit_s=4.0, spec={**LOADS, "open": "each"})
    assert _coverage(done, "poison.py")["definition"] == ("lost", "time_limit")
    assert {_statuses(done)[path] for path in FILES} == {"ok"}
    assert done.manifest["server_restarts"] == 2


@pytest.mark.slow
def test_a_worker_that_hangs_is_ended_and_only_its_document_is_lost(
    crawl_with: CrawlWith, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not even say that it waits, as it would in a parser that takes hours."""
    monkeypatch.setattr(pool, "_LEAST_SILENCE_S", 5.0)
    (root / "poison.py").write_text(POISON)
    done = crawl_with("poison_stop_client", max_file_s=5.0, trust=Trust.FULL)
    assert _statuses(done) == {**dict.fromkeys(FILES, "ok"), "poison.py": "lost"}
    assert _coverage(done, "poison.py")["definition"] == ("lost", "time_limit")


# ---- the rules


def _budget(**limits: Any) -> Budget:
    budget = Budget(Limits(**limits), 60.0)
    budget.begin(0.0)
    return budget


def test_patience_shrinks_with_each_file_that_holds_a_server_and_never_below_an_honest_answer() -> None:
    budget = _budget()
    said = [budget.patience_s("fresh.py", 0.0)]
    for number in range(6):
        budget.held(f"{number}.py")
        said.append(budget.patience_s("fresh.py", 0.0))
    assert said == [60.0, 30.0, 15.0, 7.5, 3.75, 3.75, 3.75]
    assert budget.patience_s("0.py", 0.0) == 3.75
    budget.charge("slow.py", 4.0, answered=False)
    budget.charge("slow.py", 4.0, answered=True)
    assert budget.patience_s("fresh.py", 0.0) == 24.0


def test_so_many_hanging_files_take_less_than_as_many_times_the_timeout() -> None:
    """45 of them, each at its first try, and at its second where it has one: two times 60 s each would be 90 minutes."""
    budget = _budget(file_s=180.0)
    total_s, again = 0.0, list[str]()
    for number in range(45):
        path = f"{number}.py"
        total_s += budget.patience_s(path, 0.0)
        budget.held(path)
        again += [path] if budget.may_try_again(path) else []
    for path in again:
        total_s += budget.patience_s(path, 0.0)
        budget.held(path)
        assert not budget.may_try_again(path)
    assert len(again) == 3
    assert total_s < 300


def test_a_files_and_a_units_seconds_bound_the_patience() -> None:
    budget = _budget(file_s=100.0, unit_s=1_000.0)
    budget.charge("a.py", 70.0, answered=True)
    assert budget.patience_s("a.py", 0.0) == 30.0
    assert budget.patience_s("b.py", 0.0) == 60.0
    assert budget.patience_s("b.py", 980.0) == 20.0
    budget.excuse(500.0)  # loading
    assert budget.patience_s("b.py", 980.0) == 60.0
    budget.begin(2_000.0)
    assert budget.file_left_s("a.py") == 100.0
    assert budget.unit_left_s(2_500.0) == 500.0
    assert budget.load_left_s() == math.inf
    bounded = _budget(unit_s=1_000.0, load_s=60.0)
    for _ in range(3):
        bounded.excuse(50.0)  # a server that is replaced again and again for its memory
    assert bounded.load_left_s() == 0.0
    assert bounded.unit_left_s(1_000.0) == 60.0
    assert Counter(budget.questions_left(asked) > 0 for asked in (0, 10**9)) == {True: 2}  # 0: no limit


# ---- questions to a hostile index


@pytest.mark.slow
def test_a_chain_of_overrides_is_followed_up_to_a_bound_and_the_answer_says_so(
    crawl_with: CrawlWith, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chain of 5,000 classes has 12.5 million pairs: 1.4 GB, and minutes."""
    bases = ((number, f"(C{number - 1})" if number else "") for number in range(20))
    (root / "chain.py").write_text("".join(f"class C{number}{base}:\n    def run(self): ...\n" for number, base in bases))
    done = crawl_with("good")
    with open_index(done.root) as index:
        whole = call(index, "blast_radius", {"changed_files": ["chain.py"]})
        monkeypatch.setattr(hierarchy, "MAX_OVERRIDDEN", 30)
        cut = call(index, "blast_radius", {"changed_files": ["chain.py"]})
        members = [sym_id for (sym_id,) in index.rows("SELECT sub_id FROM override ORDER BY 1")]
        assert 30 <= len(hierarchy.overridden(index, members)) < 50
    assert "overrides_bound" not in {item.code for item in whole.completeness.reasons}
    assert "overrides_bound" in {item.code for item in cut.completeness.reasons}
    assert cut.completeness.status == "partial"


# ---- the settings


def _load(root: Path, text: str, **environment: str) -> Config:
    (root / "lspidx.toml").write_text(text)
    return load_config(root, environment=environment, user_dir=root / "user")


def test_a_project_may_lower_what_it_may_cost_and_never_raise_it(tmp_path: Path) -> None:
    assert _load(tmp_path, "max_file_s = 10.0").max_file_s == 10.0
    for value in ("0", "1e9", "nan", "-1", "181.0"):
        found = _load(tmp_path, f"max_file_s = {float(value)}")
        assert found.max_file_s == Config().max_file_s
        assert found.withheld == ("max_file_s of lspidx.toml",)
    (tmp_path / "user").mkdir()
    (tmp_path / "user" / "config.toml").write_text("max_file_s = 0.0\nmax_unit_questions = 5")
    assert _load(tmp_path, "max_file_s = 500.0").max_file_s == 500.0
    assert _load(tmp_path, "max_unit_questions = 6").max_unit_questions == 5
    assert _load(tmp_path, "max_unit_questions = 6", LSPIDX_MAX_UNIT_QUESTIONS="7").max_unit_questions == 7


@pytest.mark.parametrize("text", ["request_timeout_s = nan", "request_timeout_s = 1e9", "[language.go]\ntimeout_s = inf"])
def test_a_project_cannot_make_a_server_be_waited_for_without_end(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match="timeout_s"):
        _load(tmp_path, text)

"""What each test costs in seconds of processor, and the choice that a quick run makes by it.

The cost of a test is what this process, the children that it has waited for and the commands that it has run (commands.py) have spent
between its beginning and its end, without the fixtures that it shares with other tests; that of a function is the mean over its
parameters. `costs.json` holds the functions above `QUICK_S` and the cheaper ones that are marked `slow`, as `make costs` has measured
them; processor time depends little on what else the machine does. A function that is in no record is run unless it is marked, so a new
test cannot be missing from a quick run by mistake; if it is found to cost much more, the run writes it into the record, for the next one.

Beside functions, the record holds how many seconds a module took from its first test to its last, fixtures and waiting included: by that
the modules are put in order where processes run them side by side. `pytest --write-costs tests/test_x.py` measures that module alone.
"""

from __future__ import annotations

import json
import resource
import sys
from collections import Counter
from collections.abc import Collection, Generator, Mapping
from pathlib import Path

import commands
import pytest

RECORD = Path(__file__).with_name("costs.json")
QUICK_S = 0.05
"""Above this a function is left out of a quick run. Half of all tests are below, and together they cost less than a check of the types."""

LEARNT_S = 4 * QUICK_S
"""What a quick run finds to cost more, it writes down. In between lies what runs beside much else."""

LEARNT_SUM_S = 2.0
"""Likewise a function that costs more with all its parameters, whatever one of them does."""

MANY_MODULES = 20
"""What loads more is the first to need them: the next would be, in its place."""

UNKNOWN_MODULE_S = 60.0
"""What a module is taken to last that the record does not have. It comes among the long ones: were it one of them, and last, it would run
alone, and nothing is lost if it is a short one.
"""

_PROPERTY, _SHARED, _LOADED = "processor_s", "shared_processor_s", "loaded_modules"
_SHOWN = 12


def _spent() -> float:
    ours = sum(part.ru_utime + part.ru_stime for part in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
    return ours + commands.spent_s()


def function_of(nodeid: str) -> str:
    """`test_x.py::test_y` of any of its parameters."""
    return nodeid.partition("[")[0].removeprefix("tests/")


def load() -> dict[str, float]:
    return json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.is_file() else {}


class Meter:
    """Puts the cost of each phase into its report; where several processes run the tests, each has one."""

    def __init__(self) -> None:
        self._since = _spent()
        self._shared = 0.0
        self._modules = len(sys.modules)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> None:
        """What the collection cost is no test's; it would be the first one's."""
        self._since, self._modules = _spent(), len(sys.modules)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
        before, within = _spent(), self._shared
        try:
            return (yield)
        finally:
            if fixturedef.scope != "function":
                self._shared = within + _spent() - before  # what it asked for in its turn is in there

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        now = _spent()
        spent, modules = max(0.0, now - self._since - self._shared), len(sys.modules)
        report.user_properties += [(_PROPERTY, spent), (_SHARED, self._shared), (_LOADED, modules - self._modules)]
        self._since, self._shared, self._modules = now, 0.0, modules
        return report


class Tally:
    """Adds up what the reports say, and writes the record at the end where that is wanted.

    learns: functions that are in no record and cost much are added to it.
    """

    def __init__(self, *, writes: bool, learns: bool = False) -> None:
        self.writes, self.learns = writes, learns
        self.learnt: dict[str, float] = {}
        self.by_test: dict[str, float] = {}
        self.shared: Counter[str] = Counter()
        self.elapsed: Counter[str] = Counter()
        self.cut: set[str] = set()
        self.marked: set[str] = set()
        self.loading: set[str] = set()

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        """What is left of such a module does not say how long it takes."""
        self.cut.update(map(_module_of, items))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "setup":
            self.by_test[report.nodeid] = 0.0
            if "slow" in report.keywords:
                self.marked.add(function_of(report.nodeid))
        said = dict(report.user_properties)  # each report repeats those before it
        self.by_test[report.nodeid] += float(str(said.get(_PROPERTY, 0.0)))
        if int(str(said.get(_LOADED, 0))) > MANY_MODULES:
            self.loading.add(function_of(report.nodeid))
        module = report.nodeid.partition("::")[0]
        self.shared[module] += float(str(said.get(_SHARED, 0.0)))
        self.elapsed[module] += report.duration

    def summary(self) -> list[str]:
        """What all tests cost, and the dearest modules: seconds of processor of their tests and of the fixtures that these share."""
        own: Counter[str] = Counter()
        for nodeid, spent in self.by_test.items():
            own[nodeid.partition("::")[0]] += spent
        dearest = sorted(own, key=lambda module: -own[module] - self.shared[module])[:_SHOWN]
        return [
            f"{len(self.by_test)} tests took {sum(own.values()):.0f} s of processor, and {sum(self.shared.values()):.0f} s what they share",
            *(f"{own[module]:>8.0f} + {self.shared[module]:>4.0f}  {module}" for module in dearest if len(own) > 1),
            *(f"{cost:>8.2f}  {name}: left out from now on, by {RECORD.name}" for name, cost in sorted(self.learnt.items())),
        ]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.writes:
            self.cut.update(f"tests/{Path(name.partition('::')[0]).name}" for name in session.config.args if "::" in name)
            whole = {function_of(module): spent for module, spent in self.elapsed.items() if module not in self.cut}
            RECORD.write_text(to_text(merge(load(), self.by_test, self.marked, whole)), encoding="utf-8")
        elif self.learns:
            known, sums = load(), Counter[str]()
            for nodeid, spent in self.by_test.items():
                sums[function_of(nodeid)] += spent
            self.learnt = {
                name: cost
                for name, cost in means(self.by_test).items()
                if (cost > LEARNT_S or (cost > QUICK_S and sums[name] > LEARNT_SUM_S)) and name not in known | dict.fromkeys(self.loading)
            }
            if self.learnt:
                RECORD.write_text(to_text(known | self.learnt), encoding="utf-8")


def means(by_test: Mapping[str, float]) -> dict[str, float]:
    """Seconds of processor of a function: the mean over its parameters."""
    costs: dict[str, list[float]] = {}
    for nodeid, spent in by_test.items():
        costs.setdefault(function_of(nodeid), []).append(spent)
    return {name: round(sum(parts) / len(parts), 2) for name, parts in costs.items()}


def merge(record: dict[str, float], by_test: dict[str, float], marked: Collection[str], elapsed: Mapping[str, float]) -> dict[str, float]:
    """The record, in which all that is said of the functions that were run is replaced, and that of modules that are gone removed.

    elapsed: seconds by name of a module of which all tests were run.
    """
    found = means(by_test)
    replaced = found.keys() | elapsed.keys()
    kept = {name: cost for name, cost in record.items() if name not in replaced and (RECORD.parent / name.partition("::")[0]).is_file()}
    modules = {name: float(round(spent)) for name, spent in elapsed.items()}
    return kept | modules | {name: cost for name, cost in found.items() if cost > QUICK_S or name in marked}


def to_text(record: dict[str, float]) -> str:
    return json.dumps(dict(sorted(record.items())), indent=0) + "\n"


def is_dear(item: pytest.Item, record: dict[str, float]) -> bool:
    """Whether a quick run leaves it out. Where it was never measured, the mark `slow` of who wrote it counts."""
    cost = record.get(function_of(item.nodeid))
    return cost > QUICK_S if cost is not None else item.get_closest_marker("slow") is not None


def leave_out_dear(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects what a quick run has no time for."""
    record = load()
    dear = [item for item in items if is_dear(item, record)]
    left_out = set(dear)
    config.hook.pytest_deselected(items=dear)
    items[:] = [item for item in items if item not in left_out]


def put_dearest_modules_first(items: list[pytest.Item]) -> None:
    """For processes side by side, each of which takes the next module when it has ended one: the long ones are not left for the end.

    A module whose length is in no record counts as what its functions cost, or as a long one if that is not known to be much.
    """
    record = load()
    known: Counter[str] = Counter()
    for item in items:
        known[_module_of(item)] += round(record.get(function_of(item.nodeid), 0.0) * 100)  # whole numbers: every process has one order
    lengths = {module: record.get(function_of(module), max(cost / 100, UNKNOWN_MODULE_S)) for module, cost in known.items()}
    items.sort(key=lambda item: (-lengths[_module_of(item)], _module_of(item)))


def _module_of(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]

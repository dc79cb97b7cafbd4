"""What `make bench-completeness` makes of a report of pyrefly, of answers and of verdicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from query_support import FILES, place
from support import crawl_with_ty, write_tree

from ci.bench import completeness, sample, witness
from ci.bench.witness import Edge

pytest_plugins = ["query_fixtures"]


def _report(folder: Path, root: Path) -> Path:
    """A report on two files of `root` and one elsewhere, as pyrefly writes it."""

    def target(module: int, function: str, name: str, **more: Any) -> dict[str, Any]:
        return {"target": {"Function": {"module_id": module, "function_id": function, "function_name": name}}, **more}

    def module(number: int, name: str, path: Path) -> dict[str, Any]:
        return {"module_id": number, "info_filename": f"{name}:{number}.json", "source_path": {"FileSystem": str(path)}}

    files = {
        "pyrefly.pysa.json": {
            "modules": {
                "1": module(1, "door", root / "door.py"),
                "2": module(2, "use", root / "use.py"),
                "3": {**module(3, "os", root), "source_path": {"BundledTypeshed": "os.pyi"}},
            }
        },
        "definitions/door:1.json": {
            "function_definitions": {
                "F:1": {"name_location": "2:9-2:18"},
                "F:2": {"name_location": "5:9-5:17"},
                "F:3": {},  # generated
            }
        },
        "definitions/use:2.json": {"function_definitions": {"F:1": {"name_location": "4:5-4:9"}}},
        "call_graphs/door:1.json": {"call_graphs": {"F:1": {"3:5-3:9": {"Call": {"call_targets": [target(3, "F:9", "open")]}}}}},
        "call_graphs/use:2.json": {
            "call_graphs": {
                "F:1": {
                    "5:10-5:14|artificial-call|with-enter": {"Call": {"call_targets": [target(1, "F:1", "__enter__")]}},
                    "6:5-7:6": {
                        "Call": {
                            "init_targets": [target(1, "F:2", "__init__"), target(1, "F:3", "__init__")],
                            "higher_order_parameters": {
                                "0": {
                                    "call_targets": [
                                        target(2, "F:1", "work"),
                                        target(1, "F:2", "__call__", implicit_dunder_call=True),
                                    ]
                                }
                            },
                        }
                    },
                    "8:1-8:4|identifier|work": {"Identifier": {"if_called": {"call_targets": [target(2, "F:1", "work")]}}},
                    "9:1-9:4": {
                        "FormatStringStringify": {"targets": ["FormatString", target(1, "F:1", "__str__")][1:]},
                        "AttributeAccess": {"property_getters": [target(1, "F:1", "width")]},
                    },
                },
                "FDT:1": {"3:2-3:9": {"Call": {"call_targets": [target(1, "F:1", "register")]}}},
            }
        },
    }
    return write_tree(folder, {name: json.dumps(value) for name, value in files.items()})


def test_an_edge_is_between_functions_of_the_project_and_says_by_which_syntax(tmp_path: Path):
    found = witness.edges(_report(tmp_path / "report", tmp_path / "work"), tmp_path / "work")
    enter, init, work = ("door.py", 2, 9), ("door.py", 5, 9), ("use.py", 4, 5)
    assert found == sorted(
        [
            Edge("use.py", 3, 3, enter, "register", "decorator"),
            Edge("use.py", 5, 5, enter, "__enter__", "with statement"),
            Edge("use.py", 6, 7, init, "__init__", "constructor"),
            Edge("use.py", 6, 7, work, "work", "passed as an argument"),
            Edge("use.py", 9, 9, enter, "__str__", "f-string"),
            Edge("use.py", 9, 9, enter, "width", "property"),
        ]
    )


def test_an_edge_that_the_index_lacks_is_silent_vague_or_named(shop_root: Path):
    def edge(path: str, first: int, callee: str) -> Edge:
        return Edge(path, first, first, ("shop/service.py", *place("shop/service.py", callee)), "f", "call by name")

    middle = "def @@middle() -> int:"
    line = place("shop/service.py", "    return @@middle() + parse")[0]
    found = witness.compare(
        [
            edge("shop/service.py", line, middle),
            edge("shop/service.py", line - 1, middle),
            edge("shop/models.py", 1, middle),
            edge("shop/service.py", 1, "    return @@middle() + parse"),
        ],
        shop_root,
    )
    assert found["edges"] == {"call by name": 3}
    assert found["not_in_index"] == 1  # nothing is defined there
    assert [(item["path"], item["line"], item["said"]) for item in found["missed"]] == [
        ("shop/service.py", line - 1, "silent"),
        ("shop/models.py", 1, "silent"),
    ]
    table = witness.to_markdown({"shop": found}).splitlines()
    assert table[2] == "| shop | 3 | 2 | 0 | 0 | 2 | 100.0 |"


def test_a_reason_that_names_the_file_of_a_missed_edge_is_honest(tmp_path: Path):
    files = {
        "a.py": "def sharpen():\n    return 1\n",
        "b.py": "from a import sharpen\n\n\ndef work(:\n    sharpen((\n",
        "c.py": "from a import sharpen\n\n\nx = 1\n",
    }
    root = write_tree(tmp_path / "work", files)
    crawl_with_ty(root, jobs=1)
    edges = [Edge(path, 4, 4, ("a.py", 1, 5), "sharpen", "call by name") for path in ("b.py", "c.py")]
    found = witness.compare(edges, root)
    assert [(item["path"], item["said"]) for item in found["missed"]] == [("b.py", "named"), ("c.py", "vague")]


# ---- the sample


def test_the_same_index_is_asked_the_same_questions_by_every_tool(shop_root: Path):
    first, again = (sample.ask_all("shop", shop_root, 14) for _ in range(2))
    assert first == again
    assert len(first) == 14
    assert {item.tool for item in first} == {
        *("find_references", "find_callers", "blast_radius", "unreferenced", "type_hierarchy", "get_tests_for_file"),
        "safe_delete_symbol",
    }
    assert all(item.about in FILES or " " in item.about or item.tool == "unreferenced" for item in first)


def test_a_verdict_stays_with_its_answer_and_counts(tmp_path: Path):
    asked = [
        sample.Asked(repository="a", tool="find_references", about=f"s{number}", status="partial", reasons=[("stale", 'one "file"')])
        for number in range(3)
    ]
    asked.append(sample.Asked(repository="a", tool="find_callers", about="known", status="complete"))
    partial = tmp_path / "partial.toml"
    sample.write_partial(partial, asked, 2)
    assert sample.judged(partial) == {"drawn": 2, "matters": 0, "wolf": 0}
    text = partial.read_text(encoding="utf-8")
    partial.write_text(
        text.replace('verdict = ""', 'verdict = "matters"', 1).replace('verdict = ""', 'verdict = "wolf"', 1), encoding="utf-8"
    )
    sample.write_partial(partial, asked, 2)
    read = sample.judged(partial)
    assert read == {"drawn": 2, "matters": 1, "wolf": 1}
    told = sample.to_markdown(sample.record(asked), read)
    assert "| all | 0 of 3 | 1 of 1 | 0 of 0 |" in told
    assert "| stale | 3 |" in told
    result = {"sample": sample.record(asked), "read": read}
    assert [line.partition(",")[0] for line in completeness.failures(result)] == [
        "25 % of the sampled answers are complete",
        "1 of 2 partial answers that were read could not matter",
    ]
    partial.write_text(text.replace('verdict = ""', 'verdict = "perhaps"', 1), encoding="utf-8")
    with pytest.raises(ValueError, match="neither 'matters' nor 'wolf'"):
        sample.judged(partial)


def test_one_silent_miss_of_a_hundred_is_let_pass_and_a_trap_is_not():
    missed = [{"kind": "loop", "said": "silent" if number == 0 else "named"} for number in range(100)]
    compared = {"edges": {"loop": 200}, "missed": missed, "said": {"loop": {}}}
    trap = {"name": "with_enter", "language": "python", "is_trap": True, "said": "row", "passed": True}
    result: dict[str, Any] = {"witness": {"flask": compared}, "traps": [trap]}
    assert completeness.failures(result) == []
    table = completeness.to_markdown(result)
    assert "| flask | 200 | 100 | 99 | 0 | 1 | 1.0 |" in table
    assert "| python | 1 | 1 | 0 | 0 | 0 | 0 | 0 | 0 |" in table
    compared["missed"] = missed[:99]
    result["traps"] = [{**trap, "said": "silent", "passed": False}]
    assert len(completeness.failures(result)) == 2
    assert "Not passed: with_enter (silent)." in completeness.to_markdown(result)

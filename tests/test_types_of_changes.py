"""What `make quick` has checked: files that changed since they were found right, and those that import them."""

from __future__ import annotations

from ci.types import ROOT, digests, importers_of, to_check

NOW = {"pyproject.toml": "s", **{f"indexer/m{number}.py": str(number) for number in range(20)}}
IMPORTERS = {"indexer/m1.py": frozenset({"indexer/m2.py", "indexer/m3.py"}), "indexer/m3.py": frozenset({"indexer/m4.py"})}


def test_nothing_is_checked_where_nothing_has_changed() -> None:
    assert to_check(NOW, NOW, IMPORTERS) == []


def test_a_changed_file_is_checked_with_those_that_import_it_and_a_new_one() -> None:
    assert to_check(NOW | {"indexer/m1.py": "old"}, NOW, IMPORTERS) == ["indexer/m1.py", "indexer/m2.py", "indexer/m3.py"]
    assert to_check({path: digest for path, digest in NOW.items() if path != "indexer/m7.py"}, NOW, IMPORTERS) == ["indexer/m7.py"]


def test_all_is_checked_where_nothing_is_known_or_settings_changed_or_a_file_is_gone_or_much_has_changed() -> None:
    assert to_check({}, NOW, IMPORTERS) is None
    assert to_check(NOW | {"pyproject.toml": "old"}, NOW, IMPORTERS) is None
    assert to_check(NOW | {"indexer/gone.py": "1"}, NOW, IMPORTERS) is None
    assert to_check({path: digest if path == "pyproject.toml" else "old" for path, digest in NOW.items()}, NOW, IMPORTERS) is None


def test_importers_and_files_of_this_project_are_named_alike() -> None:
    files, importers = digests(ROOT), importers_of(ROOT)
    assert importers.keys() <= files.keys()
    assert "query/facts/index.py" in importers["indexer/store/macros.py"]
    assert "indexer/store/merge/stages.py" in importers["indexer/store/facts.py"]

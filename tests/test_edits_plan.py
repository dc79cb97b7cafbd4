"""What an edit would make of files, and which files it may make something of at all. Nothing is written here."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from support import write_tree

from indexer.errors import EditRefused, UsageError
from indexer.text import blob_digest
from query.edits.globs import matcher
from query.edits.plan import Plan, plan_documents, plan_edit, plan_edits, plan_match, read_document, with_digests
from query.edits.scope import MAX_FILE_BYTES, Scope
from query.edits.text import Document, Edit

FILES = {
    "a.py": "one = 1\ntwo = 2\n",
    "pkg/__init__.py": "",
    "pkg/b.py": "from a import one\n",
    "pkg/deep/c@x.py": "c = 3\n",
    "pkg/deep/data.bin": b"\0\1\2",
    ".git/config": "[core]\n",
    "sub/.git": "gitdir: ../.git/modules/sub\n",
    ".lspidx/CURRENT": "gen-1\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "work", FILES)


@pytest.fixture
def scope(root: Path) -> Scope:
    return Scope(root)


def text_edit(start: tuple[int, int], end: tuple[int, int], new_text: str) -> dict[str, Any]:
    return {
        "range": {"start": {"line": start[0], "character": start[1]}, "end": {"line": end[0], "character": end[1]}},
        "newText": new_text,
    }


INSERT = text_edit((0, 0), (0, 0), "# new\n")


def changes(scope: Scope, **files: list[dict[str, Any]]) -> dict[str, Any]:
    return {"changes": {scope.uri(path): edits for path, edits in files.items()}}


def documents(*operations: dict[str, Any]) -> dict[str, Any]:
    return {"documentChanges": list(operations)}


def of(scope: Scope, path: str, *edits: dict[str, Any]) -> dict[str, Any]:
    return {"textDocument": {"uri": scope.uri(path), "version": 7}, "edits": list(edits)}


def summary(plan: Plan) -> dict[str, tuple[str, str, bytes | None]]:
    return {item.path: (item.status, item.source or item.moved_to, item.after) for item in plan.changes}


# ---- forms of a WorkspaceEdit


def test_both_forms_of_an_edit_are_understood(scope: Scope):
    edits = [text_edit((0, 0), (0, 3), "uno"), text_edit((1, 0), (1, 3), "dos")]
    for edit in ({"changes": {scope.uri("a.py"): edits}}, documents(of(scope, "a.py", *edits))):
        [change] = plan_edit(scope, edit).changed
        assert (change.after, change.edits) == (b"uno = 1\ndos = 2\n", 2)
        assert change.before_digest == blob_digest(b"one = 1\ntwo = 2\n")
        assert (change.diff.added, change.diff.removed) == (2, 2)
    both = {**documents(of(scope, "a.py", INSERT)), "changes": {scope.uri("a.py"): edits}}
    assert plan_edit(scope, both).changed[0].edits == 1
    assert plan_edit(scope, {"changes": {}}).changes == []


def test_annotated_edits_and_snippets_are_understood(scope: Scope):
    annotated = {**INSERT, "annotationId": "n"}
    rust_analyzer = {**text_edit((0, 6), (0, 7), "f(${1:x})$0"), "insertTextFormat": 2}
    lsp_3_18 = {"range": text_edit((1, 6), (1, 7), "")["range"], "snippet": {"kind": "snippet", "value": "${2:y}"}}
    plain = text_edit((1, 0), (1, 3), "${1:z}")
    edit = {**documents(of(scope, "a.py", annotated, rust_analyzer, lsp_3_18, plain)), "changeAnnotations": {"n": {"label": "why"}}}
    assert plan_edit(scope, edit).changed[0].after == b"# new\none = f(x)\n${1:z} = y\n"


def test_one_file_under_two_uris_and_in_two_parts_is_one_file_whose_positions_mean_one_text(scope: Scope):
    uri = scope.uri("pkg/deep/c@x.py")
    assert "%40" in uri
    edits = {uri: [text_edit((0, 0), (0, 1), "long name")], uri.replace("%40", "@"): [text_edit((0, 4), (0, 5), "4")]}
    assert plan_edit(scope, {"changes": edits}).changed[0].after == b"long name = 4\n"
    parts = [{"textDocument": {"uri": uri}, "edits": of_uri} for uri, of_uri in edits.items()]
    assert plan_edit(scope, documents(*parts)).changed[0].after == b"long name = 4\n"


@pytest.mark.parametrize(
    "edit",
    [
        {"change": {}},
        {"changes": []},
        {"changes": {"file:///x": [{"range": {}}]}},
        {"changes": {"file:///x": [{"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}}]}},
        {"changes": {"file:///x": [{**INSERT, "newText": 3}]}},
        {"documentChanges": [{"kind": "explode", "uri": "file:///x"}]},
        {"documentChanges": [{"uri": "file:///x"}]},
        {"lspidxDigests": {}},
    ],
)
def test_what_is_no_workspace_edit_is_refused(scope: Scope, edit: dict[str, Any]):
    with pytest.raises(UsageError, match=r"WorkspaceEdit|file operation"):
        plan_edit(scope, edit)


def test_edits_are_bounded(scope: Scope, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("query.edits.workspace_edit.MAX_FILES", 2)
    monkeypatch.setattr("query.edits.workspace_edit.MAX_EDITS", 3)
    with pytest.raises(EditRefused, match="more than 2 files"):
        plan_edit(scope, documents(*({"kind": "create", "uri": scope.uri(f"n{number}")} for number in range(3))))
    with pytest.raises(EditRefused, match="more than 3 parts"):
        plan_edit(scope, documents(of(scope, "a.py", *[INSERT] * 4)))


def test_files_are_bounded(scope: Scope, root: Path):
    (root / "large").write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    (root / "full").write_bytes(b"x" * MAX_FILE_BYTES)
    for path in ("large", "full"):
        with pytest.raises(EditRefused, match="10,000,000"):
            plan_edit(scope, documents(of(scope, path, INSERT)))


# ---- files made, renamed, deleted


def test_operations_are_done_in_their_order(scope: Scope):
    plan = plan_edit(
        scope,
        documents(
            of(scope, "a.py", INSERT),
            {"kind": "rename", "oldUri": scope.uri("a.py"), "newUri": scope.uri("new/z.py")},
            of(scope, "new/z.py", text_edit((1, 0), (1, 3), "uno")),
            {"kind": "create", "uri": scope.uri("a.py")},
            of(scope, "a.py", text_edit((0, 0), (0, 0), "from new.z import *\n")),
            {"kind": "delete", "uri": scope.uri("pkg/b.py")},
        ),
    )
    assert summary(plan) == {
        "a.py": ("changed", "", b"from new.z import *\n"),
        "new/z.py": ("renamed", "a.py", b"# new\nuno = 1\ntwo = 2\n"),
        "pkg/b.py": ("deleted", "", None),
    }
    [renamed] = plan.renamed
    assert (renamed.edits, renamed.diff.added, renamed.diff.removed) == (2, 2, 1)


def test_two_files_change_places(scope: Scope):
    swap = [("a.py", "t"), ("pkg/b.py", "a.py"), ("t", "pkg/b.py")]
    plan = plan_edit(scope, documents(*({"kind": "rename", "oldUri": scope.uri(old), "newUri": scope.uri(new)} for old, new in swap)))
    assert {item.path: (item.source, item.after) for item in plan.changes} == {
        "a.py": ("pkg/b.py", b"from a import one\n"),
        "pkg/b.py": ("a.py", b"one = 1\ntwo = 2\n"),
    }


def test_a_folder_is_renamed_with_all_that_is_in_it(scope: Scope, root: Path):
    (root / "pkg/empty").mkdir()
    rename = {"kind": "rename", "oldUri": scope.uri("pkg"), "newUri": scope.uri("lib")}
    plan = plan_edit(scope, documents(rename, of(scope, "lib/b.py", INSERT)))
    assert {item.path: item.source for item in plan.renamed} == {
        "lib/__init__.py": "pkg/__init__.py", "lib/b.py": "pkg/b.py", "lib/deep/c@x.py": "pkg/deep/c@x.py",
        "lib/deep/data.bin": "pkg/deep/data.bin",
    }  # fmt: skip
    assert (plan.made_folders, plan.gone_folders) == (["lib", "lib/deep", "lib/empty"], ["pkg", "pkg/deep", "pkg/empty"])
    assert plan.renamed[1].after == b"# new\nfrom a import one\n"


def test_options_of_file_operations_are_kept_to(scope: Scope):
    a, b, new = scope.uri("a.py"), scope.uri("pkg/b.py"), scope.uri("n.py")
    refused: list[dict[str, Any]] = [
        {"kind": "create", "uri": a},
        {"kind": "create", "uri": scope.uri("pkg")},
        {"kind": "create", "uri": scope.uri("a.py/x")},
        {"kind": "rename", "oldUri": a, "newUri": b},
        {"kind": "rename", "oldUri": new, "newUri": scope.uri("m.py")},
        {"kind": "rename", "oldUri": scope.uri("pkg"), "newUri": a, "options": {"overwrite": True}},
        {"kind": "rename", "oldUri": a, "newUri": scope.uri("pkg"), "options": {"overwrite": True}},
        {"kind": "rename", "oldUri": scope.uri("pkg"), "newUri": scope.uri("pkg/deep/pkg")},
        {"kind": "delete", "uri": new},
        {"kind": "delete", "uri": scope.uri("pkg")},
        {"kind": "delete", "uri": scope.uri("sub"), "options": {"recursive": True}},
    ]
    for operation in refused:
        with pytest.raises(EditRefused):
            plan_edit(scope, documents(operation))
    ignored: list[dict[str, Any]] = [
        {"kind": "create", "uri": a, "options": {"ignoreIfExists": True}},
        {"kind": "rename", "oldUri": a, "newUri": b, "options": {"ignoreIfExists": True}},
        {"kind": "delete", "uri": new, "options": {"ignoreIfNotExists": True}},
    ]
    assert plan_edit(scope, documents(*ignored)).changes == []
    over = {"overwrite": True, "ignoreIfExists": True}
    assert summary(plan_edit(scope, documents({"kind": "create", "uri": a, "options": over}))) == {"a.py": ("changed", "", b"")}
    moved = plan_edit(scope, documents({"kind": "rename", "oldUri": a, "newUri": b, "options": over}))
    assert summary(moved) == {"a.py": ("renamed", "pkg/b.py", None), "pkg/b.py": ("renamed", "a.py", b"one = 1\ntwo = 2\n")}
    gone = plan_edit(scope, documents({"kind": "delete", "uri": scope.uri("pkg"), "options": {"recursive": True}}))
    assert len(gone.deleted) == 4
    assert gone.gone_folders == ["pkg", "pkg/deep"]


def test_a_folder_of_the_workspace_itself_stays_where_it_is(root: Path):
    beside = write_tree(root.parent / "lib", {"l.py": ""})
    scope = Scope(root, beside=[beside])
    for folder in (root, beside):
        for operation in (
            {"kind": "delete", "uri": folder.as_uri(), "options": {"recursive": True}},
            {"kind": "rename", "oldUri": folder.as_uri(), "newUri": scope.uri("new")},
        ):
            with pytest.raises(EditRefused, match="a folder of the workspace itself"):
                plan_edit(scope, documents(operation))


def test_what_is_made_and_deleted_again_is_nothing(scope: Scope):
    new = scope.uri("n.py")
    assert plan_edit(scope, documents({"kind": "create", "uri": new}, {"kind": "delete", "uri": new})).changes == []


# ---- which files


@pytest.mark.parametrize(
    "path",
    ["../outside.py", "pkg/../../outside.py", ".git/config", ".git/hooks/post-checkout", "sub/.git", ".GIT/config", ".lspidx/CURRENT",
     "leaves/x.py", "into_git/config", "gone/x.py", "/etc/hostname", "\\\\server\\share", "//server/share", "C:\\x", "a\0b", ".", "fifo",
     "pkg/.hg/hgrc"],
)  # fmt: skip
def test_files_that_are_not_the_projects_are_refused(scope: Scope, root: Path, path: str):
    write_tree(root.parent / "other", {"x.py": ""})
    (root / "leaves").symlink_to(root.parent / "other")
    (root / "into_git").symlink_to(".git")
    (root / "gone").symlink_to("../nowhere")
    os.mkfifo(root / "fifo")
    with pytest.raises(EditRefused):
        plan_match(scope, path, "x", "y")
    if "\\" not in path:  # in a URI these are names like any other
        uri = f"file://{path if path.startswith('/') else root / path}"
        with pytest.raises(EditRefused):
            plan_edit(scope, documents({"kind": "create", "uri": uri}))


@pytest.mark.parametrize(
    "uri", ["untitled:Untitled-1", "http://x/a.py", "file://server/share/a.py", "a.py", "file://[", "jdt://contents/rt.jar/x"]
)
def test_what_is_no_file_of_this_machine_is_refused(scope: Scope, uri: str):
    with pytest.raises(EditRefused):
        plan_edit(scope, documents({"kind": "create", "uri": uri}))


def test_a_link_inside_means_the_file_that_it_leads_to(scope: Scope, root: Path):
    (root / "link.py").symlink_to("a.py")
    (root / "folder").symlink_to("pkg")
    assert [item.path for item in plan_edit(scope, documents(of(scope, "link.py", INSERT))).changes] == ["a.py"]
    assert [item.path for item in plan_match(scope, "folder/b.py", "one", "two").changes] == ["pkg/b.py"]


def test_a_workspace_that_is_reached_by_a_link_takes_paths_of_both_forms(root: Path):
    (root.parent / "alias").symlink_to(root)
    scope = Scope(root.parent / "alias")
    for path in (root / "a.py", root.parent / "alias/a.py"):
        assert plan_match(scope, str(path), "one", "uno").changes[0].path == "a.py"


def test_folders_beside_the_root_belong_to_the_workspace(root: Path):
    write_tree(root.parent / "lib", {"l.py": "l = 1\n"})
    with pytest.raises(EditRefused, match="outside the workspace"):
        plan_match(Scope(root), "../lib/l.py", "1", "2")
    scope = Scope(root, beside=[root.parent / "lib"])
    assert [item.path for item in plan_match(scope, "../lib/l.py", "1", "2").changes] == ["../lib/l.py"]
    assert scope.uri("../lib/l.py") == (root.parent / "lib/l.py").as_uri()


def test_relative_paths_are_meant_from_the_root_or_from_where_one_stands(scope: Scope, root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(root / "pkg")
    assert plan_match(scope, "b.py", "one", "two").changes[0].path == "pkg/b.py"
    assert plan_match(scope, "a.py", "one", "two").changes[0].path == "a.py"


@pytest.mark.parametrize(
    ("glob", "fits", "does_not"),
    [
        ("vendor/**", ["vendor/a.py", "vendor/b/c.py"], ["my/vendor/a.py", "vendors/a.py"]),
        ("**/*_gen.go", ["x_gen.go", "a/b/x_gen.go"], ["x_gen.go.txt", "x_gen.py"]),
        ("*.pb.go", ["a.pb.go", "deep/a.pb.go"], ["a.go"]),
        ("src/*.py", ["src/a.py"], ["src/deep/a.py"]),
        ("./a?.[ch]", ["ab.c", "ab.h"], ["a.c", "ab.d", "abc.c"]),
        ("[!a].py", ["b.py"], ["a.py"]),
    ],
)
def test_globs_say_which_files_are_left_alone(glob: str, fits: list[str], does_not: list[str]):
    left_out = matcher([glob])
    assert [path for path in (*fits, *does_not) if left_out(path)] == fits


def test_files_that_are_left_alone_are_named(scope: Scope):
    plan = plan_edit(scope, documents(of(scope, "a.py", INSERT), of(scope, "pkg/b.py", INSERT)), ["pkg/**"])
    assert ([item.path for item in plan.changes], plan.excluded) == (["a.py"], ["pkg/b.py"])
    with pytest.raises(UsageError, match="no glob"):
        plan_edit(scope, {"changes": {}}, ["[z-a]"])


# ---- the text that an edit was made for


def test_an_edit_with_digests_is_refused_once_a_file_has_changed(scope: Scope, root: Path):
    edit = with_digests(scope, documents(of(scope, "a.py", INSERT), of(scope, "pkg/b.py", INSERT)))
    assert len(plan_edit(scope, edit).changes) == 2
    (root / "pkg/b.py").write_text("from a import two\n")
    with pytest.raises(EditRefused, match=r"'pkg/b.py' has changed since the edit was made"):
        plan_edit(scope, edit)
    assert [item.path for item in plan_edit(scope, edit, ["pkg/*"]).changes] == ["a.py"]
    (root / "pkg/b.py").unlink()
    with pytest.raises(EditRefused):
        plan_edit(scope, edit)


def test_an_edit_of_others_is_refused_where_its_places_are_not_there(scope: Scope):
    with pytest.raises(EditRefused, match=r"'a.py' has 3 lines, and no place 10:1"):
        plan_edit(scope, documents(of(scope, "a.py", text_edit((9, 0), (9, 0), "x"))))
    with pytest.raises(EditRefused, match=r"no file 'n.py'"):
        plan_edit(scope, documents(of(scope, "n.py", INSERT)))
    with pytest.raises(EditRefused, match="binary"):
        plan_edit(scope, documents(of(scope, "pkg/deep/data.bin", INSERT)))


def test_edits_that_change_nothing_are_named_and_nothing_is_written(scope: Scope):
    plan = plan_edit(scope, documents(of(scope, "a.py", text_edit((0, 0), (0, 3), "one"))))
    assert (plan.changes, plan.unchanged) == ([], ["a.py"])


def test_a_plan_as_an_edit_is_the_same_plan(scope: Scope):
    edit = documents(
        of(scope, "a.py", INSERT, text_edit((1, 6), (2, 0), "é😀")),
        {"kind": "rename", "oldUri": scope.uri("pkg/b.py"), "newUri": scope.uri("lib/b.py")},
        of(scope, "lib/b.py", INSERT),
        {"kind": "create", "uri": scope.uri("n.py")},
        of(scope, "n.py", INSERT),
        {"kind": "delete", "uri": scope.uri("pkg/__init__.py")},
    )
    plan = plan_edit(scope, edit)
    made = plan.as_workspace_edit(scope)
    assert summary(plan_edit(scope, made)) == summary(plan)
    assert made["lspidxDigests"][scope.uri("a.py")] == blob_digest(b"one = 1\ntwo = 2\n")
    assert {path: document.text for path, document in plan.documents().items()} == {
        "a.py": "# new\none = 1\ntwo = é😀", "lib/b.py": "# new\nfrom a import one\n", "n.py": "# new\n",
    }  # fmt: skip


def test_edits_by_path_and_whole_documents_make_the_same_plans(scope: Scope):
    path, document = read_document(scope, "a.py")
    edits = [Edit(start=(0, 0), end=(0, 3), new_text="uno")]
    by_edit = plan_edits(scope, {path: edits}, {path: document.digest})
    whole = plan_documents(scope, {path: document.edited(edits), "n.py": Document(text="n\n"), "pkg/b.py": None}, {path: document.digest})
    assert by_edit.changes[0].after == whole.changes[0].after == b"uno = 1\ntwo = 2\n"
    assert [(item.path, item.status) for item in whole.changes] == [("a.py", "changed"), ("n.py", "created"), ("pkg/b.py", "deleted")]
    with pytest.raises(EditRefused, match="has changed"):
        plan_edits(scope, {path: edits}, {path: "0" * 40})
    with pytest.raises(EditRefused, match="has changed"):
        plan_documents(scope, {path: document}, {path: ""})


def test_a_match_says_how_it_was_found(scope: Scope):
    assert plan_match(scope, "a.py", "one = 1", "one = 3").matched == "exact"
    assert plan_match(scope, "a.py", "  one  = 1\n", "  one = 3\n").matched == "indentation"
    with pytest.raises(UsageError, match="old_text is empty"):
        plan_match(scope, "a.py", "", "x")
    with pytest.raises(UsageError, match="path is empty"):
        plan_match(scope, "", "x", "x")
    with pytest.raises(EditRefused, match=r"no file 'n.py'"):
        plan_match(scope, "n.py", "x", "x")

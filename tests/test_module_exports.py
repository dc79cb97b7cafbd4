"""What `module.exports` of one line makes of the names that a file is required by: the module, and where it is called, what it exports."""

from __future__ import annotations

from pathlib import Path

from support import crawl_with_ty, write_tree
from toolchains import requires

from query.facts.index import open_index

FILES = {
    "package.json": '{"name": "made", "version": "1.0.0", "main": "index.js"}',
    "index.js": "'use strict';\nmodule.exports = require('./lib/made');\n",
    "lib/made.js": "exports = module.exports = createMade;\n"
    "function createMade() { return { run: function () {} }; }\n"
    "createMade.config = 1;\n",
    "lib/only.js": "module.exports = (a) => a;\n",
    "lib/inner.js": "(function (module) { module.exports = 1; })({});\nexports.named = 2;\n",
    "app.js": "var made = require('./lib/made');\nvar app = module.exports = made();\napp.run();\n",
    "use.js": "var app = require('./app');\nvar made = require('.');\n"
    "var only = require('./lib/only');\nvar inner = require('./lib/inner');\n"
    "console.log(app, made.config, inner.named);\nmade();\nonly(1);\n",
}


def _means(root: Path, path: str, *names: str) -> set[tuple[str, int, str]]:
    with open_index(root) as index:
        rows = index.rows(
            "SELECT o.name, o.line + 1, coalesce(s.qualified_name, '?') FROM occ o JOIN document d USING (doc_id) "
            "LEFT JOIN symbol s USING (sym_id) "
            "WHERE d.path = $path AND list_contains($names, o.name) AND NOT has_role(o.roles, 'definition')",
            {"path": path, "names": list(names)},
        )
    return {(name, line, meant) for name, line, meant in rows}


def test_a_required_file_is_its_module_and_what_it_exports_where_it_is_called(tmp_path: Path):
    """After an edit, too, when what the others point at is known by its key alone."""
    requires("ts7")
    root = write_tree(tmp_path / "work", FILES)
    for text in (FILES["use.js"], f"{FILES['use.js']}console.log(app);\n"):
        write_tree(root, {"use.js": text})
        crawl_with_ty(root, jobs=1)
        found = _means(root, "use.js", "app", "made", "only", "inner")
        assert {("app", 5, "app"), ("made", 5, "index")} <= found
        assert ("inner", 5, "?") in found, "a parameter called module is given something, and no file exports it"
        assert {meant for name, line, meant in found if (name, line) == ("made", 6)} == {"lib.made.createMade"}
        assert not {meant for name, line, meant in found if (name, line) == ("only", 7)} & {"lib.only"}, "what is called is no module"
        with open_index(root) as index:
            [(calls,)] = index.rows("SELECT count(*) FROM call_in c JOIN symbol s ON s.sym_id = c.callee WHERE is_kind(s.kind, 'module')")
        assert calls == 0
    write_tree(root, {"app.js": f"{FILES['app.js']}console.log(made);\n"})
    crawl_with_ty(root, jobs=1)
    assert ("app", 5, "app") in _means(root, "use.js", "app"), "use.js was not asked about again"

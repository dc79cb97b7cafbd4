-- The contract: what `lspidx sql` users may rely on. Lines and columns are 0-based, columns UTF-16, ends half-open,
-- symbols are monikers, paths are relative to the workspace root. Paths of files outside the workspace are portable keys
-- (`pip:werkzeug@3.1.3/werkzeug/local.py`). Columns may be added at the end; none is renamed or removed without a new
-- SCHEMA_VERSION. The first column list of each view is the promise, `extra` columns follow it.

-- Files: crawled (ok, partial, lost), read for the names in them only (manifest), and skipped; `digest` is git's blob name of the content.
CREATE VIEW documents AS
SELECT path, folder, language, lines, digest, status, reason, module, is_test, size_bytes FROM (
    SELECT d.path, f.name AS folder, d.language, d.line_count AS lines, d.digest, d.status, '' AS reason, d.module, d.is_test, d.size_bytes
    FROM document d JOIN folder f ON f.prefix = '' AND d.path[:3] <> '../' OR f.prefix <> '' AND starts_with(d.path, f.prefix) WHERE d.status <> 'external'
    UNION ALL
    SELECT k.path, f.name, k.language, NULL, NULL, 'skipped', k.reason, NULL, NULL, NULL FROM skipped k JOIN folder f ON f.prefix = '' AND k.path[:3] <> '../' OR f.prefix <> '' AND starts_with(k.path, f.prefix)
) ORDER BY path;

-- Named entities, also of files outside the workspace that something here refers to (path is then a key, positions are
-- null); locals and parameters have `is_local`.
CREATE VIEW symbols AS
SELECT s.moniker AS symbol, s.name, s.qualified_name, k.label AS kind,
       d.path,
       CASE WHEN NOT has_flag(s.flags, 'external') THEN s.start_line END AS start_line,
       CASE WHEN NOT has_flag(s.flags, 'external') THEN s.start_col END AS start_col,
       CASE WHEN NOT has_flag(s.flags, 'external') THEN s.end_line END AS end_line,
       CASE WHEN NOT has_flag(s.flags, 'external') THEN s.end_col END AS end_col,
       CASE WHEN NOT has_flag(s.flags, 'external') THEN s.sel_line END AS sel_line,
       CASE WHEN NOT has_flag(s.flags, 'external') THEN s.sel_col END AS sel_col,
       c.moniker AS container, coalesce(t.signature, '') AS signature, coalesce(t.documentation, '') AS documentation,
       has_flag(s.flags, 'exported') AS exported,
       has_flag(s.flags, 'local') AS is_local, has_flag(s.flags, 'external') AS is_external, coalesce(t.hover, '') AS hover
FROM symbol s
JOIN document d USING (doc_id)
JOIN kind k ON k.kind = s.kind
LEFT JOIN symbol c ON c.sym_id = s.container_id
LEFT JOIN symbol_text t ON t.sym_id = s.sym_id;

-- Every identifier of every crawled document, once per symbol that it means; symbol is null where nobody knows.
-- The target is the symbol's selection start, null outside the workspace folders.
CREATE VIEW occurrences AS
SELECT d.path, o.line, o.col, o.end_col, o.name, r.labels AS roles, s.moniker AS symbol,
       CASE WHEN NOT has_flag(s.flags, 'external') THEN td.path END AS target_path,
       CASE WHEN NOT has_flag(s.flags, 'external') THEN s.sel_line END AS target_line,
       CASE WHEN NOT has_flag(s.flags, 'external') THEN s.sel_col END AS target_col,
       e.moniker AS enclosing, ev.label AS evidence
FROM occ o
JOIN document d USING (doc_id)
JOIN role_set r ON r.roles = o.roles
JOIN evidence ev ON ev.evidence = o.evidence
LEFT JOIN symbol s ON s.sym_id = o.sym_id
LEFT JOIN document td ON td.doc_id = s.doc_id
LEFT JOIN symbol e ON e.sym_id = o.encl_id;

-- One row per call site and callee. Evidence: syntax, definition and same_binding are certain; the others say how the edge came about.
-- via: of evidence flow, how the callee came there (argument, returned, stored, container, decorated, attribute, inferred_type); else none.
CREATE VIEW calls AS
SELECT a.moniker AS caller, b.moniker AS callee, d.path, c.line, c.col, ev.label AS evidence, c.end_col, v.label AS via
FROM call_in c
JOIN symbol a ON a.sym_id = c.caller
JOIN symbol b ON b.sym_id = c.callee
JOIN document d ON d.doc_id = c.doc_id
JOIN evidence ev ON ev.evidence = c.evidence
JOIN via v ON v.via = c.via;

-- The same, of calls that values may make, and that are too uncertain to be among the calls: one of many at its place, or an operation on
-- what may be of the language's own types.
CREATE VIEW possible_calls AS
SELECT a.moniker AS caller, b.moniker AS callee, d.path, c.line, c.col, ev.label AS evidence, c.end_col, v.label AS via
FROM possible_call c
JOIN symbol a ON a.sym_id = c.caller
JOIN symbol b ON b.sym_id = c.callee
JOIN document d ON d.doc_id = c.doc_id
JOIN evidence ev ON ev.evidence = c.evidence
JOIN via v ON v.via = c.via;

-- Places at which values were not followed on: megamorphic (more than 16 targets), cut (too deep or too long a text), steps (the whole took
-- too many).
CREATE VIEW flow_gaps AS
SELECT d.path, g.line, g.col, g.end_col, e.moniker AS enclosing, g.reason
FROM flow_gap g JOIN document d USING (doc_id) LEFT JOIN symbol e ON e.sym_id = g.encl_id;

CREATE VIEW type_edges AS
SELECT a.moniker AS subtype, b.moniker AS supertype, ev.label AS evidence
FROM type_edge t
JOIN symbol a ON a.sym_id = t.sub_id
JOIN symbol b ON b.sym_id = t.super_id
JOIN evidence ev ON ev.evidence = t.evidence;

-- A member and the nearest member of the same name that it overrides.
CREATE VIEW overrides AS
SELECT a.moniker AS member, b.moniker AS overridden
FROM override o JOIN symbol a ON a.sym_id = o.sub_id JOIN symbol b ON b.sym_id = o.super_id;

CREATE VIEW diagnostics AS
SELECT d.path, x.line, x.col, x.end_line, x.end_col,
       severity_label(x.severity) AS severity,
       x.code, x.source, x.message
FROM diagnostic x JOIN document d USING (doc_id);

-- What was asked of whom and how it went: status is done, empty, unsupported, lost or skipped.
CREATE VIEW coverage AS
SELECT d.path, c.method, CASE WHEN c.method = 'syntax' THEN 'tree-sitter' ELSE coalesce(a.server, v.name) END AS server,
       c.status, c.reason, c.asked, c.answered
FROM document_coverage c JOIN document d USING (doc_id) LEFT JOIN served a USING (path)
LEFT JOIN (SELECT language, min(name) AS name FROM server GROUP BY language) v USING (language)
UNION ALL
SELECT k.path, '*', v.name, 'skipped', k.reason, 0, 0
FROM skipped k LEFT JOIN (SELECT language, min(name) AS name FROM server GROUP BY language) v USING (language);

-- Workspace folders: a path belongs to the folder whose prefix it begins with.
CREATE VIEW folders AS SELECT name, prefix, commit_sha, dirty FROM folder;

CREATE VIEW servers AS SELECT name, version, language, command, fingerprint, position_encoding, capabilities FROM server;

CREATE VIEW runs AS SELECT * FROM run;

-- What is done to values without naming the member that runs, where their type is unknown, or known and only its subtypes have the member.
CREATE VIEW unresolved_operations AS
SELECT d.path, u.line, u.col, u.end_col, w.label AS operation, e.moniker AS enclosing, t.moniker AS type
FROM unresolved_operation u JOIN document d USING (doc_id) JOIN operation w USING (operation)
LEFT JOIN symbol e ON e.sym_id = u.encl_id LEFT JOIN symbol t ON t.sym_id = u.type_id;

-- Calls of what a variable holds or an expression gives: what flows there is known in part.
CREATE VIEW open_calls AS
SELECT d.path, c.line, c.col, c.end_col, c.name, e.moniker AS enclosing
FROM open_call c JOIN document d USING (doc_id) LEFT JOIN symbol e ON e.sym_id = c.encl_id;

-- Imports that no one could resolve, by dotted module as written.
CREATE VIEW unresolved_imports AS
SELECT d.path, u.line, u.module FROM unresolved_import u JOIN document d USING (doc_id);

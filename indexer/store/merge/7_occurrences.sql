-- What identifiers mean, by document and by symbol, with what was found by following values.
-- Takes: symbol, type_edge; ancestor, final_occ; flow_meaning, flow_stop and flow_base (what `indexer.store.flow` found).
-- Makes: occ (by document), refs (by symbol), unresolved_name, unresolved_call, unresolved_base, override, type_edge_rev, flow_gap. Adds to
-- final_occ. For the next stages: open_occ.

-- What a class extends that is made where it says so: `class A extends mixin(B)`, `class A extends require("./b")`.
-- Needs: flow_base.
INSERT INTO type_edge BY NAME
SELECT DISTINCT f.encl_id AS sub_id, f.sym_id AS super_id, evidence('flow')::UTINYINT AS evidence
FROM flow_base f ANTI JOIN type_edge t ON t.sub_id = f.encl_id AND t.super_id = f.sym_id
WHERE f.sym_id IS NOT NULL AND f.encl_id IS NOT NULL
ORDER BY ALL;

-- Needs: flow_base.
INSERT INTO ancestor
WITH RECURSIVE up(sub_id, super_id, depth) USING KEY (sub_id, super_id) AS (
    SELECT DISTINCT sub_id, super_id, 1 FROM type_edge
    UNION
    SELECT DISTINCT u.sub_id, t.super_id, u.depth + 1 FROM up u JOIN type_edge t ON t.sub_id = u.super_id
    WHERE u.depth < 30
      AND NOT EXISTS (SELECT 1 FROM recurring.up known WHERE known.sub_id = u.sub_id AND known.super_id = t.super_id)
)
SELECT sub_id, super_id, depth FROM up u
WHERE sub_id <> super_id AND NOT EXISTS (SELECT 1 FROM ancestor known WHERE known.sub_id = u.sub_id AND known.super_id = u.super_id);

-- Attributes that no server resolved, and whose object was followed to here. Something else may reach the place all the same, so each stays
-- among the unresolved: a list that has the row says still what it may lack.
-- Needs: flow_meaning. Else: doc_id INTEGER, *occurrences - enclosing - symbol - target - evidence, sym_id INTEGER, encl_id INTEGER,
-- evidence UTINYINT
CREATE TEMP TABLE open_occ AS
SELECT o.* FROM final_occ o SEMI JOIN flow_meaning m ON m.doc_id = o.doc_id AND m.line = o.line AND m.col = o.col WHERE o.sym_id IS NULL;

-- Needs: open_occ.
INSERT INTO final_occ BY NAME
SELECT o.* REPLACE (m.sym_id AS sym_id, evidence('flow')::UTINYINT AS evidence)
FROM open_occ o JOIN flow_meaning m ON m.doc_id = o.doc_id AND m.line = o.line AND m.col = o.col;

-- Needs: open_occ.
DELETE FROM final_occ WHERE sym_id IS NULL AND (doc_id, line, col) IN (SELECT doc_id, line, col FROM open_occ);

-- Needs: flow_stop. Else: doc_id INTEGER, line INTEGER, col INTEGER, end_col INTEGER, encl_id INTEGER, reason VARCHAR
CREATE TABLE flow_gap AS
SELECT DISTINCT doc_id, line, col, end_col, encl_id, reason FROM flow_stop ORDER BY ALL;

-- Needs: ancestor. Else: sub_id INTEGER, super_id INTEGER
CREATE TABLE override AS
SELECT m.sym_id AS sub_id, arg_min(b.sym_id, (a.depth, b.sym_id)) AS super_id
FROM symbol m
JOIN ancestor a ON a.sub_id = m.container_id
JOIN symbol b ON b.container_id = a.super_id AND b.name = m.name
-- A method or a property may stand in for what is a variable of the class above.
WHERE is_kind(m.kind, 'method', 'property', 'constructor')
  AND is_kind(b.kind, 'method', 'property', 'constructor', 'field', 'variable', 'constant') AND NOT has_flag(b.flags, 'parameter')
GROUP BY m.sym_id
ORDER BY ALL;

-- Needs: type_edge. Else: super_id INTEGER, sub_id INTEGER, evidence UTINYINT
CREATE TABLE type_edge_rev AS SELECT super_id, sub_id, evidence FROM type_edge ORDER BY super_id, sub_id, evidence;

CREATE TABLE occ AS
SELECT * FROM final_occ WHERE NOT is_evidence(evidence, 'callee_type', 'inferred')
ORDER BY doc_id, line, col, sym_id;

CREATE TABLE refs AS
SELECT sym_id, doc_id, line, col, end_col, roles, encl_id, evidence
FROM final_occ WHERE sym_id IS NOT NULL AND NOT is_evidence(evidence, 'callee_type')
ORDER BY sym_id, doc_id, line, col;

-- Identifiers that nobody could resolve: each may be a reference that a list lacks.
CREATE TABLE unresolved_name AS
SELECT name, doc_id, line, col, end_col, roles, encl_id
FROM (SELECT * FROM final_occ WHERE sym_id IS NULL AND NOT is_evidence(evidence, 'callee_type', 'inferred') UNION ALL SELECT * FROM open_occ)
WHERE NOT has_role(roles, 'definition')
ORDER BY name, doc_id, line, col;

-- Calls whose callee nobody knows, by the function that makes them; bases that nobody knows, by their class.
-- Needs: unresolved_name. Else: encl_id INTEGER, name VARCHAR, doc_id INTEGER, line INTEGER, col INTEGER
CREATE TABLE unresolved_call AS
SELECT encl_id, name, doc_id, line, col FROM unresolved_name WHERE has_role(roles, 'call') ORDER BY encl_id, line, col;

-- Needs: unresolved_name or flow_base. Else: class_id INTEGER, name VARCHAR, doc_id INTEGER
CREATE TABLE unresolved_base AS
SELECT encl_id AS class_id, reason AS name, doc_id FROM flow_base WHERE sym_id IS NULL AND encl_id IS NOT NULL
UNION ALL
SELECT s.sym_id AS class_id, u.name, u.doc_id
FROM unresolved_name u
JOIN symbol s ON s.doc_id = u.doc_id AND s.container_id = u.encl_id AND is_type(s.kind)
 AND (s.start_line, s.start_col) <= (u.line, u.col) AND (u.line, u.col) < (s.end_line, s.end_col)
WHERE has_role(u.roles, 'supertype')
ORDER BY ALL;

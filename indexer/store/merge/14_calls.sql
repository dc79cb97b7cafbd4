-- Who calls whom, of all that is told and of what values lead to.
-- Takes: document, symbol, symbol_text, type_edge; raw_call, constructor, final_occ, around_of, nameless, nameless_call; flow_call (what `indexer.store.flow` found).
-- Makes: call_in (by callee), call_out (the same by caller), possible_call (by flow, and uncertain: not among the others), open_call.

-- A library may declare one thing by an interface, a variable, and the interface of what constructs it: the type is told, once.
-- Needs: language:satisfies=shape. Else: doc_id INTEGER, line INTEGER, col INTEGER, sym_id INTEGER, name VARCHAR
CREATE TEMP TABLE told_type AS
SELECT DISTINCT r.doc_id, r.line, r.col, s.sym_id, s.name
FROM raw_call r JOIN symbol s ON s.sym_id = r.callee JOIN document d ON d.doc_id = r.doc_id
WHERE is_type(s.kind) AND has_flag(s.flags, 'external') AND is_evidence(r.evidence, 'definition', 'same_binding')
  AND language_has(d.language, 'satisfies', 'shape');
-- Needs: told_type.
DELETE FROM raw_call WHERE (doc_id, line, col, callee) IN (
    SELECT r.doc_id, r.line, r.col, r.callee FROM raw_call r
    JOIN told_type t ON t.doc_id = r.doc_id AND t.line = r.line AND t.col = r.col AND t.sym_id <> r.callee
    JOIN symbol s ON s.sym_id = r.callee AND has_flag(s.flags, 'external')
    WHERE s.name = t.name OR is_evidence(r.evidence, 'callee_type') AND is_type(s.kind)
);

-- What a line was known to call is not told again at another column of it.
-- Needs: flow_call. Else: callee INTEGER, encl_id INTEGER, doc_id INTEGER, line INTEGER, col INTEGER, end_col INTEGER, is_possible
-- BOOLEAN, via UTINYINT
CREATE TEMP TABLE new_call AS
SELECT callee, encl_id, doc_id, line, col, end_col, min(is_possible) AS is_possible, min(via) AS via
FROM (SELECT * FROM flow_call UNION ALL SELECT f.* REPLACE (k.sym_id AS callee) FROM flow_call f JOIN constructor k ON k.class_id = f.callee) f
WHERE encl_id >= 0
  AND NOT EXISTS (SELECT 1 FROM raw_call r WHERE r.callee = f.callee AND r.caller = f.encl_id AND r.doc_id = f.doc_id AND r.line = f.line)
GROUP BY ALL;

-- Needs: new_call. Else: callee INTEGER, caller INTEGER, doc_id INTEGER, line INTEGER, col INTEGER, end_col INTEGER, evidence UTINYINT,
-- via UTINYINT
CREATE TABLE possible_call AS
SELECT callee, encl_id AS caller, doc_id, line, col, end_col, evidence('possible_flow')::UTINYINT AS evidence, via FROM new_call p WHERE is_possible
  AND NOT EXISTS (FROM new_call s WHERE NOT s.is_possible AND s.callee = p.callee AND s.encl_id = p.encl_id AND s.doc_id = p.doc_id AND s.line = p.line)
ORDER BY callee, doc_id, line, col, caller;

-- `via`: of evidence `flow`, how the callee came there.
-- Needs: raw_call or new_call. Else: callee INTEGER, caller INTEGER, doc_id INTEGER, line INTEGER, col INTEGER, end_col INTEGER, evidence
-- UTINYINT, via UTINYINT
CREATE TABLE call_in AS
SELECT callee, caller, doc_id, line, col, end_col, min(evidence)::UTINYINT AS evidence, 0::UTINYINT AS via
FROM raw_call WHERE caller IS NOT NULL
GROUP BY ALL
UNION ALL
SELECT callee, encl_id, doc_id, line, col, end_col, evidence('flow')::UTINYINT, via FROM new_call WHERE NOT is_possible
ORDER BY callee, doc_id, line, col, caller;

-- Needs: call_in. Else: caller INTEGER, callee INTEGER, doc_id INTEGER, line INTEGER, col INTEGER, end_col INTEGER, evidence UTINYINT,
-- via UTINYINT
CREATE TABLE call_out AS
SELECT caller, callee, doc_id, line, col, end_col, evidence, via FROM call_in
ORDER BY caller, line, col, callee;

-- Calls of what a variable holds: what flows there is known in part.
CREATE TEMP TABLE called_value AS
SELECT o.encl_id, s.name, o.doc_id, o.line, o.col, o.end_col
FROM final_occ o JOIN symbol s ON s.sym_id = o.sym_id LEFT JOIN symbol_text t ON t.sym_id = s.sym_id
WHERE has_role(o.roles, 'call') AND NOT has_role(o.roles, 'definition') AND o.encl_id IS NOT NULL
  AND is_value(s.kind) AND NOT has_flag(s.flags, 'property', 'external') AND NOT is_evidence(o.evidence, 'inferred', 'flow', 'second_server')
  -- what a module is required as is what it exports
  AND NOT contains(coalesce(t.signature, ''), '= require(');

-- Where the server told which function a call of a value runs. A protocol's own `__call__` is what it has to look like, and not what runs.
-- Needs: called_value. Else: doc_id INTEGER, line INTEGER, col INTEGER
CREATE TEMP TABLE told_callee AS
SELECT o.doc_id, o.line, o.col FROM final_occ o JOIN symbol s ON s.sym_id = o.sym_id
ANTI JOIN (SELECT t.sub_id FROM type_edge t JOIN symbol p ON p.sym_id = t.super_id AND p.name = 'Protocol') p
       ON p.sub_id = s.container_id AND s.name = '__call__'
WHERE is_evidence(o.evidence, 'callee_type') AND EXISTS (FROM called_value);

-- Calls of what a variable holds or an expression gives, by who makes them: `name`: of the variable, else ''.
-- Needs: called_value or nameless. Else: encl_id INTEGER, name VARCHAR, doc_id INTEGER, line INTEGER, col INTEGER, end_col INTEGER
CREATE TABLE open_call AS
SELECT DISTINCT o.* FROM called_value o ANTI JOIN told_callee c ON c.doc_id = o.doc_id AND c.line = o.line AND c.col = o.col
UNION
SELECT e.sym_id, '', n.doc_id, n.line, n.col, n.end_col
FROM nameless n JOIN around_of e ON e.doc_id = n.doc_id AND e.ordinal = n.enclosing
ANTI JOIN nameless_call k ON k.doc_id = n.doc_id AND k.line = n.line AND k.col = n.col AND k.operation = n.operation
-- Of a sign that stands behind a name it is the name that is called.
ANTI JOIN final_occ f ON is_basis(n.basis, 'sign') AND f.doc_id = n.doc_id AND f.line = n.line AND f.end_col = n.col
WHERE n.operation = operation('call')
ORDER BY encl_id, line, col;

-- Who calls whom.
-- Takes: document, symbol; symbol_text, type_edge; final_occ, ancestor, sym_of, nameless, nameless_call; flow_call (what `indexer.store.flow` found).
-- Makes: call_in (by callee), call_out (the same by caller), possible_call (by flow, and uncertain: not among the others), open_call.

-- What runs when a class is called: __init__ and __new__, its own or of the nearest ancestor that has one.
CREATE TEMP TABLE constructor AS
-- Constructors outside the workspace are left out: which of them are known depends on what else is referred to.
SELECT class_id, arg_min(sym_id, (depth, sym_id)) AS sym_id
FROM (
    SELECT m.container_id AS class_id, m.sym_id, m.name, 0 AS depth FROM symbol m
    WHERE (is_kind(m.kind, 'constructor') OR m.name IN ('__new__', '__post_init__')) AND NOT has_flag(m.flags, 'external')
    UNION ALL
    SELECT a.sub_id, m.sym_id, m.name, a.depth FROM ancestor a JOIN symbol m ON m.container_id = a.super_id
    WHERE (is_kind(m.kind, 'constructor') OR m.name IN ('__new__', '__post_init__')) AND NOT has_flag(m.flags, 'external')
)
GROUP BY class_id, name;

-- What an identifier means by flow is no call by itself: flow_call has those.
CREATE TEMP VIEW told_occ AS SELECT * FROM final_occ WHERE NOT is_evidence(evidence, 'flow');

CREATE TEMP TABLE raw_call AS
SELECT o.encl_id AS caller, o.sym_id AS callee, o.doc_id, o.line, o.col, o.end_col, o.evidence
FROM told_occ o JOIN symbol s ON s.sym_id = o.sym_id
WHERE has_role(o.roles, 'call') AND NOT is_kind(s.kind, 'module')
  AND (is_type(s.kind) OR is_callable(s.kind) OR is_kind(s.kind, 'property') OR NOT has_flag(s.flags, 'local'))
UNION ALL
SELECT o.encl_id, k.sym_id, o.doc_id, o.line, o.col, o.end_col, evidence('constructor')
FROM told_occ o JOIN constructor k ON k.class_id = o.sym_id WHERE has_role(o.roles, 'call', 'decorator')
UNION ALL
SELECT o.encl_id, o.sym_id, o.doc_id, o.line, o.col, o.end_col, evidence('property')
FROM told_occ o JOIN symbol s ON s.sym_id = o.sym_id
WHERE has_role(o.roles, 'read', 'write', 'delete') AND NOT has_role(o.roles, 'call', 'definition') AND has_flag(s.flags, 'property')
UNION ALL
SELECT o.encl_id, o.sym_id, o.doc_id, o.line, o.col, o.end_col, evidence('decorator')
FROM told_occ o JOIN symbol s ON s.sym_id = o.sym_id
WHERE has_role(o.roles, 'decorator') AND NOT has_role(o.roles, 'call') AND is_kind(s.kind, 'class', 'method', 'function')
UNION ALL
SELECT o.encl_id, o.sym_id, o.doc_id, o.line, o.col, o.end_col, evidence('inferred')
FROM told_occ o JOIN symbol s ON s.sym_id = o.sym_id
WHERE (has_role(o.roles, 'argument') AND has_role(o.roles, 'confined') AND NOT has_role(o.roles, 'call')
       AND (is_kind(s.kind, 'method', 'function') OR is_type(s.kind)))
   OR (has_role(o.roles, 'fixture') AND is_evidence(o.evidence, 'inferred'))
UNION ALL
SELECT o.encl_id, k.sym_id, o.doc_id, o.line, o.col, o.end_col, evidence('inferred')
FROM told_occ o JOIN constructor k ON k.class_id = o.sym_id
WHERE has_role(o.roles, 'argument') AND has_role(o.roles, 'confined') AND NOT has_role(o.roles, 'call');

-- Needs: nameless_call.
INSERT INTO raw_call
SELECT caller, callee, doc_id, line, col, end_col, evidence FROM nameless_call n
WHERE n.operation <> operation('construct')  -- a base's constructor runs, and nothing is made of the base alone
   OR NOT EXISTS (SELECT 1 FROM told_occ o WHERE o.doc_id = n.doc_id AND o.line = n.line AND o.col = n.col AND has_role(o.roles, 'supertype'))
UNION ALL
SELECT n.caller, k.sym_id, n.doc_id, n.line, n.col, n.end_col, n.evidence
FROM nameless_call n JOIN constructor k ON k.class_id = n.callee WHERE n.operation IN (operation('raise'), operation('construct'));

-- A library may declare one thing by an interface, a variable, and the interface of what constructs it: the type is told, once.
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
SELECT callee, encl_id AS caller, doc_id, line, col, end_col, evidence('possible_flow')::UTINYINT AS evidence, via FROM new_call WHERE is_possible
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
  AND is_value(s.kind) AND NOT has_flag(s.flags, 'property', 'external') AND NOT is_evidence(o.evidence, 'inferred', 'flow')
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
FROM nameless n JOIN sym_of e ON e.doc_id = n.doc_id AND e.ordinal = n.enclosing
ANTI JOIN nameless_call k ON k.doc_id = n.doc_id AND k.line = n.line AND k.col = n.col AND k.operation = n.operation
-- Of a sign that stands behind a name it is the name that is called.
ANTI JOIN final_occ f ON is_basis(n.basis, 'sign') AND f.doc_id = n.doc_id AND f.line = n.line AND f.end_col = n.col
WHERE n.operation = operation('call')
ORDER BY encl_id, line, col;

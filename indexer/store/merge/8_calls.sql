-- Who calls whom.
-- Takes: symbol; final_occ, ancestor, nameless_call.
-- Makes: call_in (by callee), call_out (the same by caller).

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

CREATE TEMP TABLE raw_call AS
SELECT o.encl_id AS caller, o.sym_id AS callee, o.doc_id, o.line, o.col, o.end_col, o.evidence
FROM final_occ o JOIN symbol s ON s.sym_id = o.sym_id
WHERE has_role(o.roles, 'call') AND NOT is_kind(s.kind, 'module')
  AND (is_type(s.kind) OR is_callable(s.kind) OR is_kind(s.kind, 'property') OR NOT has_flag(s.flags, 'local'))
UNION ALL
SELECT o.encl_id, k.sym_id, o.doc_id, o.line, o.col, o.end_col, evidence('constructor')
FROM final_occ o JOIN constructor k ON k.class_id = o.sym_id WHERE has_role(o.roles, 'call', 'decorator')
UNION ALL
SELECT o.encl_id, o.sym_id, o.doc_id, o.line, o.col, o.end_col, evidence('property')
FROM final_occ o JOIN symbol s ON s.sym_id = o.sym_id
WHERE has_role(o.roles, 'read', 'write') AND NOT has_role(o.roles, 'call', 'definition') AND has_flag(s.flags, 'property')
UNION ALL
SELECT o.encl_id, o.sym_id, o.doc_id, o.line, o.col, o.end_col, evidence('decorator')
FROM final_occ o JOIN symbol s ON s.sym_id = o.sym_id
WHERE has_role(o.roles, 'decorator') AND NOT has_role(o.roles, 'call') AND is_kind(s.kind, 'class', 'method', 'function')
UNION ALL
SELECT o.encl_id, o.sym_id, o.doc_id, o.line, o.col, o.end_col, evidence('inferred')
FROM final_occ o JOIN symbol s ON s.sym_id = o.sym_id
WHERE (has_role(o.roles, 'argument') AND has_role(o.roles, 'confined') AND NOT has_role(o.roles, 'call')
       AND (is_kind(s.kind, 'method', 'function') OR is_type(s.kind)))
   OR (has_role(o.roles, 'fixture') AND is_evidence(o.evidence, 'inferred'))
UNION ALL
SELECT o.encl_id, k.sym_id, o.doc_id, o.line, o.col, o.end_col, evidence('inferred')
FROM final_occ o JOIN constructor k ON k.class_id = o.sym_id
WHERE has_role(o.roles, 'argument') AND has_role(o.roles, 'confined') AND NOT has_role(o.roles, 'call')
UNION ALL
SELECT caller, callee, doc_id, line, col, end_col, evidence FROM nameless_call n
WHERE n.operation <> operation('construct')  -- a base's constructor runs, and nothing is made of the base alone
   OR NOT EXISTS (SELECT 1 FROM final_occ o WHERE o.doc_id = n.doc_id AND o.line = n.line AND o.col = n.col AND has_role(o.roles, 'supertype'))
UNION ALL
SELECT n.caller, k.sym_id, n.doc_id, n.line, n.col, n.end_col, n.evidence
FROM nameless_call n JOIN constructor k ON k.class_id = n.callee WHERE n.operation IN (operation('raise'), operation('construct'));

CREATE TABLE call_in AS
SELECT callee, caller, doc_id, line, col, end_col, min(evidence)::UTINYINT AS evidence
FROM raw_call WHERE caller IS NOT NULL
GROUP BY ALL
ORDER BY callee, doc_id, line, col, caller;

CREATE TABLE call_out AS
SELECT caller, callee, doc_id, line, col, end_col, evidence FROM call_in
ORDER BY caller, line, col, callee;

-- Calls that the text shows, as servers and scopes tell them.
-- Takes: document, symbol; final_occ, ancestor, nameless_call.
-- Makes: constructor, told_occ, raw_call; to the last the next stage adds.

-- What runs when a class is called: __init__ and __new__, what is named like the class, its own or of the nearest ancestor that has one.
CREATE TEMP TABLE constructor AS
-- Constructors outside the workspace are left out: which of them are known depends on what else is referred to.
SELECT class_id, arg_min(sym_id, (depth, sym_id)) AS sym_id
FROM (
    SELECT m.container_id AS class_id, m.sym_id, CASE WHEN m.name = c.name THEN '' ELSE m.name END AS name, 0 AS depth
    FROM symbol m JOIN symbol c ON c.sym_id = m.container_id
    WHERE (is_kind(m.kind, 'constructor') OR m.name IN ('__new__', '__post_init__')) AND NOT has_flag(m.flags, 'external')
    UNION ALL
    SELECT a.sub_id, m.sym_id, CASE WHEN m.name = c.name THEN '' ELSE m.name END, a.depth
    FROM ancestor a JOIN symbol m ON m.container_id = a.super_id JOIN symbol c ON c.sym_id = a.super_id
    WHERE (is_kind(m.kind, 'constructor') OR m.name IN ('__new__', '__post_init__')) AND NOT has_flag(m.flags, 'external')
)
GROUP BY class_id, name;

-- What an identifier means by flow is no call by itself: flow_call has those.
CREATE TEMP VIEW told_occ AS SELECT * FROM final_occ WHERE NOT is_evidence(evidence, 'flow');

CREATE TEMP TABLE raw_call AS
SELECT o.encl_id AS caller, o.sym_id AS callee, o.doc_id, o.line, o.col, o.end_col, o.evidence
FROM told_occ o JOIN symbol s ON s.sym_id = o.sym_id JOIN document d ON d.doc_id = o.doc_id
WHERE has_role(o.roles, 'call') AND NOT is_kind(s.kind, 'module')
  AND (is_type(s.kind) OR is_callable(s.kind) OR is_kind(s.kind, 'property') OR NOT has_flag(s.flags, 'local')
       OR has_flag(s.flags, 'external') AND language_has(d.language, 'is_included'))  -- of a header that macros make unreadable
UNION ALL
SELECT o.encl_id, k.sym_id, o.doc_id, o.line, o.col, o.end_col, CASE WHEN is_evidence(o.evidence, 'second_server') THEN o.evidence ELSE evidence('constructor') END
FROM told_occ o JOIN constructor k ON k.class_id = o.sym_id WHERE has_role(o.roles, 'call', 'decorator')
UNION ALL
SELECT o.encl_id, o.sym_id, o.doc_id, o.line, o.col, o.end_col, CASE WHEN is_evidence(o.evidence, 'second_server') THEN o.evidence ELSE evidence('property') END
FROM told_occ o JOIN symbol s ON s.sym_id = o.sym_id
WHERE has_role(o.roles, 'read', 'write', 'delete') AND NOT has_role(o.roles, 'call', 'definition') AND has_flag(s.flags, 'property')
UNION ALL
SELECT o.encl_id, o.sym_id, o.doc_id, o.line, o.col, o.end_col, CASE WHEN is_evidence(o.evidence, 'second_server') THEN o.evidence ELSE evidence('decorator') END
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

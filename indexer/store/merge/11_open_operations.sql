-- Operations of which it is not known what they run, and members that are looked up by names that are made.
-- Takes: document, symbol, symbol_text; final_occ, around_of, ancestor; operation_member (what languages say); nameless, operated,
-- special_member, signed, runs, going_on, accessor_member.
-- Makes: unresolved_operation (operations on values of which no type is known, or one whose subtypes alone have the member). Adds to
-- string_gap.

-- Needs: operated, accessor_member. Else: operation UTINYINT, doc_id INTEGER, line INTEGER, col INTEGER, end_col INTEGER, encl_id INTEGER, type_id INTEGER
CREATE TEMP TABLE open_read AS
WITH asked AS (
    SELECT o.*, o.type_id IS NULL OR is_kind(t.kind, 'interface') OR starts_with(coalesce(x.signature, ''), 'type ') AS is_any
    FROM operated o LEFT JOIN symbol t ON t.sym_id = o.type_id LEFT JOIN symbol_text x ON x.sym_id = o.type_id
    WHERE o.operation IN (operation('copy'), operation('read_made')) AND NOT coalesce(has_flag(t.flags, 'external'), false)
)
SELECT operation, doc_id, line, col, end_col, encl_id, NULL::INTEGER AS type_id FROM asked
WHERE is_any AND EXISTS (SELECT 1 FROM accessor_member WHERE is_own OR operation <> operation('copy'))
UNION
SELECT o.operation, o.doc_id, o.line, o.col, o.end_col, o.encl_id, a.owner_id
FROM asked o
JOIN (SELECT sub_id, super_id FROM ancestor UNION ALL SELECT sym_id, sym_id FROM symbol WHERE is_type(kind)) u ON u.sub_id = o.type_id
JOIN accessor_member a ON a.owner_id = u.super_id
WHERE NOT o.is_any AND o.operation = operation('read_made')
UNION
SELECT o.operation, o.doc_id, o.line, o.col, o.end_col, o.encl_id, o.type_id
FROM asked o JOIN ancestor u ON u.super_id = o.type_id JOIN accessor_member a ON a.owner_id = u.sub_id
WHERE NOT o.is_any AND o.operation = operation('read_made');

-- A type that others fit by their shape says nothing of members that it does not ask for.
-- Needs: operated, language:satisfies=shape. Else: type_id INTEGER, operation UTINYINT
CREATE TEMP TABLE fitted AS
SELECT DISTINCT o.type_id, o.operation
FROM (
    SELECT DISTINCT type_id, operation FROM operated o JOIN document d USING (doc_id)
    WHERE type_id IS NOT NULL AND language_has(d.language, 'satisfies', 'shape')
) o
JOIN symbol i ON i.sym_id = o.type_id AND NOT has_flag(i.flags, 'external')
LEFT JOIN symbol_text x ON x.sym_id = i.sym_id
JOIN special_member m ON m.operation = o.operation AND m.class_id <> o.type_id
WHERE (is_kind(i.kind, 'interface') OR starts_with(coalesce(x.signature, ''), 'type '))
  AND NOT EXISTS (
      SELECT 1 FROM symbol k WHERE k.container_id = i.sym_id
         AND NOT EXISTS (SELECT 1 FROM symbol c WHERE c.container_id = m.class_id AND c.name = k.name)
  );

-- Operations that may run any such member; those on a type that has none, while subtypes of it do.
-- Needs: operated or signed. Else: operation UTINYINT, doc_id INTEGER, line INTEGER, col INTEGER, end_col INTEGER, encl_id INTEGER,
-- type_id INTEGER
CREATE TEMP TABLE open_operation AS
SELECT DISTINCT operation, doc_id, line, col, end_col, encl_id, NULL::INTEGER AS type_id FROM operated
WHERE type_id IS NULL AND NOT is_class
  AND operation NOT IN (operation('get_attribute'), operation('construct'), operation('hold'), operation('remake'), operation('look_up'),
                        operation('copy'), operation('read_made'))
UNION
FROM open_read
UNION
SELECT DISTINCT o.operation, o.doc_id, o.line, o.col, o.end_col, o.encl_id, NULL::INTEGER
FROM operated o SEMI JOIN fitted f ON f.type_id = o.type_id AND f.operation = o.operation
ANTI JOIN runs r ON r.class_id = o.type_id AND r.operation = o.operation
WHERE NOT o.is_class
UNION
-- What gives an iterator that is of another type.
SELECT DISTINCT operation('next')::UTINYINT, o.doc_id, o.line, o.col, o.end_col, o.encl_id, NULL::INTEGER
FROM operated o JOIN document d ON d.doc_id = o.doc_id AND language_has(d.language, 'satisfies', 'shape')
JOIN runs r ON r.class_id = o.type_id AND r.operation = o.operation
LEFT JOIN symbol_text t ON t.sym_id = r.sym_id
ANTI JOIN runs n ON n.class_id = o.type_id AND n.operation = operation('next')
WHERE o.operation = operation('iterate') AND NOT o.is_class AND NOT regexp_matches(coalesce(t.signature, ''), '^(static )?(async )?\*')
UNION  -- unresolved_name has those
-- A type that a template gets.
SELECT DISTINCT o.operation, o.doc_id, o.line, o.col, o.end_col, o.encl_id, o.type_id
FROM operated o JOIN symbol m ON m.sym_id = o.type_id WHERE o.operation = operation('hold') AND o.is_class AND NOT has_flag(m.flags, 'external')
UNION
SELECT DISTINCT o.operation, o.doc_id, o.line, o.col, o.end_col, o.encl_id, o.type_id
FROM operated o
SEMI JOIN (SELECT DISTINCT a.super_id, m.operation FROM special_member m JOIN ancestor a ON a.sub_id = m.class_id) b
     ON b.super_id = o.type_id AND b.operation = o.operation
ANTI JOIN runs r ON r.class_id = o.type_id AND r.operation = o.operation
WHERE NOT o.is_class
UNION
SELECT DISTINCT operation, doc_id, line, col, end_col, encl_id, NULL::INTEGER FROM signed WHERE is_open
UNION
SELECT operation, doc_id, line, col, end_col, caller, type_id FROM going_on WHERE type_id IS NULL;

CREATE TABLE unresolved_operation AS
FROM open_operation
UNION
-- A call of what a variable holds, and of what nobody knows.
SELECT DISTINCT operation('call'), o.doc_id, o.line, o.col, o.end_col, o.encl_id, NULL::INTEGER
FROM final_occ o LEFT JOIN symbol s ON s.sym_id = o.sym_id JOIN document d ON d.doc_id = o.doc_id
SEMI JOIN (SELECT language FROM operation_member WHERE operation = operation('call')) r ON r.language = d.language
WHERE has_role(o.roles, 'call') AND (s.sym_id IS NULL OR is_evidence(o.evidence, 'flow', 'second_server') OR is_value(s.kind) AND NOT has_flag(s.flags, 'property'))
  AND NOT EXISTS (SELECT 1 FROM final_occ c WHERE c.doc_id = o.doc_id AND c.line = o.line AND c.col = o.col AND is_evidence(c.evidence, 'callee_type'))
ORDER BY operation, doc_id, line, col, type_id;

-- Needs: nameless. Else: doc_id INTEGER, *nameless_calls
CREATE TEMP TABLE look_up AS SELECT * FROM nameless WHERE operation = operation('look_up');

-- A member by a name that is made, of a value of known type, a module, or an object that is written out: any of them.
-- Needs: look_up.
INSERT INTO string_gap
SELECT '', name_use('beginning')::UTINYINT, role('call')::USMALLINT, l.doc_id, l.line, l.encl_id, l.owner_id
FROM (
    SELECT o.doc_id, o.line, o.encl_id, o.type_id AS owner_id FROM operated o
    WHERE o.operation = operation('look_up') AND EXISTS (FROM look_up)
    UNION
    SELECT n.doc_id, n.line, e.sym_id, o.sym_id
    FROM look_up n JOIN around_of e ON e.doc_id = n.doc_id AND e.ordinal = n.enclosing
    JOIN final_occ o ON o.doc_id = n.doc_id AND o.line = n.at_line AND o.col = n.at_col
    WHERE EXISTS (SELECT 1 FROM symbol k WHERE k.container_id = o.sym_id AND is_callable(k.kind))
) l JOIN symbol s ON s.sym_id = l.owner_id
WHERE NOT has_flag(s.flags, 'external')
EXCEPT SELECT name, use, roles, doc_id, line, encl_id, owner_id FROM string_gap
ORDER BY ALL;

-- Calls that have no name where they stand: operators, `with`, `for`, `str()` and the like.
-- Takes: document, symbol, symbol_text, type_edge, override; final_occ, sym_of, target_sym, member, ancestor, above_member; operation_member and
-- language_rule (what languages say);
-- facts_nameless_calls, facts_values, facts_accessors.
-- Makes: unresolved_operation (operations on values of which no type is known, or one whose subtypes alone have the member). Adds to
-- string_gap. For the next stage: nameless, nameless_call.

-- Needs: facts_nameless_calls. Else: doc_id INTEGER, *nameless_calls
CREATE TEMP TABLE nameless AS
SELECT x.* EXCLUDE (is_new) FROM facts_nameless_calls x;

-- What stands at the places that values are named by.
-- Needs: nameless or facts_values or facts_accessors. Else: doc_id INTEGER, line INTEGER, col INTEGER
CREATE TEMP TABLE value_place AS
SELECT DISTINCT doc_id, at_line AS line, at_col AS col FROM nameless WHERE own < 0 AND NOT is_basis(basis, 'unknown')
UNION SELECT DISTINCT doc_id, line, col FROM facts_values WHERE is_basis(basis, 'value', 'result', 'instance') AND own < 0
UNION SELECT DISTINCT doc_id, line, col FROM facts_accessors;

-- Needs: value_place. Else: doc_id INTEGER, line INTEGER, col INTEGER, sym_id INTEGER, name VARCHAR, kind UTINYINT, flags
-- USMALLINT
CREATE TEMP TABLE standing AS
SELECT p.doc_id, p.line, p.col, s.sym_id, s.name, s.kind, s.flags
FROM value_place p JOIN final_occ o ON o.doc_id = p.doc_id AND o.line = p.line AND o.col = p.col
JOIN symbol s ON s.sym_id = o.sym_id
WHERE NOT is_evidence(o.evidence, 'callee_type', 'inferred', 'flow');

-- Types outside that any value may have; functions outside whose results are of no type of the workspace.
-- Needs: nameless. Else: sym_id INTEGER
CREATE TEMP TABLE open_type AS
SELECT s.sym_id FROM symbol s JOIN document d USING (doc_id) JOIN language_rule r ON r.language = d.language
WHERE has_flag(s.flags, 'external') AND regexp_full_match(s.qualified_name, r.open_types) AND EXISTS (FROM nameless);

-- Needs: nameless. Else: sym_id INTEGER
CREATE TEMP TABLE closed_function AS
SELECT s.sym_id FROM symbol s JOIN symbol_text t USING (sym_id) JOIN document d USING (doc_id) JOIN language_rule r ON r.language = d.language
WHERE has_flag(s.flags, 'external') AND is_callable(s.kind)
  AND regexp_matches(t.signature, '-> "?' || r.closed_results) AND NOT regexp_matches(t.signature, '-> .*\| *[^N]') AND EXISTS (FROM nameless);

-- Where variables and functions stand that are declared to be, or to give, what runs no member of a type: numbers, texts. A variable that
-- is taken out of an object stands where its member does.
-- Needs: standing. Else: doc_id INTEGER, line INTEGER, col INTEGER
CREATE TEMP TABLE closed_value AS
SELECT DISTINCT b.doc_id, b.line, b.col FROM standing b JOIN symbol s USING (sym_id) JOIN symbol_text t USING (sym_id) JOIN document d ON d.doc_id = s.doc_id
JOIN language_rule r ON r.language = d.language
WHERE r.closed_values <> '' AND regexp_matches(t.signature, r.closed_values);

-- One step from a function or a variable to what it gives: a type, another function or variable, or what nobody knows.
-- Needs: facts_values. Else: sym_id INTEGER, type_id INTEGER, next_id INTEGER, is_elsewhere BOOLEAN
CREATE TEMP TABLE given AS
SELECT DISTINCT m.sym_id,
       CASE WHEN is_basis(v.basis, 'instance') THEN coalesce(own.sym_id, CASE WHEN is_type(b.kind) THEN b.sym_id END)
            WHEN is_basis(v.basis, 'result') AND is_type(b.kind) THEN b.sym_id END AS type_id,
       CASE WHEN is_basis(v.basis, 'result') AND is_callable(b.kind) THEN b.sym_id
            WHEN is_basis(v.basis, 'value') AND NOT is_type(b.kind) AND NOT is_callable(b.kind) THEN b.sym_id END AS next_id,
       is_basis(v.basis, 'elsewhere') OR coalesce(is_basis(v.basis, 'value') AND (is_type(b.kind) OR is_callable(b.kind)), false) AS is_elsewhere
FROM facts_values v
JOIN sym_of m ON m.doc_id = v.doc_id AND m.ordinal = v.symbol
LEFT JOIN sym_of own ON own.doc_id = v.doc_id AND own.ordinal = v.own AND v.own >= 0
LEFT JOIN standing b ON b.doc_id = v.doc_id AND b.line = v.line AND b.col = v.col
     AND is_basis(v.basis, 'value', 'result', 'instance') AND v.own < 0;
-- A method may be one that overrides it.
-- Needs: given, override.
INSERT INTO given
SELECT DISTINCT o.super_id, NULL::INTEGER, o.sub_id, false FROM override o JOIN given g ON g.sym_id = o.sub_id
SEMI JOIN (SELECT sym_id FROM given) h ON h.sym_id = o.super_id;

-- The operator in `(a + b)[0]` runs a function, too, and the item is one of what it gives.
-- Needs: nameless. Else: doc_id INTEGER, line INTEGER, col INTEGER, sym_id INTEGER, name VARCHAR, kind UTINYINT, flags
-- USMALLINT
CREATE TEMP TABLE run_by_sign AS
SELECT n.doc_id, n.at_line AS line, n.at_col AS col, s.sym_id, s.name, s.kind, s.flags
FROM nameless n JOIN target_sym t ON t.doc_id = n.doc_id AND t.ordinal = n.target JOIN symbol s ON s.sym_id = t.sym_id
WHERE is_basis(n.basis, 'result') AND is_callable(s.kind);
-- Needs: run_by_sign.
INSERT INTO standing SELECT DISTINCT * FROM run_by_sign;

-- Needs: nameless. Else: sym_id INTEGER
CREATE TEMP TABLE holder AS
SELECT DISTINCT sym_id FROM standing WHERE NOT is_type(kind) AND NOT is_kind(kind, 'module') AND EXISTS (FROM nameless)
UNION  -- what `for` gets an iterator from
SELECT m.sym_id FROM symbol m JOIN document d ON d.doc_id = m.doc_id
JOIN operation_member w ON w.language = d.language AND w.name = m.name AND w.operation IN (operation('iterate'), operation('iterate_async'))
WHERE is_callable(m.kind) AND NOT has_flag(m.flags, 'external') AND EXISTS (FROM nameless);

-- Needs: holder. Else: start INTEGER, sym_id INTEGER, depth INTEGER
CREATE TEMP TABLE reached AS
WITH RECURSIVE up(start, sym_id, depth) AS (
    SELECT sym_id, sym_id, 0 FROM holder
    UNION
    SELECT u.start, g.next_id, u.depth + 1 FROM up u JOIN given g ON g.sym_id = u.sym_id WHERE g.next_id IS NOT NULL AND u.depth < 6
)
SELECT start, sym_id, max(depth) AS depth FROM up GROUP BY ALL;

-- What a function gives or a variable holds, whatever the number of steps. Without a type: nobody knows.
-- Needs: reached. Else: sym_id INTEGER, type_id INTEGER
CREATE TEMP TABLE holds AS
SELECT DISTINCT r.start AS sym_id, g.type_id
FROM reached r LEFT JOIN given g ON g.sym_id = r.sym_id
WHERE NOT coalesce(g.is_elsewhere, false) AND (g.next_id IS NULL OR r.depth >= 6)
  AND r.sym_id NOT IN (SELECT sym_id FROM closed_function);
-- Needs: holds.
DELETE FROM holds WHERE type_id IN (SELECT s.sym_id FROM symbol s WHERE has_flag(s.flags, 'external'))
                    AND type_id NOT IN (SELECT sym_id FROM open_type)
                    AND type_id NOT IN (SELECT super_id FROM ancestor JOIN symbol own ON own.sym_id = sub_id WHERE NOT has_flag(own.flags, 'external'));
-- Needs: holds, open_type.
UPDATE holds SET type_id = NULL WHERE type_id IN (SELECT sym_id FROM open_type);

-- Each operation with the type of its value; NULL where nobody knows it. One that a class is put to runs a member of the class itself.
-- Needs: nameless. Else: doc_id INTEGER, line INTEGER, col INTEGER, end_col INTEGER, operation UTINYINT, encl_id INTEGER, type_id
-- INTEGER, is_class BOOLEAN
CREATE TEMP TABLE operated AS
SELECT DISTINCT n.doc_id, n.line, n.col, n.end_col, n.operation, e.sym_id AS encl_id, n.type_id, n.is_class
FROM (
    SELECT n.*, coalesce(own.sym_id, CASE WHEN is_type(s.kind) THEN s.sym_id END) AS type_id, coalesce(b.sym_id = t.sym_id, false) AS is_class
    FROM nameless n
    LEFT JOIN sym_of own ON own.doc_id = n.doc_id AND own.ordinal = n.own AND n.own >= 0
    LEFT JOIN target_sym t ON t.doc_id = n.doc_id AND t.ordinal = n.target
    LEFT JOIN symbol s ON s.sym_id = t.sym_id
    LEFT JOIN standing b ON b.doc_id = n.doc_id AND b.line = n.at_line AND b.col = n.at_col AND is_type(b.kind)
    JOIN document d ON d.doc_id = n.doc_id
    WHERE is_basis(n.basis, 'instance')
      -- the type of a function or a module is the language's own; that of a type variable may be any, and so may be what is around an object
      AND CASE WHEN language_has(d.language, 'satisfies', 'shape') THEN NOT coalesce(has_flag(s.flags, 'external') AND NOT is_type(s.kind), false)
               ELSE NOT coalesce(is_callable(s.kind) OR is_kind(s.kind, 'module', 'property'), false) END
    UNION ALL
    SELECT n.*, NULL, false FROM nameless n WHERE is_basis(n.basis, 'unknown')
    UNION ALL
    SELECT n.*, CASE WHEN is_type(b.kind) THEN b.sym_id ELSE h.type_id END, is_basis(n.basis, 'value') AND coalesce(is_type(b.kind), false)
    FROM nameless n
    LEFT JOIN standing b ON b.doc_id = n.doc_id AND b.line = n.at_line AND b.col = n.at_col
    LEFT JOIN holds h ON h.sym_id = b.sym_id
    LEFT JOIN closed_value z ON z.doc_id = n.doc_id AND z.line = n.at_line AND z.col = n.at_col
    JOIN document d ON d.doc_id = n.doc_id
    WHERE is_basis(n.basis, 'value', 'result')
      AND (b.sym_id IS NULL OR is_type(b.kind)
           -- where types are shapes or functions, nobody follows what a variable holds: the server has told no type
           OR CASE WHEN language_has(d.language, 'satisfies', 'shape') OR language_has(d.language, 'function_types')
                   THEN z.doc_id IS NULL AND (is_value(b.kind) OR is_callable(b.kind))
                   ELSE h.sym_id IS NOT NULL END)  -- else what it holds is of no type here
      AND NOT coalesce(is_kind(b.kind, 'module') OR is_basis(n.basis, 'value') AND is_callable(b.kind), false)
) n
JOIN sym_of e ON e.doc_id = n.doc_id AND e.ordinal = n.enclosing;
-- Needs: operated, open_type.
UPDATE operated SET type_id = NULL WHERE type_id IN (SELECT sym_id FROM open_type);

-- A loop over a value of a type that is a function runs whatever function it is. Of a list of functions the server tells that type too.
-- Needs: operated.
UPDATE operated SET type_id = NULL
FROM symbol s JOIN symbol_text t USING (sym_id) JOIN document d ON d.doc_id = s.doc_id JOIN language_rule r ON r.language = d.language
WHERE operated.operation = operation('iterate') AND operated.type_id = s.sym_id
  AND r.function_types <> '' AND regexp_matches(t.signature, r.function_types)
  AND (operated.doc_id, operated.line, operated.col) NOT IN (SELECT doc_id, line, col FROM closed_value);

-- The member that runs: of each part the one of the lowest rank, of the nearest type that has it.
-- Needs: operated or given. Else: class_id INTEGER, sym_id INTEGER, name VARCHAR, operation BIGINT, part BIGINT, rank BIGINT, evidence
-- BIGINT, flags USMALLINT
CREATE TEMP TABLE special_member AS
SELECT m.container_id AS class_id, m.sym_id, m.name, w.operation, w.part, w.rank, w.evidence, m.flags
FROM symbol m JOIN document d ON d.doc_id = m.doc_id
JOIN operation_member w ON w.language = d.language AND w.name = m.name
WHERE m.container_id IS NOT NULL AND NOT has_flag(m.flags, 'external', 'parameter')
  AND (is_callable(m.kind) OR is_kind(m.kind, 'property', 'field', 'variable')) AND (EXISTS (FROM operated) OR EXISTS (FROM given));

-- Needs: nameless. Else: doc_id INTEGER, *nameless_calls
CREATE TEMP TABLE sign AS SELECT * FROM nameless WHERE is_basis(basis, 'sign');

-- The member that a server named at the sign itself. One that an interface outside asks for may be that of any type; what else lies
-- outside, or is nothing that the sign runs, is of no type here.
-- Needs: sign. Else: doc_id INTEGER, line INTEGER, col INTEGER, end_col INTEGER, operation UTINYINT, encl_id INTEGER, callee INTEGER,
-- name VARCHAR, evidence BIGINT, is_open BOOLEAN
CREATE TEMP TABLE signed AS
SELECT DISTINCT n.doc_id, n.line, n.col, n.end_col, n.operation, e.sym_id AS encl_id, s.sym_id AS callee, s.name, w.evidence,
       s.sym_id IS NULL OR has_flag(s.flags, 'external') AND is_kind(c.kind, 'interface') AS is_open
FROM sign n
JOIN sym_of e ON e.doc_id = n.doc_id AND e.ordinal = n.enclosing
JOIN document d ON d.doc_id = n.doc_id
LEFT JOIN target_sym t ON t.doc_id = n.doc_id AND t.ordinal = n.target
LEFT JOIN symbol s ON s.sym_id = t.sym_id
LEFT JOIN symbol c ON c.sym_id = s.container_id
LEFT JOIN operation_member w ON w.language = d.language AND w.operation = n.operation AND w.name = s.name
     AND is_callable(s.kind) AND NOT has_flag(s.flags, 'external');

-- Where the server named what an interface asks for, the type of the value may be known all the same: then its member of that name runs.
-- Needs: operated, signed.
DELETE FROM operated WHERE (doc_id, line, col, operation) IN (SELECT doc_id, line, col, operation FROM signed WHERE NOT is_open);
-- Needs: operated, signed.
UPDATE signed SET is_open = false, callee = m.sym_id, evidence = m.evidence
FROM (
    SELECT o.doc_id, o.line, o.col, o.operation, m.name, m.sym_id, m.evidence
    FROM operated o JOIN special_member m ON m.class_id = o.type_id AND m.operation = o.operation
) m
WHERE signed.is_open AND m.doc_id = signed.doc_id AND m.line = signed.line AND m.col = signed.col AND m.operation = signed.operation
  AND m.name = signed.name;
-- Needs: operated, signed.
DELETE FROM operated WHERE (doc_id, line, col, operation) IN (SELECT doc_id, line, col, operation FROM signed);

-- Needs: special_member. Else: class_id INTEGER, operation BIGINT, part BIGINT, evidence BIGINT, sym_id INTEGER, name VARCHAR
CREATE TEMP TABLE runs AS
SELECT class_id, operation, part, evidence, arg_min(sym_id, (rank, depth, sym_id)) AS sym_id, arg_min(name, (rank, depth, sym_id)) AS name
FROM (
    SELECT *, 0 AS depth FROM special_member
    UNION ALL
    SELECT a.sub_id, m.* EXCLUDE (class_id), a.depth FROM ancestor a JOIN special_member m ON m.class_id = a.super_id
)
GROUP BY class_id, operation, part, evidence;

-- Needs: operated, runs. Else: caller INTEGER, callee INTEGER, doc_id INTEGER, line INTEGER, col INTEGER, end_col INTEGER, evidence
-- BIGINT, operation UTINYINT
CREATE TEMP TABLE nameless_call AS
SELECT DISTINCT o.encl_id AS caller, r.sym_id AS callee, o.doc_id, o.line, o.col, o.end_col, r.evidence, o.operation
FROM operated o JOIN runs r ON r.class_id = o.type_id AND r.operation = o.operation
-- Only subscripts of a class run a member of it.
WHERE CASE WHEN o.operation = operation('instance_of') THEN true
           ELSE NOT o.is_class AND r.name <> '__class_getitem__' OR o.is_class AND r.name = '__class_getitem__' END
  AND o.operation <> operation('remake');

-- `for` goes on with what it gets an iterator from has given.
-- Needs: nameless_call, holds. Else: caller INTEGER, doc_id INTEGER, line INTEGER, col INTEGER, end_col INTEGER, operation UTINYINT,
-- type_id INTEGER
CREATE TEMP TABLE going_on AS
SELECT DISTINCT n.caller, n.doc_id, n.line, n.col, n.end_col, n.operation, h.type_id
FROM nameless_call n JOIN holds h ON h.sym_id = n.callee WHERE n.operation IN (operation('iterate'), operation('iterate_async'));
-- Needs: going_on, runs.
INSERT INTO nameless_call
SELECT g.caller, r.sym_id, g.doc_id, g.line, g.col, g.end_col, r.evidence, g.operation
FROM going_on g JOIN runs r ON r.class_id = g.type_id AND r.operation = g.operation AND r.part > 0
EXCEPT SELECT caller, callee, doc_id, line, col, end_col, evidence, operation FROM nameless_call;

-- A loop over a function that is named runs it.
-- Needs: nameless.
INSERT INTO nameless_call
SELECT DISTINCT e.sym_id, b.sym_id, n.doc_id, n.line, n.col, n.end_col, evidence('protocol'), n.operation
FROM nameless n
JOIN document d ON d.doc_id = n.doc_id AND language_has(d.language, 'function_types')
JOIN sym_of e ON e.doc_id = n.doc_id AND e.ordinal = n.enclosing
JOIN standing b ON b.doc_id = n.doc_id AND b.line = n.at_line AND b.col = n.at_col AND is_callable(b.kind)
WHERE n.operation = operation('iterate') AND is_basis(n.basis, 'value') AND n.line = n.at_line AND n.col = n.at_col;

-- `raise A` and `type(a)()` make one, and so does a declaration where it names a type alone.
-- Needs: operated.
INSERT INTO nameless_call
SELECT n.encl_id, m.sym_id, n.doc_id, n.line, n.col, n.end_col, evidence('constructor'), n.operation
FROM operated n JOIN (
    SELECT sym_id AS class_id, sym_id, has_flag(flags, 'external') AS is_outside FROM symbol WHERE is_type(kind)
    UNION ALL
    SELECT class_id, sym_id, false FROM runs WHERE operation = operation('remake')
) m ON m.class_id = n.type_id
WHERE CASE n.operation WHEN operation('raise') THEN n.is_class
                       WHEN operation('construct') THEN n.is_class AND m.sym_id = m.class_id AND NOT m.is_outside
                       WHEN operation('remake') THEN NOT n.is_class ELSE false END;

-- One more of a value's class may be of any class below the one that is known, and then that one's constructor runs.
-- Needs: operated.
INSERT INTO nameless_call
SELECT DISTINCT n.encl_id, m.sym_id, n.doc_id, n.line, n.col, n.end_col, evidence('constructor'), n.operation
FROM operated n
JOIN document d ON d.doc_id = n.doc_id AND language_has(d.language, 'satisfies', 'shape')
JOIN ancestor a ON a.super_id = n.type_id
JOIN (
    SELECT sym_id AS class_id, sym_id FROM symbol WHERE is_kind(kind, 'class') AND NOT has_flag(flags, 'external')
    UNION ALL SELECT class_id, sym_id FROM special_member WHERE operation = operation('remake')
) m ON m.class_id = a.sub_id
WHERE n.operation = operation('remake') AND NOT n.is_class;

-- Needs: signed.
INSERT INTO nameless_call
SELECT DISTINCT encl_id, callee, doc_id, line, col, end_col, evidence, operation FROM signed WHERE evidence IS NOT NULL;

-- Both sides of an operator, where the type of each is known and the left one has a member.
-- Needs: nameless_call, operated. Else: caller INTEGER, doc_id INTEGER, line INTEGER, col INTEGER, end_col INTEGER, callee INTEGER, left_id
-- INTEGER, right_id INTEGER, operation UTINYINT
CREATE TEMP TABLE two_sided AS
SELECT DISTINCT n.caller, n.doc_id, n.line, n.col, n.end_col, n.callee, l.type_id AS left_id, r.type_id AS right_id, r.operation
FROM nameless_call n
JOIN operated l ON l.doc_id = n.doc_id AND l.line = n.line AND l.col = n.col AND l.operation = n.operation
JOIN operated r ON r.doc_id = n.doc_id AND r.line = n.line AND r.col = n.col AND r.type_id IS NOT NULL
 AND r.operation = CASE WHEN n.operation BETWEEN operation('add') AND operation('bit_or') THEN n.operation + operation('add_to') - operation('add')
                        ELSE n.operation - operation('add_in_place') + operation('add_to') END
WHERE n.operation BETWEEN operation('add') AND operation('bit_or')
   OR n.operation BETWEEN operation('add_in_place') AND operation('bit_or_in_place');

-- What stands on the right of an operator is asked where the left side has no answer: where it gives up, and first of all where the right one
-- is of a subtype that has a member of its own.
-- Needs: nameless_call.
DELETE FROM nameless_call WHERE (doc_id, line, col, operation) IN (
    SELECT n.doc_id, n.line, n.col, n.operation + operation('add_to') - operation('add') FROM nameless_call n
    WHERE n.operation BETWEEN operation('add') AND operation('bit_or')
    UNION ALL
    SELECT n.doc_id, n.line, n.col, n.operation - operation('add_in_place') + operation('add_to') FROM nameless_call n
    WHERE n.operation BETWEEN operation('add_in_place') AND operation('bit_or_in_place')
) AND (doc_id, line, col, operation, callee) NOT IN (
    SELECT t.doc_id, t.line, t.col, t.operation, m.sym_id
    FROM two_sided t JOIN runs r ON r.class_id = t.right_id AND r.operation = t.operation JOIN symbol m ON m.sym_id = r.sym_id
    JOIN symbol l ON l.sym_id = t.callee
    WHERE l.container_id <> m.container_id
      AND (t.callee IN (SELECT o.encl_id FROM final_occ o JOIN symbol s ON s.sym_id = o.sym_id AND s.name = 'NotImplemented' AND has_flag(s.flags, 'external'))
           OR (t.right_id, t.left_id) IN (SELECT sub_id, super_id FROM ancestor))
);
-- Needs: two_sided.
INSERT INTO nameless_call
SELECT DISTINCT t.caller, m.sym_id, t.doc_id, t.line, t.col, t.end_col, m.evidence, t.operation
FROM two_sided t JOIN special_member m ON m.operation = t.operation JOIN ancestor a ON a.sub_id = m.class_id AND a.super_id = t.right_id
WHERE t.left_id = t.right_id OR (m.class_id, t.left_id) IN (SELECT sub_id, super_id FROM ancestor);

-- A field whose value is of a type with accessors, or is made by `property(get, set)`.
-- Needs: facts_accessors or given, facts_accessors or runs. Else: field_id INTEGER, operation BIGINT, callee INTEGER, evidence BIGINT
CREATE TEMP TABLE accessor AS
SELECT m.sym_id AS field_id, x.operation, s.sym_id AS callee, evidence('property')::UTINYINT AS evidence
FROM facts_accessors x
JOIN sym_of m ON m.doc_id = x.doc_id AND m.ordinal = x.symbol
JOIN standing s ON s.doc_id = x.doc_id AND s.line = x.line AND s.col = x.col AND is_callable(s.kind)
UNION ALL
SELECT f.sym_id, CASE r.operation WHEN operation('get_described') THEN operation('get_attribute') WHEN operation('set_described')
                 THEN operation('set_attribute') WHEN operation('delete_described') THEN operation('delete_attribute') ELSE r.operation END,
       r.sym_id, r.evidence
FROM symbol f
JOIN symbol c ON c.sym_id = f.container_id AND is_type(c.kind)
JOIN given g ON g.sym_id = f.sym_id
JOIN runs r ON r.class_id = g.type_id AND r.operation BETWEEN operation('get_described') AND operation('name_described')
WHERE is_kind(f.kind, 'field', 'constant', 'variable')
  AND f.sym_id NOT IN (SELECT sym_id FROM member);

-- A method that an object with accessors decorates is such a field.
-- Needs: runs.
INSERT INTO accessor
SELECT DISTINCT f.sym_id, CASE r.operation WHEN operation('get_described') THEN operation('get_attribute')
                          WHEN operation('set_described') THEN operation('set_attribute') ELSE operation('delete_attribute') END,
       r.sym_id, r.evidence
FROM runs r
JOIN final_occ o ON o.sym_id = r.class_id AND has_role(o.roles, 'decorator')
JOIN symbol f ON f.doc_id = o.doc_id AND f.container_id = o.encl_id AND is_kind(f.kind, 'method') AND o.line BETWEEN f.start_line AND f.sel_line
JOIN symbol c ON c.sym_id = f.container_id AND is_type(c.kind)
WHERE r.operation IN (operation('get_described'), operation('set_described'), operation('delete_described'));

-- A field of a type above may be read where the object is of the type whose field has an accessor.
-- Needs: accessor, above_member.
INSERT INTO accessor
SELECT DISTINCT b.super_id, a.operation, a.callee, a.evidence
FROM accessor a JOIN above_member b ON b.sub_id = a.field_id JOIN symbol s ON s.sym_id = b.super_id
WHERE a.operation <> operation('name_described') AND NOT has_flag(s.flags, 'external')
EXCEPT SELECT field_id, operation, callee, evidence FROM accessor;

-- Needs: accessor.
INSERT INTO nameless_call
SELECT o.encl_id, a.callee, o.doc_id, o.line, o.col, o.end_col, a.evidence, a.operation
FROM accessor a JOIN final_occ o ON o.sym_id = a.field_id AND NOT is_evidence(o.evidence, 'inferred', 'flow')
WHERE CASE a.operation WHEN operation('name_described') THEN has_role(o.roles, 'definition')
                       WHEN operation('get_attribute') THEN has_role(o.roles, 'read') AND NOT has_role(o.roles, 'definition')
                       WHEN operation('set_attribute') THEN has_role(o.roles, 'write') AND NOT has_role(o.roles, 'definition')
                       ELSE has_role(o.roles, 'delete') END;

CREATE TEMP TABLE subclass_hook AS
SELECT sym_id, container_id FROM symbol WHERE name = '__init_subclass__' AND NOT has_flag(flags, 'external');

-- A class that is named as a base runs what the base has for it.
-- Needs: subclass_hook.
INSERT INTO nameless_call
SELECT DISTINCT o.encl_id, first_value(m.sym_id) OVER (PARTITION BY o.doc_id, o.line, o.col ORDER BY b.depth, m.sym_id), o.doc_id, o.line, o.col,
       o.end_col, evidence('protocol'), operation('call')
FROM final_occ o
JOIN (SELECT sym_id AS sub_id, sym_id AS super_id, 0 AS depth FROM symbol WHERE is_type(kind) UNION ALL SELECT * FROM ancestor) b ON b.sub_id = o.sym_id
JOIN subclass_hook m ON m.container_id = b.super_id
WHERE has_role(o.roles, 'supertype');

-- What reads members without their names runs accessors: those that an object is written with, if all its own are read, or any of a type.
-- Needs: operated. Else: sym_id INTEGER, owner_id INTEGER, is_own BOOLEAN
CREATE TEMP TABLE accessor_member AS
SELECT m.sym_id, m.container_id AS owner_id, NOT is_type(c.kind) AS is_own
FROM symbol m JOIN symbol c ON c.sym_id = m.container_id JOIN document d ON d.doc_id = m.doc_id
WHERE has_flag(m.flags, 'property') AND NOT has_flag(m.flags, 'external') AND language_has(d.language, 'reads_by_key')
  AND EXISTS (FROM operated);

-- Of an object that is written out it is known which those are.
-- Needs: operated. Else: doc_id INTEGER, line INTEGER, col INTEGER, end_col INTEGER, operation UTINYINT, encl_id INTEGER, object_id INTEGER
CREATE TEMP TABLE of_object AS
SELECT DISTINCT o.doc_id, o.line, o.col, o.end_col, o.operation, o.encl_id, b.sym_id AS object_id
FROM operated o
JOIN nameless n ON n.doc_id = o.doc_id AND n.line = o.line AND n.col = o.col AND n.operation = o.operation
JOIN standing b ON b.doc_id = n.doc_id AND b.line = n.at_line AND b.col = n.at_col AND is_kind(b.kind, 'variable', 'constant')
JOIN symbol_text t ON t.sym_id = b.sym_id AND regexp_matches(t.signature, '^(export )?const ')
SEMI JOIN symbol k ON k.container_id = b.sym_id
WHERE o.operation IN (operation('copy'), operation('read_made')) AND n.end_col - n.col = length(b.name);
-- Needs: of_object.
INSERT INTO nameless_call
SELECT o.encl_id, a.sym_id, o.doc_id, o.line, o.col, o.end_col, evidence('property'), o.operation
FROM of_object o JOIN accessor_member a ON a.owner_id = o.object_id WHERE o.operation = operation('copy');
-- Needs: of_object.
DELETE FROM operated WHERE (doc_id, line, col, operation) IN (
    SELECT o.doc_id, o.line, o.col, o.operation FROM of_object o
    WHERE o.operation = operation('copy') OR o.object_id NOT IN (SELECT owner_id FROM accessor_member)
);

-- Needs: operated. Else: operation UTINYINT, doc_id INTEGER, line INTEGER, col INTEGER, end_col INTEGER, encl_id INTEGER, type_id INTEGER
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
-- Needs: operated. Else: type_id INTEGER, operation UTINYINT
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
WHERE has_role(o.roles, 'call') AND (s.sym_id IS NULL OR is_evidence(o.evidence, 'flow') OR is_value(s.kind) AND NOT has_flag(s.flags, 'property'))
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
    FROM look_up n JOIN sym_of e ON e.doc_id = n.doc_id AND e.ordinal = n.enclosing
    JOIN final_occ o ON o.doc_id = n.doc_id AND o.line = n.at_line AND o.col = n.at_col
    WHERE EXISTS (SELECT 1 FROM symbol k WHERE k.container_id = o.sym_id AND is_callable(k.kind))
) l JOIN symbol s ON s.sym_id = l.owner_id
WHERE NOT has_flag(s.flags, 'external')
EXCEPT SELECT name, use, roles, doc_id, line, encl_id, owner_id FROM string_gap
ORDER BY ALL;

-- Calls that have no name where they stand: operators, `with`, `for`, `str()` and the like.
-- Takes: document, symbol, symbol_text; final_occ, sym_of, around_of, target_sym, ancestor; operation_member and language_rule (what languages
-- say); nameless, standing, open_type, closed_value, given, holds; flow_type (what `indexer.store.flow` found).
-- Makes: no table of its own. For the next stages: operated, special_member, signed, runs, going_on, nameless_call. Adds to flow_call.

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
JOIN around_of e ON e.doc_id = n.doc_id AND e.ordinal = n.enclosing;
-- Needs: operated, open_type.
UPDATE operated SET type_id = NULL WHERE type_id IN (SELECT sym_id FROM open_type);

-- A loop over a value of a type that is a function runs whatever function it is. Of a list of functions the server tells that type too.
-- Needs: operated, language:function_types.
UPDATE operated SET type_id = NULL
FROM symbol s JOIN symbol_text t USING (sym_id)
JOIN document d ON d.doc_id = s.doc_id AND language_has(d.language, 'function_types') JOIN language_rule r ON r.language = d.language
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
JOIN around_of e ON e.doc_id = n.doc_id AND e.ordinal = n.enclosing
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

-- Needs: special_member. Else: language VARCHAR, sym_id INTEGER, name VARCHAR
CREATE TEMP TABLE outside_answer AS
SELECT w.language, s.sym_id, w.name FROM symbol s JOIN document d ON d.doc_id = s.doc_id
JOIN answered_outside w ON w.language = d.language AND regexp_full_match(s.qualified_name, w.types)
WHERE has_flag(s.flags, 'external') AND is_type(s.kind) AND EXISTS (FROM special_member);

-- Needs: special_member. Else: class_id INTEGER, operation BIGINT, part BIGINT, evidence BIGINT, sym_id INTEGER, name VARCHAR
CREATE TEMP TABLE runs AS
SELECT * FROM (
    SELECT class_id, operation, part, evidence, arg_min(sym_id, (rank, depth, sym_id)) AS sym_id, arg_min(name, (rank, depth, sym_id)) AS name
    FROM (
        SELECT class_id, sym_id, name, operation, part, rank, evidence, 0 AS depth FROM special_member
        UNION ALL
        SELECT a.sub_id, m.sym_id, m.name, m.operation, m.part, m.rank, m.evidence, a.depth
        FROM ancestor a JOIN special_member m ON m.class_id = a.super_id
        UNION ALL  -- what a type outside has itself stands in for other members: `key in x` of a kind of mapping
        SELECT a.sub_id, -1, w.name, w.operation, w.part, w.rank, w.evidence, a.depth
        FROM outside_answer o JOIN ancestor a ON a.super_id = o.sym_id JOIN operation_member w ON w.language = o.language AND w.name = o.name
    )
    GROUP BY class_id, operation, part, evidence
) WHERE sym_id >= 0;

-- Of values whose type no server told, and which were followed to here. What stands on the right of an operator is asked only where the left
-- side has no answer, so nothing is said of that, unless the text itself says that the left one is a number, a text or a list; what reads an
-- attribute, and what is called, values are followed through. Something else may reach the place all the same, so each stays among those of
-- no type, and members of several types are only possible. So is what any value is put to (`str(x)`, `x == y`, `if x`, `x + y`) where a text or a
-- number may be, too.
-- Needs: flow_type, operated, runs.
INSERT INTO flow_call BY NAME
WITH open AS (
    SELECT n.doc_id, n.line, n.col, n.end_col, n.operation, o.encl_id, n.at_line, n.at_col, n.basis,
           n.operation IN (operation('text'), operation('representation'), operation('format'), operation('truth'), operation('hash'),
                           operation('length'), operation('contains'), operation('equal'), operation('unequal'), operation('less'),
                           operation('less_equal'), operation('greater'), operation('greater_equal'),
                           operation('add'), operation('add_to')) AS is_of_any
    FROM nameless n JOIN operated o USING (doc_id, line, col, operation)
    WHERE o.type_id IS NULL AND is_basis(n.basis, 'value', 'result', 'unknown')
      AND (n.operation NOT BETWEEN operation('add_to') AND operation('bit_or_with') OR NOT EXISTS (
              FROM nameless l WHERE l.doc_id = n.doc_id AND l.line = n.line AND l.col = n.col
               AND l.operation + operation('add_to') IN (n.operation + operation('add'), n.operation + operation('add_in_place'))))
      AND n.operation NOT BETWEEN operation('get_described') AND operation('name_described')
      AND n.operation NOT IN (operation('get_attribute'), operation('call'))
), typed AS (
    SELECT o.*, t.sym_id AS type_id, t.is_possible OR t.is_mixed AND o.is_of_any AS is_possible, t.via <> via('none') AS is_each
    FROM open o JOIN flow_type t
      ON t.encl_id IS NULL AND t.doc_id = o.doc_id AND t.line = o.at_line AND t.col = o.at_col
     AND CASE t.reason WHEN '' THEN is_basis(o.basis, 'value') WHEN 'result' THEN is_basis(o.basis, 'result') ELSE NOT is_basis(o.basis, 'value') END
    UNION
    SELECT o.*, t.sym_id, t.is_possible OR t.is_mixed AND o.is_of_any, t.via <> via('none') FROM open o
    JOIN standing b ON b.doc_id = o.doc_id AND b.line = o.at_line AND b.col = o.at_col JOIN flow_type t ON t.encl_id = b.sym_id
    WHERE is_basis(o.basis, 'value')
)
SELECT DISTINCT t.doc_id, t.line, t.col, t.end_col, t.encl_id, r.sym_id AS callee, via('inferred_type')::UTINYINT AS via,
       t.is_possible OR NOT t.is_each AND min(r.sym_id) OVER one <> max(r.sym_id) OVER one AS is_possible
FROM typed t JOIN runs r ON r.class_id = t.type_id AND r.operation = t.operation
WHERE r.name <> '__class_getitem__'
WINDOW one AS (PARTITION BY t.doc_id, t.line, t.col, t.operation, r.part);

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
-- Needs: nameless, language:function_types.
INSERT INTO nameless_call
SELECT DISTINCT e.sym_id, b.sym_id, n.doc_id, n.line, n.col, n.end_col, evidence('protocol'), n.operation
FROM nameless n
JOIN document d ON d.doc_id = n.doc_id AND language_has(d.language, 'function_types')
JOIN around_of e ON e.doc_id = n.doc_id AND e.ordinal = n.enclosing
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
-- Needs: operated, language:satisfies=shape.
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

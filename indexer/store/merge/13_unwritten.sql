-- Calls that no text shows: what a compiler puts in where objects are made, copied and end, and what default values call.
-- Takes: document, symbol, type_edge; final_occ, ancestor, sym_of, around_of, phantom, nameless_call, constructor; facts_unwritten.
-- Makes: no table of its own. Adds to raw_call and unresolved_operation.

-- What a compiler puts in, with the function that it stands in and, where the document declares it, the one that is called.
-- Needs: facts_unwritten. Else: id BIGINT, doc_id INTEGER, encl_id INTEGER, line INTEGER, col INTEGER, end_col INTEGER, kind UTINYINT,
-- name VARCHAR, scope VARCHAR, own_id INTEGER
CREATE TEMP TABLE added AS
SELECT row_number() OVER (ORDER BY x.doc_id, x.line, x.col, x.end_col, x.kind, x.name, x.scope, x.enclosing, x.own) AS id,
       x.doc_id, e.sym_id AS encl_id, x.line, x.col, x.end_col, x.kind, x.name, x.scope, CASE WHEN p.sym_id IS NULL THEN o.sym_id ELSE p.instead_id END AS own_id
FROM facts_unwritten x
JOIN around_of e ON e.doc_id = x.doc_id AND e.ordinal = x.enclosing
LEFT JOIN sym_of o ON o.doc_id = x.doc_id AND o.ordinal = x.own AND x.own >= 0
LEFT JOIN phantom p ON p.sym_id = o.sym_id;

-- A name that a compiler prints is of what the document defines, else of what it refers to, else of all that there is. `far`: which.
-- Needs: added. Else: doc_id INTEGER, name VARCHAR, sym_id INTEGER, far INTEGER
CREATE TEMP TABLE called_so AS
SELECT a.doc_id, a.name, s.sym_id, CASE WHEN s.doc_id = a.doc_id THEN 0 WHEN r.sym_id IS NOT NULL THEN 1 ELSE 2 END AS far
FROM (SELECT DISTINCT doc_id, name FROM added WHERE name <> '' UNION SELECT DISTINCT doc_id, split_part(scope, '.', -1) FROM added) a
JOIN symbol s ON replace(s.name, ' ', '') = replace(a.name, ' ', '')
JOIN document d ON d.doc_id = s.doc_id AND language_has(d.language, 'is_included')
LEFT JOIN (SELECT DISTINCT doc_id, sym_id FROM final_occ) r ON r.doc_id = a.doc_id AND r.sym_id = s.sym_id
WHERE (is_type(s.kind) OR is_callable(s.kind)) AND NOT has_flag(s.flags, 'external');

-- Needs: added, called_so. Else: doc_id INTEGER, scope VARCHAR, type_id INTEGER, far INTEGER
CREATE TEMP TABLE added_type AS
SELECT a.doc_id, a.scope, s.sym_id AS type_id, c.far
FROM (SELECT DISTINCT doc_id, scope FROM added WHERE scope <> '') a
JOIN called_so c ON c.doc_id = a.doc_id AND c.name = split_part(a.scope, '.', -1)
JOIN symbol s ON s.sym_id = c.sym_id AND is_type(s.kind)
QUALIFY rank() OVER (PARTITION BY a.doc_id, a.scope ORDER BY NOT ends_with('.' || s.qualified_name, '.' || a.scope), c.far) = 1;

-- What a type is made of, in a language in which a declaration of a value makes it: its direct bases and the types of its fields.
-- Needs: type_edge or nameless_call. Else: whole_id INTEGER, part_id INTEGER
CREATE TEMP TABLE part AS
SELECT t.sub_id AS whole_id, t.super_id AS part_id
FROM type_edge t JOIN symbol s ON s.sym_id = t.sub_id JOIN document d ON d.doc_id = s.doc_id AND language_has(d.language, 'constructs_by_type')
JOIN symbol p ON p.sym_id = t.super_id
WHERE NOT has_flag(s.flags, 'external') AND NOT has_flag(p.flags, 'external')
UNION
SELECT n.caller, n.callee FROM nameless_call n JOIN symbol s ON s.sym_id = n.caller JOIN symbol p ON p.sym_id = n.callee
WHERE n.operation = operation('construct') AND is_type(s.kind) AND is_type(p.kind);

-- Members that run where an object is made, ends, is assigned or compared, of each type's own.
-- Needs: language:constructs_by_type. Else: type_id INTEGER, sym_id INTEGER, name VARCHAR, kind INTEGER
CREATE TEMP TABLE own_special AS
SELECT c.sym_id AS type_id, m.sym_id, CASE WHEN starts_with(m.name, '~') THEN '~' ELSE m.name END AS name,
       CASE WHEN is_kind(m.kind, 'constructor') OR m.name = c.name THEN unwritten('make')
            WHEN starts_with(m.name, '~') THEN unwritten('end') ELSE unwritten('call') END AS kind
FROM symbol m
-- Where a macro stands before the type's name, constructors and destructors look like functions beside the type.
JOIN symbol c ON is_type(c.kind) AND (c.sym_id = m.container_id
     OR c.doc_id = m.doc_id AND c.container_id = m.container_id AND m.name IN (c.name, '~' || c.name))
JOIN document d ON d.doc_id = m.doc_id AND language_has(d.language, 'constructs_by_type')
WHERE is_callable(m.kind) AND NOT has_flag(m.flags, 'external')
  AND (is_kind(m.kind, 'constructor') OR m.name = c.name OR starts_with(m.name, '~') OR m.name IN ('operator=', 'operator==', 'operator<=>'));

-- Types whose objects run something when they are made, copied or end, by what they are made of too.
-- Needs: own_special or raw_call, own_special or language:constructs_by_type. Else: type_id INTEGER
CREATE TEMP TABLE lively AS
WITH RECURSIVE up(type_id) AS (
    SELECT type_id FROM (
        SELECT type_id FROM own_special
        UNION SELECT r.caller FROM raw_call r JOIN symbol s ON s.sym_id = r.caller AND is_type(s.kind)
        JOIN document d ON d.doc_id = s.doc_id AND language_has(d.language, 'constructs_by_type')
    )
    UNION SELECT p.whole_id FROM up JOIN part p ON p.part_id = up.type_id
)
FROM up;

-- What braces make: the parts of a type without a constructor, and their parts.
-- Needs: added_type. Else: whole_id INTEGER, part_id INTEGER
CREATE TEMP TABLE in_braces AS
WITH RECURSIVE down(whole_id, part_id) AS (
    SELECT DISTINCT type_id, type_id FROM added_type
    UNION SELECT d.whole_id, p.part_id FROM down d JOIN part p ON p.whole_id = d.part_id
    WHERE d.part_id NOT IN (SELECT type_id FROM own_special WHERE kind = unwritten('make'))
)
FROM down;

-- Needs: added_type or called_so. Else: id BIGINT, callee INTEGER, evidence UTINYINT, far INTEGER
CREATE TEMP TABLE added_callee AS
-- Of an object that is made or ends: the member; the type, where the compiler makes the member of what the type is made of.
SELECT a.id, coalesce(m.sym_id, t.type_id) AS callee,
       CASE WHEN a.kind = unwritten('make') THEN evidence('constructor') ELSE evidence('protocol') END::UTINYINT AS evidence, t.far
FROM added a JOIN added_type t ON t.doc_id = a.doc_id AND t.scope = a.scope SEMI JOIN lively l ON l.type_id = t.type_id
LEFT JOIN own_special m ON m.type_id = t.type_id AND m.kind = CASE WHEN a.kind = unwritten('make') THEN unwritten('make') ELSE unwritten('end') END
WHERE a.kind IN (unwritten('make'), unwritten('end'), unwritten('delete'))
UNION
-- In braces: the constructor, or what the text of a type without one runs.
SELECT a.id, coalesce(m.sym_id, r.callee), evidence('constructor')::UTINYINT, t.far
FROM added a JOIN added_type t ON t.doc_id = a.doc_id AND t.scope = a.scope JOIN in_braces i ON i.whole_id = t.type_id
LEFT JOIN own_special m ON m.type_id = i.part_id AND m.kind = unwritten('make')
LEFT JOIN (SELECT r.caller, r.callee FROM raw_call r JOIN symbol c ON c.sym_id = r.callee AND NOT starts_with(c.name, '~') AND NOT is_type(c.kind)) r
     ON r.caller = i.part_id AND m.sym_id IS NULL
WHERE a.kind = unwritten('aggregate') AND coalesce(m.sym_id, r.callee) IS NOT NULL
UNION
SELECT a.id, m.sym_id, evidence('protocol')::UTINYINT, 0
FROM added a JOIN added_type t ON t.doc_id = a.doc_id AND t.scope = a.scope
JOIN ancestor b ON b.super_id = t.type_id JOIN own_special m ON m.type_id = b.sub_id AND m.kind = unwritten('end')
WHERE a.kind = unwritten('delete')
UNION
SELECT id, own_id, evidence('protocol')::UTINYINT, 0 FROM added WHERE kind = unwritten('call') AND own_id IS NOT NULL
UNION
-- Of a type: its member, or that of the nearest type above; the type itself, where the compiler makes the member.
(SELECT a.id, coalesce(m.sym_id, t.type_id), evidence('protocol')::UTINYINT, t.far
 FROM added a JOIN added_type t ON t.doc_id = a.doc_id AND t.scope = a.scope
 JOIN (SELECT sub_id, super_id, depth FROM ancestor UNION ALL SELECT sym_id, sym_id, 0 FROM symbol WHERE is_type(kind)) b ON b.sub_id = t.type_id
 LEFT JOIN symbol m ON m.container_id = b.super_id AND replace(m.name, ' ', '') = replace(a.name, ' ', '') AND is_callable(m.kind)
 WHERE a.kind = unwritten('call') AND a.own_id IS NULL
   AND (m.sym_id IS NOT NULL OR a.name = 'operator=' AND b.depth = 0 AND t.type_id IN (SELECT type_id FROM lively))
 QUALIFY rank() OVER (PARTITION BY a.id ORDER BY m.sym_id IS NULL, b.depth) = 1)
UNION
-- Of no type, or of one that has none such.
(SELECT a.id, c.sym_id, evidence('protocol')::UTINYINT, c.far
 FROM added a JOIN called_so c ON c.doc_id = a.doc_id AND c.name = a.name JOIN symbol s ON s.sym_id = c.sym_id AND is_callable(s.kind)
 JOIN symbol o ON o.sym_id = s.container_id
 WHERE a.kind = unwritten('call') AND a.own_id IS NULL
   AND (a.scope = '' AND (NOT is_type(o.kind) OR starts_with(a.name, 'operator')) OR a.name LIKE 'operator %' AND NOT is_type(o.kind))
 QUALIFY rank() OVER (PARTITION BY a.id ORDER BY c.far) = 1)
UNION
SELECT a.id, c.sym_id, evidence('protocol')::UTINYINT, c.far
FROM added a JOIN added_type t ON t.doc_id = a.doc_id AND t.scope = a.scope JOIN symbol k ON k.sym_id = t.type_id
JOIN called_so c ON c.doc_id = a.doc_id AND c.name = a.name
JOIN symbol s ON s.sym_id = c.sym_id AND is_callable(s.kind) JOIN symbol o ON o.sym_id = s.container_id AND NOT is_type(o.kind)
WHERE a.kind = unwritten('beside') AND (s.container_id = k.container_id OR o.name = (SELECT name FROM symbol WHERE sym_id = k.container_id))
  AND t.type_id NOT IN (SELECT m.container_id FROM symbol m WHERE m.name = a.name AND m.container_id IS NOT NULL)
  AND t.type_id NOT IN (SELECT b.sub_id FROM ancestor b JOIN symbol m ON m.container_id = b.super_id WHERE m.name = a.name);

-- Several of one name, none of which the document knows: nobody can tell which. Where functions are overloaded, a name alone tells none.
-- Needs: added_callee. Else: id BIGINT
CREATE TEMP TABLE added_in_doubt AS
SELECT a.id FROM added_callee c JOIN added a USING (id) JOIN symbol s ON s.sym_id = c.callee
JOIN document d ON d.doc_id = a.doc_id
WHERE c.far = 2 GROUP BY ALL
HAVING count(DISTINCT coalesce(s.container_id, -1)) > 1
    OR bool_or(language_has(d.language, 'constructs_by_type') AND a.scope = '' AND a.kind = unwritten('call'));
-- Needs: added.
INSERT INTO unresolved_operation
SELECT DISTINCT operation('instantiate'), a.doc_id, a.line, a.col, a.end_col, a.encl_id, NULL::INTEGER
FROM added a SEMI JOIN (FROM added_in_doubt UNION ALL
    -- What a function beside a type gives for `for` may be of any type.
    SELECT a.id FROM added a JOIN added_callee c USING (id) WHERE a.kind = unwritten('beside') AND a.name = 'begin') x USING (id);

-- Needs: added_callee.
INSERT INTO raw_call
SELECT DISTINCT a.encl_id, c.callee, a.doc_id, a.line, a.col, a.end_col, c.evidence
FROM added_callee c JOIN added a USING (id) ANTI JOIN added_in_doubt x ON x.id = c.id
WHERE a.encl_id <> c.callee
  AND NOT EXISTS (SELECT 1 FROM raw_call r WHERE r.callee = c.callee AND r.caller = a.encl_id AND r.doc_id = a.doc_id AND r.line = a.line);

-- What makes an object makes its parts, and runs what stands in the type's own text; what ends it ends them.
-- Needs: part, own_special. Else: caller INTEGER, callee INTEGER, doc_id INTEGER, line INTEGER, col INTEGER, end_col INTEGER, evidence UTINYINT
CREATE TEMP TABLE of_part AS
SELECT DISTINCT w.caller, coalesce(m.sym_id, p.part_id) AS callee, s.doc_id, s.sel_line AS line, s.sel_col AS col, s.sel_end_col AS end_col,
       CASE WHEN w.kind = unwritten('make') THEN evidence('constructor') ELSE evidence('protocol') END::UTINYINT AS evidence
FROM (
    SELECT type_id, sym_id AS caller, kind, name FROM own_special WHERE kind <> unwritten('call')
    UNION SELECT DISTINCT whole_id, whole_id, k.kind, k.name FROM part, (SELECT DISTINCT kind, name FROM own_special) k
    WHERE k.kind <> unwritten('call') OR k.name = 'operator='
    UNION SELECT m.type_id, m.sym_id, m.kind, m.name FROM own_special m JOIN added a ON a.own_id = m.sym_id
    WHERE m.kind = unwritten('call') AND a.kind = unwritten('default')
) w
JOIN part p ON p.whole_id = w.type_id SEMI JOIN lively l ON l.type_id = p.part_id
JOIN symbol s ON s.sym_id = w.caller
LEFT JOIN own_special m ON m.type_id = p.part_id AND m.kind = w.kind AND (m.kind <> unwritten('call') OR m.name = w.name)
WHERE m.sym_id IS NOT NULL OR w.kind <> unwritten('call') AND w.caller <> w.type_id;
-- Needs: own_special, raw_call.
INSERT INTO of_part
SELECT DISTINCT m.sym_id, r.callee, r.doc_id, r.line, r.col, r.end_col, r.evidence
FROM own_special m JOIN raw_call r ON r.caller = m.type_id JOIN symbol c ON c.sym_id = r.callee
WHERE m.kind = unwritten('make') AND r.callee <> m.sym_id AND NOT starts_with(c.name, '~')
  AND NOT (is_type(c.kind) AND r.callee IN (SELECT type_id FROM own_special WHERE kind = unwritten('make')));
-- Needs: of_part.
INSERT INTO raw_call
SELECT f.* FROM of_part f
WHERE f.caller <> f.callee AND NOT EXISTS (SELECT 1 FROM raw_call r WHERE r.callee = f.callee AND r.caller = f.caller)
QUALIFY row_number() OVER (PARTITION BY f.caller, f.callee ORDER BY f.doc_id, f.line, f.col) = 1;

-- Who calls a function runs what stands in the default values of its parameters.
-- Needs: added, raw_call. Else: owner_id INTEGER, callee INTEGER, evidence UTINYINT
CREATE TEMP TABLE of_default AS
SELECT DISTINCT p.container_id AS owner_id, r.callee, r.evidence::UTINYINT AS evidence
FROM raw_call r JOIN document d ON d.doc_id = r.doc_id AND language_has(d.language, 'constructs_by_type')
JOIN symbol p ON p.doc_id = r.doc_id AND has_flag(p.flags, 'parameter') AND p.start_line <= r.line AND p.end_line >= r.line
     AND (r.line, r.col) BETWEEN (p.start_line, p.start_col) AND (p.end_line, p.end_col)
JOIN symbol f ON f.sym_id = p.container_id AND is_callable(f.kind);
-- Needs: of_default.
INSERT INTO raw_call
SELECT DISTINCT r.caller, f.callee, r.doc_id, r.line, r.col, r.end_col, f.evidence
FROM raw_call r JOIN of_default f ON f.owner_id = r.callee
WHERE NOT EXISTS (SELECT 1 FROM raw_call k WHERE k.callee = f.callee AND k.caller = r.caller AND k.doc_id = r.doc_id AND k.line = r.line);

-- Shards to index. Run once, top to bottom, in a fresh database, with the view `fact`: the rows of all shards, one per file,
-- and `is_new`, whether they are of this crawl.
-- Tables are written in the order that their questions need (see the ORDER BY of each); ids are dense and follow path order,
-- so the same shards give the same rows in the same order.
-- Role bits, flags, kinds and evidence: indexer/model.py (held against this file by a test).

CREATE TABLE document AS
SELECT (row_number() OVER (ORDER BY status = 'external', path) - 1)::INTEGER AS doc_id,
       path, language, module, digest, size_bytes, line_count, is_test, status, len(error_lines)::INTEGER AS error_count,
       package_manager, package, package_version
FROM (SELECT * FROM fact QUALIFY row_number() OVER (PARTITION BY path ORDER BY status, digest) = 1)
ORDER BY doc_id;

CREATE TEMP TABLE raw_symbol AS
SELECT doc_id, ordinal, s.*
FROM (
    SELECT d.doc_id, unnest(r.symbols) AS s, unnest(range(len(r.symbols)))::INTEGER AS ordinal
    FROM fact r JOIN document d USING (path)
);

-- A moniker is one symbol, also when two files claim it (a module beside its stub, outside the workspace): the first has it.
CREATE TEMP TABLE owner AS
SELECT moniker, (row_number() OVER (ORDER BY doc_id, ordinal) - 1)::INTEGER AS sym_id, doc_id, ordinal
FROM (SELECT moniker, doc_id, ordinal FROM raw_symbol QUALIFY row_number() OVER (PARTITION BY moniker ORDER BY doc_id, ordinal) = 1);

CREATE TEMP TABLE sym_of AS
SELECT r.doc_id, r.ordinal, o.sym_id, r.name, r.kind, r.flags
FROM raw_symbol r JOIN owner o USING (moniker);

CREATE TABLE symbol AS
SELECT o.sym_id, o.doc_id, c.sym_id AS container_id, r.moniker, r.name, r.qualified_name, r.kind,
       (r.flags | CASE WHEN d.status = 'external' THEN 2048 ELSE 0 END)::USMALLINT AS flags,
       r.start_line, r.start_col, r.end_line, r.end_col, r.sel_line, r.sel_col, r.sel_end_col
FROM owner o
JOIN raw_symbol r ON r.doc_id = o.doc_id AND r.ordinal = o.ordinal
JOIN document d ON d.doc_id = o.doc_id
LEFT JOIN sym_of c ON c.doc_id = r.doc_id AND c.ordinal = r.container
ORDER BY o.sym_id;

CREATE TABLE symbol_key AS
SELECT md5_number_lower(moniker) AS key, sym_id FROM symbol ORDER BY key, sym_id;

CREATE TABLE symbol_text AS
SELECT o.sym_id, r.signature, r.documentation, r.hover
FROM owner o JOIN raw_symbol r ON r.doc_id = o.doc_id AND r.ordinal = o.ordinal
WHERE r.signature <> '' OR r.documentation <> '' OR r.hover <> ''
ORDER BY o.sym_id;

CREATE TEMP TABLE raw_range AS
SELECT doc_id, m.sym_id, x.start_line, x.start_col, x.end_line, x.end_col
FROM (
    SELECT d.doc_id, unnest(r.extra_ranges) AS x
    FROM fact r JOIN document d USING (path)
) JOIN sym_of m USING (doc_id) WHERE m.ordinal = x.symbol;

-- Further places at which a symbol is defined: overloads, a setter, the other arm of an `if`.
CREATE TABLE extra_definition AS
SELECT e.sym_id, e.doc_id, e.start_line, e.start_col, e.end_line, e.end_col
FROM raw_range e JOIN document d USING (doc_id) WHERE d.status <> 'external'
ORDER BY ALL;

CREATE TEMP TABLE raw_occ AS
SELECT doc_id, o.*
FROM (
    SELECT d.doc_id, unnest(r.occurrences) AS o
    FROM fact r JOIN document d USING (path)
);

CREATE TEMP TABLE raw_target AS
SELECT doc_id, ordinal, is_new, t.path, t.line, t.col, t.end_line, t.end_col, t.symbol
FROM (
    SELECT d.doc_id, r.is_new, unnest(r.targets) AS t, unnest(range(len(r.targets)))::INTEGER AS ordinal
    FROM fact r JOIN document d USING (path)
);

-- ---- targets to symbols: those that an earlier merge has settled by their key, the others by their place

CREATE TEMP TABLE keyed AS
SELECT t.doc_id, t.ordinal, t.path, k.sym_id FROM raw_target t JOIN symbol_key k ON k.key = t.symbol WHERE t.symbol > 1;

CREATE TEMP TABLE place AS
SELECT row_number() OVER (ORDER BY p.path, p.line, p.col, p.end_line, p.end_col) AS place_id, d.doc_id, p.line, p.col, p.end_line, p.end_col, p.path
FROM (SELECT DISTINCT path, line, col, end_line, end_col FROM raw_target WHERE symbol = 0) p
LEFT JOIN document d USING (path);

-- Assignments through `self`; whether they define the class's own member or write a base's, the server has said.
CREATE TEMP TABLE member AS
SELECT doc_id, x.line, x.end_col, m.sym_id
FROM (
    SELECT d.doc_id, unnest(r.members) AS x
    FROM fact r JOIN document d USING (path)
) JOIN sym_of m USING (doc_id) WHERE m.ordinal = x.symbol;

CREATE TEMP TABLE pointed_at AS SELECT DISTINCT doc_id FROM place WHERE doc_id IS NOT NULL;

-- Where a name is bound, by the end of the range: servers point at a name or at a whole `self.name`.
CREATE TEMP TABLE bound AS
SELECT doc_id, line, end_col, min(sym_id) AS sym_id FROM (
    SELECT o.doc_id, o.line, o.end_col, m.sym_id
    FROM raw_occ o JOIN sym_of m ON m.doc_id = o.doc_id AND m.ordinal = o.symbol
    WHERE o.roles & 5 <> 0
    UNION ALL
    SELECT r.doc_id, r.sel_line, r.sel_end_col, m.sym_id
    FROM raw_symbol r JOIN sym_of m USING (doc_id, ordinal)
    WHERE r.ordinal > 0
    UNION ALL
    SELECT doc_id, line, end_col, sym_id FROM member
) SEMI JOIN pointed_at USING (doc_id) GROUP BY ALL;

CREATE TEMP TABLE bound_start AS
SELECT o.doc_id, o.line, o.col, min(m.sym_id) AS sym_id
FROM raw_occ o JOIN sym_of m ON m.doc_id = o.doc_id AND m.ordinal = o.symbol
SEMI JOIN pointed_at a ON a.doc_id = o.doc_id
WHERE o.roles & 5 <> 0
GROUP BY ALL;

CREATE TEMP TABLE exact AS
SELECT p.place_id, coalesce(module.sym_id, ranged.sym_id, b.sym_id) AS sym_id
FROM place p
LEFT JOIN (SELECT doc_id, sym_id, line_count, language FROM sym_of JOIN document USING (doc_id) WHERE ordinal = 0) module
       ON module.doc_id = p.doc_id
      AND (p.line = 0 AND p.col = 0 AND p.end_line = 0 AND p.end_col = 0
           -- TypeScript's modules are all of the file, from the first token on.
           OR module.language IN ('typescript', 'javascript') AND p.end_line > p.line AND p.end_line >= module.line_count - 1)
LEFT JOIN (SELECT doc_id, start_line, start_col, end_line, end_col, min(sym_id) AS sym_id FROM raw_range GROUP BY ALL) ranged
       ON ranged.doc_id = p.doc_id AND ranged.start_line = p.line AND ranged.start_col = p.col
      AND ranged.end_line = p.end_line AND ranged.end_col = p.end_col
LEFT JOIN bound b ON b.doc_id = p.doc_id AND b.line = p.end_line AND b.end_col = p.end_col
WHERE p.doc_id IS NOT NULL;

-- A place that is itself an occurrence (an import that another file re-exports): what that occurrence means, two hops deep.
CREATE TEMP TABLE hop AS
WITH token AS (
    SELECT p.place_id, min(t.place_id) AS next_id, arg_min(k.sym_id, (k.path, k.sym_id)) AS known_id
    FROM exact e JOIN place p USING (place_id)
    JOIN raw_occ o ON o.doc_id = p.doc_id AND o.line = p.end_line AND o.end_col = p.end_col AND o.target >= 0
    JOIN raw_target rt ON rt.doc_id = o.doc_id AND rt.ordinal = o.target
    LEFT JOIN place t ON t.path = rt.path AND t.line = rt.line AND t.col = rt.col AND t.end_line = rt.end_line AND t.end_col = rt.end_col
    LEFT JOIN keyed k ON k.doc_id = rt.doc_id AND k.ordinal = rt.ordinal
    WHERE e.sym_id IS NULL AND (rt.symbol > 0 OR t.place_id <> p.place_id)
    GROUP BY p.place_id
)
SELECT a.place_id, coalesce(a.known_id, e1.sym_id, b.known_id, e2.sym_id) AS sym_id
FROM token a
LEFT JOIN exact e1 ON e1.place_id = a.next_id
LEFT JOIN token b ON b.place_id = a.next_id
LEFT JOIN exact e2 ON e2.place_id = b.next_id;

CREATE TEMP TABLE at_token AS
SELECT DISTINCT p.place_id
FROM exact e JOIN place p USING (place_id)
JOIN raw_occ o ON o.doc_id = p.doc_id AND o.line = p.end_line AND o.end_col = p.end_col
WHERE e.sym_id IS NULL;

-- What calls in TypeScript lead to and is no name: the signature that is called, mostly.
CREATE TEMP TABLE called AS
SELECT DISTINCT p.place_id, o.name
FROM exact e JOIN place p USING (place_id)
JOIN document d ON d.doc_id = p.doc_id AND d.language IN ('typescript', 'javascript')
JOIN raw_target t ON t.path = p.path AND t.line = p.line AND t.col = p.col AND t.end_line = p.end_line AND t.end_col = p.end_col
JOIN raw_occ o ON o.doc_id = t.doc_id AND o.target = t.ordinal AND o.roles & 8 <> 0
WHERE e.sym_id IS NULL;

-- What is left and is no identifier: the innermost definition around it.
CREATE TEMP TABLE around AS
SELECT p.place_id, coalesce(min(b.sym_id), arg_max(s.sym_id, (s.start_line, s.start_col, s.sym_id))) AS sym_id
FROM exact e JOIN place p USING (place_id)
LEFT JOIN bound_start b ON b.doc_id = p.doc_id AND b.line = p.line AND b.col = p.col  -- a whole declaration that begins with its name
JOIN symbol s ON s.doc_id = p.doc_id
 AND (s.start_line, s.start_col) <= (p.line, p.col) AND (p.line, p.col) < (s.end_line, s.end_col)
JOIN document d ON d.doc_id = p.doc_id
WHERE e.sym_id IS NULL AND s.kind IN (2, 3, 5, 6, 7, 9, 10, 11, 12, 23)
  AND p.place_id NOT IN (SELECT place_id FROM at_token)
  -- TypeScript points at names, and at whole constructors: a name that is nothing here (a quoted key) is not what is around it.
  AND (d.language NOT IN ('typescript', 'javascript')
       OR (p.end_line > p.line OR (s.start_line, s.start_col) = (p.line, p.col))
          AND (s.kind <> 2 OR p.place_id NOT IN (SELECT place_id FROM called)))
GROUP BY p.place_id;

-- TypeScript answers `new X()` with the signature in `const X: new (a: A) => B`: then that X is meant around which it stands, though it
-- is a constant, and may be the second definition of its name.
CREATE TEMP TABLE signature AS
SELECT p.place_id, arg_max(s.sym_id, (s.start_line, s.start_col, s.sym_id)) AS sym_id
FROM called c JOIN place p USING (place_id)
JOIN (
    SELECT doc_id, sym_id, name, start_line, start_col, end_line, end_col FROM symbol
    UNION ALL
    SELECT r.doc_id, r.sym_id, s.name, r.start_line, r.start_col, r.end_line, r.end_col FROM raw_range r JOIN symbol s USING (sym_id)
) s ON s.doc_id = p.doc_id AND s.name = c.name
   AND (s.start_line, s.start_col) <= (p.line, p.col) AND (p.end_line, p.end_col) <= (s.end_line, s.end_col)
GROUP BY p.place_id;

CREATE TEMP TABLE meaning AS
SELECT e.place_id, coalesce(e.sym_id, h.sym_id, g.sym_id, a.sym_id) AS sym_id
FROM exact e LEFT JOIN hop h USING (place_id) LEFT JOIN signature g USING (place_id) LEFT JOIN around a USING (place_id)
WHERE coalesce(e.sym_id, h.sym_id, g.sym_id, a.sym_id) IS NOT NULL;

-- A package that is here in source and that something here uses in its installed form (a copy in site-packages, declarations in
-- node_modules, the module cache): the installed symbol is the one of the source, where just one has its descriptors, or its
-- descriptors below the file.
CREATE TEMP TABLE packaged AS
SELECT s.sym_id, d.status = 'external' AS is_external, d.language, d.package_manager, d.package, s.flags, s.name,
       substr(s.moniker, length(concat_ws(' ', d.language, d.package_manager, d.package, coalesce(nullif(d.package_version, ''), '.'))) + 2) AS descriptors,
       regexp_extract(d.path, '([^/.]+)[^/]*$', 1) AS stem
FROM symbol s JOIN document d USING (doc_id)
WHERE d.package_manager <> '' AND s.flags & 1 = 0
  AND (d.package_manager, d.package) IN (SELECT (package_manager, package) FROM document WHERE status = 'external' AND package_manager <> '')
  AND (d.package_manager, d.package) IN (SELECT (package_manager, package) FROM document WHERE status <> 'external');

CREATE TEMP TABLE twin AS
SELECT installed_id, coalesce(max(own_id) FILTER (same_place), CASE WHEN count(*) FILTER (same_stem) = 1 THEN max(own_id) FILTER (same_stem) END,
                              CASE WHEN count(*) = 1 THEN max(own_id) END) AS own_id
FROM (
    SELECT e.sym_id AS installed_id, o.sym_id AS own_id, e.descriptors = o.descriptors AS same_place, e.stem = o.stem AS same_stem
    FROM packaged e JOIN packaged o
      ON o.package_manager = e.package_manager AND o.package = e.package AND o.name = e.name
     AND replace(regexp_extract(o.descriptors, '[^/]*$'), '()', '') = replace(regexp_extract(e.descriptors, '[^/]*$'), '()', '')
    WHERE e.is_external AND NOT o.is_external AND regexp_extract(e.descriptors, '[^/]*$') <> ''
)
GROUP BY installed_id;
UPDATE meaning SET sym_id = t.own_id FROM twin t WHERE meaning.sym_id = t.installed_id AND t.own_id IS NOT NULL;

CREATE TEMP TABLE target_sym AS
SELECT rt.doc_id, rt.ordinal, m.sym_id
FROM raw_target rt
JOIN place p ON p.path = rt.path AND p.line = rt.line AND p.col = rt.col AND p.end_line = rt.end_line AND p.end_col = rt.end_col
JOIN meaning m USING (place_id)
WHERE rt.symbol = 0
UNION ALL
SELECT doc_id, ordinal, sym_id FROM keyed;

-- What the targets of new documents say from now on: those inside the workspace mean a symbol (or NOTHING) and have no place.
CREATE TEMP TABLE settled AS
SELECT d.path AS owner, rt.ordinal, rt.path,
       CASE WHEN is_inside THEN coalesce(k.key, 1) ELSE 0 END::UBIGINT AS symbol,
       CASE WHEN is_inside THEN 0 ELSE rt.line END::INTEGER AS line, CASE WHEN is_inside THEN 0 ELSE rt.col END::INTEGER AS col,
       CASE WHEN is_inside THEN 0 ELSE rt.end_line END::INTEGER AS end_line, CASE WHEN is_inside THEN 0 ELSE rt.end_col END::INTEGER AS end_col
FROM (
    SELECT t.*, there.path IS NOT NULL AS is_inside
    FROM raw_target t LEFT JOIN document there ON there.path = t.path AND there.status <> 'external'
    WHERE t.is_new
) rt
JOIN document d ON d.doc_id = rt.doc_id
LEFT JOIN target_sym t ON t.doc_id = rt.doc_id AND t.ordinal = rt.ordinal
LEFT JOIN symbol_key k ON k.sym_id = t.sym_id;

-- A member written outside its type (Go's methods, C++'s definitions, Rust's impls) belongs to the type, wherever that is.
UPDATE symbol SET container_id = o.owner_id
FROM (
    SELECT m.sym_id, min(coalesce(t.sym_id, own.sym_id)) AS owner_id
    FROM (
        SELECT d.doc_id, unnest(r.owners) AS x
        FROM fact r JOIN document d USING (path)
    ) y
    JOIN sym_of m ON m.doc_id = y.doc_id AND m.ordinal = x.symbol
    LEFT JOIN target_sym t ON t.doc_id = y.doc_id AND t.ordinal = x.target
    LEFT JOIN sym_of own ON own.doc_id = y.doc_id AND own.ordinal = x.own AND x.own >= 0
    WHERE coalesce(t.sym_id, own.sym_id) IS NOT NULL
    GROUP BY m.sym_id
) o
WHERE symbol.sym_id = o.sym_id AND symbol.sym_id <> o.owner_id;

-- ---- types

CREATE TABLE type_edge AS
SELECT DISTINCT m.sym_id AS sub_id, coalesce(t.sym_id, own.sym_id) AS super_id, x.evidence AS evidence
FROM (
    SELECT d.doc_id, unnest(r.supertypes) AS x
    FROM fact r JOIN document d USING (path)
) y
JOIN sym_of m ON m.doc_id = y.doc_id AND m.ordinal = x.symbol
LEFT JOIN target_sym t ON t.doc_id = y.doc_id AND t.ordinal = x.target
LEFT JOIN sym_of own ON own.doc_id = y.doc_id AND own.ordinal = x.own AND x.own >= 0
LEFT JOIN symbol there ON there.sym_id = t.sym_id
LEFT JOIN document beyond ON beyond.doc_id = there.doc_id
WHERE coalesce(t.sym_id, own.sym_id) IS NOT NULL AND coalesce(t.sym_id, own.sym_id) <> m.sym_id
  -- an interface that a Go package keeps to itself is implemented by chance only
  AND NOT (x.evidence = 9 AND beyond.status = 'external' AND beyond.language = 'go' AND there.flags & 4 = 0)
ORDER BY sub_id, super_id, evidence;

CREATE TEMP TABLE ancestor AS
WITH RECURSIVE up(sub_id, super_id, depth) AS (
    SELECT DISTINCT sub_id, super_id, 1 FROM type_edge
    UNION
    SELECT u.sub_id, t.super_id, u.depth + 1 FROM up u JOIN type_edge t ON t.sub_id = u.super_id WHERE u.depth < 30
)
SELECT sub_id, super_id, min(depth) AS depth FROM up WHERE sub_id <> super_id GROUP BY ALL;

-- ---- occurrences

-- A field that only assignments through `self` define, below a property of the same name: the property's setter runs.
CREATE TEMP TABLE below_property AS
SELECT f.sym_id, arg_min(p.sym_id, (a.depth, p.sym_id)) AS property_id
FROM (SELECT DISTINCT sym_id FROM member) f
JOIN symbol s ON s.sym_id = f.sym_id AND s.kind = 8
JOIN ancestor a ON a.sub_id = s.container_id
JOIN symbol p ON p.container_id = a.super_id AND p.name = s.name AND p.flags & 16 <> 0
WHERE NOT EXISTS (SELECT 1 FROM raw_occ o JOIN sym_of m ON m.doc_id = o.doc_id AND m.ordinal = o.symbol
                  WHERE m.sym_id = f.sym_id AND o.evidence = 0 AND o.roles & 1 <> 0 AND o.symbol >= 0
                    AND NOT EXISTS (SELECT 1 FROM member b WHERE b.doc_id = o.doc_id AND b.line = o.line AND b.end_col = o.end_col))
GROUP BY f.sym_id;

-- `self.x`, `cls.x` and `super().x` that the server is silent on: by name along the class and its bases.
CREATE TEMP TABLE inherited AS
SELECT i.doc_id, i.line, i.col, arg_min(m.sym_id, (i.depth, m.sym_id)) AS sym_id
FROM (
    SELECT q.doc_id, q.line, q.col, q.name, c.class_id, c.depth
    FROM (
        SELECT y.doc_id, x.line AS line, x.col AS col, o.name, w.sym_id AS owner_id, x.by_super AS by_super
        FROM (
            SELECT d.doc_id, unnest(r.silent_members) AS x
            FROM fact r JOIN document d USING (path)
        ) y
        JOIN sym_of w ON w.doc_id = y.doc_id AND w.ordinal = x.owner
        JOIN raw_occ o ON o.doc_id = y.doc_id AND o.line = x.line AND o.col = x.col
    ) q
    JOIN (
        SELECT sym_id AS owner_id, sym_id AS class_id, 0 AS depth FROM symbol WHERE kind IN (5, 10, 11, 23)
        UNION ALL SELECT sub_id, super_id, depth FROM ancestor
    ) c ON c.owner_id = q.owner_id AND (c.depth > 0 OR NOT q.by_super)
) i
JOIN symbol m ON m.container_id = i.class_id AND m.name = i.name AND m.flags & 2 = 0
GROUP BY ALL;

CREATE TEMP TABLE resolved AS
SELECT o.doc_id, o.line, o.col, o.end_col, o.name, o.roles, e.sym_id AS encl_id,
       CASE WHEN s.sym_id IS NULL AND h.sym_id IS NOT NULL THEN 10 ELSE o.evidence END::UTINYINT AS evidence,
       CASE WHEN (s.kind = 9 OR s.name = '__new__') AND o.name <> s.name AND s.container_id IS NOT NULL THEN s.container_id
            ELSE coalesce(p.property_id, s.sym_id, h.sym_id) END AS sym_id
FROM raw_occ o
LEFT JOIN sym_of own ON own.doc_id = o.doc_id AND own.ordinal = o.symbol
LEFT JOIN target_sym t ON t.doc_id = o.doc_id AND t.ordinal = o.target
LEFT JOIN symbol s ON s.sym_id = coalesce(own.sym_id, t.sym_id)
LEFT JOIN below_property p ON p.sym_id = s.sym_id
LEFT JOIN inherited h ON h.doc_id = o.doc_id AND h.line = o.line AND h.col = o.col
LEFT JOIN sym_of e ON e.doc_id = o.doc_id AND e.ordinal = o.enclosing;

-- Of several meanings of one identifier, those of the same name are its targets; at a call site the others are what the
-- server found by the callee's type (evidence 3), and an unresolved row beside a resolved one says nothing.
CREATE TEMP TABLE several AS
SELECT r.doc_id, r.line, r.col, bool_or(coalesce(s.name, '') = r.name) AS has_own_name, bool_or(r.sym_id IS NOT NULL) AS has_any
FROM resolved r LEFT JOIN symbol s USING (sym_id)
GROUP BY r.doc_id, r.line, r.col HAVING count(*) > 1;

CREATE TEMP TABLE final_occ AS
SELECT doc_id, line, col, end_col, name, roles::USMALLINT AS roles, encl_id, sym_id, min(evidence)::UTINYINT AS evidence
FROM (
    SELECT r.* REPLACE (
        CASE WHEN r.roles & 5 = 5 AND b.sym_id IS NOT NULL AND b.sym_id <> r.sym_id THEN r.roles - 1 ELSE r.roles END AS roles,
        CASE WHEN m.has_own_name AND s.name <> r.name AND r.roles & 8 <> 0 AND r.evidence <> 7 THEN 3 ELSE r.evidence END AS evidence)
    FROM resolved r LEFT JOIN several m ON m.doc_id = r.doc_id AND m.line = r.line AND m.col = r.col LEFT JOIN symbol s ON s.sym_id = r.sym_id
    LEFT JOIN member b ON b.doc_id = r.doc_id AND b.line = r.line AND b.end_col = r.end_col
    WHERE (r.sym_id IS NOT NULL OR m.has_any IS NULL OR NOT m.has_any)
      AND NOT (r.evidence = 3 AND s.qualified_name = 'builtins.object')  -- `cls()` of a class that has no constructor
)
GROUP BY doc_id, line, col, end_col, name, roles, encl_id, sym_id;

-- A member that the text only seemed to define is no symbol: all its assignments write a base's, or it is a prototype and the
-- body is elsewhere. What points to it means what the server said at its place. Its parameters go with it.
CREATE TEMP TABLE phantom AS
SELECT s.sym_id, min(o.sym_id) AS instead_id
FROM (SELECT DISTINCT sym_id FROM member) m JOIN symbol s USING (sym_id)
LEFT JOIN final_occ o ON o.doc_id = s.doc_id AND o.line = s.sel_line AND o.col = s.sel_col
WHERE NOT EXISTS (SELECT 1 FROM final_occ own WHERE own.sym_id = s.sym_id AND own.doc_id = s.doc_id AND own.line = s.sel_line AND own.col = s.sel_col)
  AND NOT EXISTS (SELECT 1 FROM symbol c WHERE c.container_id = s.sym_id AND c.flags & 2 = 0)
GROUP BY s.sym_id;
INSERT INTO phantom
SELECT c.sym_id, NULL FROM symbol c JOIN phantom p ON p.sym_id = c.container_id WHERE c.flags & 2 <> 0;
DELETE FROM symbol WHERE sym_id IN (SELECT sym_id FROM phantom);
DELETE FROM symbol_key WHERE sym_id IN (SELECT sym_id FROM phantom);
DELETE FROM symbol_text WHERE sym_id IN (SELECT sym_id FROM phantom);
UPDATE final_occ SET sym_id = p.instead_id FROM phantom p WHERE final_occ.sym_id = p.sym_id;
UPDATE final_occ SET encl_id = s.doc_module_id
FROM phantom p JOIN (SELECT c.sym_id, r.sym_id AS doc_module_id FROM sym_of c JOIN sym_of r ON r.doc_id = c.doc_id AND r.ordinal = 0) s USING (sym_id)
WHERE final_occ.encl_id = p.sym_id;
UPDATE type_edge SET super_id = p.instead_id FROM phantom p WHERE type_edge.super_id = p.sym_id AND p.instead_id IS NOT NULL;

CREATE TABLE override AS
SELECT m.sym_id AS sub_id, arg_min(b.sym_id, (a.depth, b.sym_id)) AS super_id
FROM symbol m
JOIN ancestor a ON a.sub_id = m.container_id
JOIN symbol b ON b.container_id = a.super_id AND b.name = m.name
WHERE m.kind IN (6, 7, 9) AND b.kind IN (6, 7, 9)
GROUP BY m.sym_id
ORDER BY ALL;

CREATE TABLE type_edge_rev AS SELECT super_id, sub_id, evidence FROM type_edge ORDER BY super_id, sub_id, evidence;

CREATE TABLE occ AS
SELECT doc_id, line, col, end_col, name, roles, sym_id, encl_id, evidence
FROM final_occ WHERE evidence NOT IN (3, 7)
ORDER BY doc_id, line, col, sym_id;

CREATE TABLE refs AS
SELECT sym_id, doc_id, line, col, end_col, roles, encl_id, evidence
FROM final_occ WHERE sym_id IS NOT NULL AND evidence <> 3
ORDER BY sym_id, doc_id, line, col;

-- Identifiers that nobody could resolve: each may be a reference that a list lacks.
CREATE TABLE unresolved_name AS
SELECT name, doc_id, line, col, end_col, roles, encl_id FROM occ WHERE sym_id IS NULL AND roles & 1 = 0 ORDER BY name, doc_id, line, col;

-- Calls whose callee nobody knows, by the function that makes them; bases that nobody knows, by their class.
CREATE TABLE unresolved_call AS
SELECT encl_id, name, doc_id, line, col FROM unresolved_name WHERE roles & 8 <> 0 ORDER BY encl_id, line, col;

CREATE TABLE unresolved_base AS
SELECT s.sym_id AS class_id, u.name, u.doc_id
FROM unresolved_name u
JOIN symbol s ON s.doc_id = u.doc_id AND s.container_id = u.encl_id AND s.kind IN (5, 10, 11, 23)
 AND (s.start_line, s.start_col) <= (u.line, u.col) AND (u.line, u.col) < (s.end_line, s.end_col)
WHERE u.roles & 64 <> 0
ORDER BY ALL;

-- ---- calls

-- What runs when a class is called: __init__ and __new__, its own or of the nearest ancestor that has one.
CREATE TEMP TABLE constructor AS
-- Constructors outside the workspace are left out: which of them are known depends on what else is referred to.
SELECT class_id, arg_min(sym_id, (depth, sym_id)) AS sym_id
FROM (
    SELECT m.container_id AS class_id, m.sym_id, m.name, 0 AS depth FROM symbol m
    WHERE (m.kind = 9 OR m.name = '__new__') AND m.flags & 2048 = 0
    UNION ALL
    SELECT a.sub_id, m.sym_id, m.name, a.depth FROM ancestor a JOIN symbol m ON m.container_id = a.super_id
    WHERE (m.kind = 9 OR m.name = '__new__') AND m.flags & 2048 = 0
)
GROUP BY class_id, name;

CREATE TEMP TABLE raw_call AS
SELECT o.encl_id AS caller, o.sym_id AS callee, o.doc_id, o.line, o.col, o.end_col, o.evidence
FROM final_occ o JOIN symbol s ON s.sym_id = o.sym_id
WHERE o.roles & 8 <> 0 AND (s.kind IN (5, 6, 7, 9, 10, 11, 12, 23) OR s.flags & 1 = 0) AND s.kind <> 2
UNION ALL
SELECT o.encl_id, k.sym_id, o.doc_id, o.line, o.col, o.end_col, 4
FROM final_occ o JOIN constructor k ON k.class_id = o.sym_id WHERE o.roles & 40 <> 0
UNION ALL
SELECT o.encl_id, o.sym_id, o.doc_id, o.line, o.col, o.end_col, 5
FROM final_occ o JOIN symbol s ON s.sym_id = o.sym_id
WHERE o.roles & 8 = 0 AND o.roles & 6 <> 0 AND o.roles & 1 = 0 AND s.flags & 16 <> 0
UNION ALL
SELECT o.encl_id, o.sym_id, o.doc_id, o.line, o.col, o.end_col, 6
FROM final_occ o JOIN symbol s ON s.sym_id = o.sym_id
WHERE o.roles & 32 <> 0 AND o.roles & 8 = 0 AND s.kind IN (5, 6, 12)
UNION ALL
SELECT o.encl_id, o.sym_id, o.doc_id, o.line, o.col, o.end_col, 7
FROM final_occ o JOIN symbol s ON s.sym_id = o.sym_id
WHERE (o.roles & 256 <> 0 AND o.roles & 8 = 0 AND s.kind IN (6, 12)) OR (o.roles & 4096 <> 0 AND o.evidence = 7);

CREATE TABLE call_in AS
SELECT callee, caller, doc_id, line, col, end_col, min(evidence)::UTINYINT AS evidence
FROM raw_call WHERE caller IS NOT NULL
GROUP BY ALL
ORDER BY callee, doc_id, line, col, caller;

CREATE TABLE call_out AS
SELECT caller, callee, doc_id, line, col, end_col, evidence FROM call_in
ORDER BY caller, line, col, callee;

-- ---- the rest

CREATE TABLE symbol_stats AS
SELECT s.sym_id, coalesce(r.refs, 0)::INTEGER AS refs, coalesce(c.callers, 0)::INTEGER AS callers
FROM symbol s
LEFT JOIN (SELECT sym_id, count(*) AS refs FROM refs WHERE roles & 1 = 0 GROUP BY sym_id) r USING (sym_id)
LEFT JOIN (SELECT callee AS sym_id, count(DISTINCT caller) AS callers FROM call_in GROUP BY callee) c USING (sym_id)
ORDER BY s.sym_id;

-- All that is printed of a symbol, in one row: one table to read instead of five to join (4.6 ms became 1.2).
-- Reading a row decodes its neighbours' strings too, so long ones are kept in two parts, of which the first repeats: 50 scattered
-- cards among 2.7 million take 12 ms instead of 20, and the table is smaller.
CREATE TABLE symbol_card (
    sym_id INTEGER, doc_id INTEGER, moniker_head VARCHAR, moniker_tail VARCHAR, name VARCHAR, qualified_head VARCHAR, qualified_tail VARCHAR,
    kind UTINYINT, path VARCHAR, sel_line INTEGER, sel_col INTEGER, end_line INTEGER, signature VARCHAR, container VARCHAR,
    flags USMALLINT, is_test BOOLEAN,
    moniker VARCHAR AS (moniker_head || moniker_tail), qualified_name VARCHAR AS (qualified_head || qualified_tail)
);
INSERT INTO symbol_card
SELECT s.sym_id, s.doc_id, s.mh, substr(s.moniker, length(s.mh) + 1), s.name, s.qh, substr(s.qualified_name, length(s.qh) + 1),
       s.kind, d.path, s.sel_line, s.sel_col, s.end_line, coalesce(t.signature, ''), s.container, s.flags, d.is_test
FROM (
    SELECT m.*, coalesce(c.moniker, '') AS container, CASE WHEN starts_with(m.moniker, c.moniker) THEN c.moniker ELSE '' END AS mh,
           CASE WHEN suffix(m.qualified_name, m.name) THEN left(m.qualified_name, length(m.qualified_name) - length(m.name)) ELSE '' END AS qh
    FROM symbol m LEFT JOIN symbol c ON c.sym_id = m.container_id
) s
JOIN document d USING (doc_id)
LEFT JOIN symbol_text t USING (sym_id)
ORDER BY s.sym_id;

CREATE TABLE symbol_name AS
SELECT lower(s.name) AS lname, s.name, s.sym_id, s.kind, s.flags, s.doc_id, t.refs
FROM symbol s JOIN symbol_stats t USING (sym_id) WHERE s.flags & 1 = 0 OR s.kind IN (5, 6, 12)
ORDER BY lname, s.name, s.sym_id;

CREATE TABLE diagnostic AS
SELECT doc_id, x.line, x.col, x.end_line, x.end_col, x.severity, x.code, x.source, x.message
FROM (
    SELECT d.doc_id, unnest(r.diagnostics) AS x
    FROM fact r JOIN document d USING (path)
)
ORDER BY doc_id, x.line, x.col, x.end_line, x.end_col, x.code, x.message;

CREATE TABLE unresolved_import AS
SELECT doc_id, x.line, x.module
FROM (
    SELECT d.doc_id, unnest(r.unresolved_imports) AS x
    FROM fact r JOIN document d USING (path)
)
ORDER BY doc_id, x.line, x.module;

CREATE TABLE document_coverage AS
SELECT doc_id, x.method, x.status, x.reason, x.asked, x.answered
FROM (
    SELECT d.doc_id, unnest(r.coverage) AS x
    FROM fact r JOIN document d USING (path)
)
ORDER BY doc_id, x.method;

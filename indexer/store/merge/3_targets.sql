-- Places that servers pointed at, to symbols: those that an earlier merge has settled by their key, the others by what lies there.
-- Takes: document; symbol, symbol_key, raw_symbol, sym_of, raw_range; facts_occurrences, facts_targets, facts_members, facts_owners.
-- Makes: settled (targets of new documents as shards keep them), and symbol.container_id of members written outside their type. For later
-- stages: raw_occ (occurrences as found), second_occ, target_sym (a target's symbol, if it has one), member (assignments through `self`).

CREATE TEMP TABLE raw_occ AS
SELECT * EXCLUDE (is_new) FROM facts_occurrences WHERE NOT is_evidence(evidence, 'second_server');

-- What a second server was asked, also where it knew nothing.
CREATE TEMP TABLE second_occ AS
SELECT doc_id, line, col, name, has_role(roles, 'keyword') AS is_keyword, target FROM facts_occurrences WHERE is_evidence(evidence, 'second_server');

CREATE TEMP TABLE raw_target AS
SELECT * FROM facts_targets;

-- Needs: raw_target. Else: doc_id INTEGER, ordinal INTEGER, path VARCHAR, sym_id INTEGER
CREATE TEMP TABLE keyed AS
SELECT t.doc_id, t.ordinal, t.path, k.sym_id FROM raw_target t JOIN symbol_key k ON k.key = t.symbol
WHERE t.symbol NOT IN (target_symbol('at_place'), target_symbol('nothing'));

-- Needs: raw_target. Else: place_id BIGINT, doc_id INTEGER, line INTEGER, col INTEGER, end_line INTEGER, end_col INTEGER, path VARCHAR
CREATE TEMP TABLE place AS
SELECT row_number() OVER (ORDER BY p.path, p.line, p.col, p.end_line, p.end_col) AS place_id, d.doc_id, p.line, p.col, p.end_line, p.end_col, p.path
FROM (SELECT DISTINCT path, line, col, end_line, end_col FROM raw_target WHERE symbol = target_symbol('at_place')) p
LEFT JOIN document d USING (path);

-- Assignments through `self`; whether they define the class's own member or write a base's, the server has said.
-- Needs: facts_members. Else: doc_id INTEGER, line INTEGER, end_col INTEGER, sym_id INTEGER
CREATE TEMP TABLE member AS
SELECT doc_id, x.line, x.end_col, m.sym_id
FROM facts_members x JOIN sym_of m USING (doc_id) WHERE m.ordinal = x.symbol;

-- Needs: place. Else: doc_id INTEGER
CREATE TEMP TABLE pointed_at AS SELECT DISTINCT doc_id FROM place WHERE doc_id IS NOT NULL;

-- Where a name is bound, by the end of the range: servers point at a name or at a whole `self.name`.
-- Needs: pointed_at. Else: doc_id INTEGER, line INTEGER, end_col INTEGER, sym_id INTEGER
CREATE TEMP TABLE bound AS
SELECT doc_id, line, end_col, min(sym_id) AS sym_id FROM (
    SELECT o.doc_id, o.line, o.end_col, m.sym_id
    FROM raw_occ o JOIN sym_of m ON m.doc_id = o.doc_id AND m.ordinal = o.symbol
    WHERE has_role(o.roles, 'definition', 'write')
    UNION ALL
    SELECT r.doc_id, r.sel_line, r.sel_end_col, m.sym_id
    FROM raw_symbol r JOIN sym_of m USING (doc_id, ordinal)
    WHERE r.ordinal > 0
    UNION ALL
    SELECT doc_id, line, end_col, sym_id FROM member
) SEMI JOIN pointed_at USING (doc_id) GROUP BY ALL;

-- Needs: pointed_at. Else: doc_id INTEGER, line INTEGER, col INTEGER, sym_id INTEGER
CREATE TEMP TABLE bound_start AS
SELECT o.doc_id, o.line, o.col, min(m.sym_id) AS sym_id
FROM raw_occ o JOIN sym_of m ON m.doc_id = o.doc_id AND m.ordinal = o.symbol
SEMI JOIN pointed_at a ON a.doc_id = o.doc_id
WHERE has_role(o.roles, 'definition', 'write')
GROUP BY ALL;

-- Needs: language:points_at_texts. Else: doc_id INTEGER
CREATE TEMP TABLE text_document AS SELECT doc_id FROM document WHERE language_has(language, 'points_at_texts');

-- Where servers point at texts, a module is all of the file, from the first token on, and up to the end where one definition is all of it.
-- Needs: place, text_document. Else: place_id BIGINT
CREATE TEMP TABLE whole AS
SELECT p.place_id
FROM place p JOIN document d USING (doc_id) SEMI JOIN text_document USING (doc_id)
LEFT JOIN (SELECT doc_id, min((line, col)) AS first FROM raw_occ SEMI JOIN pointed_at USING (doc_id) GROUP BY doc_id) o USING (doc_id)
LEFT JOIN raw_symbol m ON m.doc_id = p.doc_id AND m.ordinal = 0
LEFT JOIN (SELECT DISTINCT doc_id, start_line, start_col, end_line, end_col FROM raw_symbol WHERE ordinal > 0) s
       ON s.doc_id = p.doc_id AND s.start_line = p.line AND s.start_col = p.col AND s.end_line = p.end_line AND s.end_col = p.end_col
WHERE p.end_line > p.line AND p.end_line >= d.line_count - 1
  AND (o.first IS NULL OR (p.line, p.col) <= o.first)
  AND (s.doc_id IS NULL OR (s.end_line, s.end_col) = (m.end_line, m.end_col));

-- Needs: place. Else: place_id BIGINT, sym_id INTEGER
CREATE TEMP TABLE exact AS
SELECT p.place_id, coalesce(module.sym_id, ranged.sym_id, b.sym_id) AS sym_id
FROM place p
LEFT JOIN sym_of module
       ON module.doc_id = p.doc_id AND module.ordinal = 0
      AND (p.line = 0 AND p.col = 0 AND p.end_line = 0 AND p.end_col = 0 OR p.place_id IN (FROM whole))
LEFT JOIN (SELECT doc_id, start_line, start_col, end_line, end_col, min(sym_id) AS sym_id FROM raw_range GROUP BY ALL) ranged
       ON ranged.doc_id = p.doc_id AND ranged.start_line = p.line AND ranged.start_col = p.col
      AND ranged.end_line = p.end_line AND ranged.end_col = p.end_col
LEFT JOIN bound b ON b.doc_id = p.doc_id AND b.line = p.end_line AND b.end_col = p.end_col
WHERE p.doc_id IS NOT NULL;

-- Places within the workspace at which nothing is bound.
-- Needs: exact. Else: place_id BIGINT, doc_id INTEGER, line INTEGER, col INTEGER, end_line INTEGER, end_col INTEGER, path VARCHAR
CREATE TEMP TABLE unbound AS SELECT p.* FROM exact e JOIN place p USING (place_id) WHERE e.sym_id IS NULL;

-- A place that is itself an occurrence (an import that another file re-exports): what that occurrence means, two hops deep.
-- Needs: unbound, raw_target. Else: place_id BIGINT, sym_id INTEGER
CREATE TEMP TABLE hop AS
WITH token AS (
    SELECT p.place_id, min(t.place_id) AS next_id, arg_min(k.sym_id, (k.path, k.sym_id)) AS known_id
    FROM unbound p
    JOIN raw_occ o ON o.doc_id = p.doc_id AND o.line = p.end_line AND o.end_col = p.end_col AND o.target >= 0
    JOIN raw_target rt ON rt.doc_id = o.doc_id AND rt.ordinal = o.target
    LEFT JOIN place t ON t.path = rt.path AND t.line = rt.line AND t.col = rt.col AND t.end_line = rt.end_line AND t.end_col = rt.end_col
    LEFT JOIN keyed k ON k.doc_id = rt.doc_id AND k.ordinal = rt.ordinal
    WHERE rt.symbol <> target_symbol('at_place') OR t.place_id <> p.place_id
    GROUP BY p.place_id
)
SELECT a.place_id, coalesce(a.known_id, e1.sym_id, b.known_id, e2.sym_id) AS sym_id
FROM token a
LEFT JOIN exact e1 ON e1.place_id = a.next_id
LEFT JOIN token b ON b.place_id = a.next_id
LEFT JOIN exact e2 ON e2.place_id = b.next_id;

-- Needs: unbound. Else: place_id BIGINT
CREATE TEMP TABLE at_token AS
SELECT DISTINCT p.place_id
FROM unbound p JOIN raw_occ o ON o.doc_id = p.doc_id AND o.line = p.end_line AND o.end_col = p.end_col;

-- What calls lead to and is no name, where servers point at texts: the signature that is called, mostly.
-- Needs: unbound, text_document. Else: place_id BIGINT, name VARCHAR
CREATE TEMP TABLE called AS
SELECT DISTINCT p.place_id, o.name
FROM unbound p SEMI JOIN text_document d ON d.doc_id = p.doc_id
JOIN raw_target t ON t.path = p.path AND t.line = p.line AND t.col = p.col AND t.end_line = p.end_line AND t.end_col = p.end_col
JOIN raw_occ o ON o.doc_id = t.doc_id AND o.target = t.ordinal AND has_role(o.roles, 'call');

-- `module.exports = …`, to which servers point as a whole for what the file exports: the module, but where a call leads there alone.
-- Needs: unbound, text_document. Else: place_id BIGINT, sym_id INTEGER
CREATE TEMP TABLE exported AS
SELECT DISTINCT p.place_id, m.sym_id
FROM unbound p SEMI JOIN text_document d ON d.doc_id = p.doc_id
JOIN sym_of m ON m.doc_id = p.doc_id AND m.ordinal = 0
JOIN raw_occ e ON e.doc_id = p.doc_id AND e.line = p.line AND e.name = 'exports' AND has_role(e.roles, 'write') AND e.symbol < 0
 AND (e.line, e.end_col) < (p.end_line, p.end_col)
LEFT JOIN raw_occ o ON o.doc_id = p.doc_id AND o.line = p.line AND o.col = p.col AND o.name = 'module' AND o.end_col = e.col - 1 AND o.symbol < 0
WHERE (e.col = p.col OR o.doc_id IS NOT NULL)
  AND p.place_id NOT IN (
    SELECT c.place_id FROM place c
    JOIN raw_target t ON t.path = c.path AND t.line = c.line AND t.col = c.col AND t.end_line = c.end_line AND t.end_col = c.end_col
    JOIN raw_occ u ON u.doc_id = t.doc_id AND u.target = t.ordinal AND has_role(u.roles, 'call')
    WHERE NOT EXISTS (SELECT 1 FROM raw_occ other WHERE other.doc_id = u.doc_id AND other.line = u.line AND other.col = u.col
                      AND other.target >= 0 AND other.target <> u.target)
  );

-- What is left and is no identifier: the innermost definition around it, or the one that is just this text.
-- Needs: unbound. Else: place_id BIGINT, sym_id INTEGER
CREATE TEMP TABLE around AS
SELECT p.place_id, coalesce(min(b.sym_id), arg_max(s.sym_id, (s.start_line, s.start_col, -s.end_line, -s.end_col, s.sym_id))) AS sym_id
FROM unbound p
LEFT JOIN bound_start b ON b.doc_id = p.doc_id AND b.line = p.line AND b.col = p.col  -- a whole declaration that begins with its name
JOIN symbol s ON s.doc_id = p.doc_id
 AND (s.start_line, s.start_col) <= (p.line, p.col) AND (p.line, p.col) < (s.end_line, s.end_col)
JOIN document d ON d.doc_id = p.doc_id
WHERE ((s.start_line, s.start_col, s.end_line, s.end_col) = (p.line, p.col, p.end_line, p.end_col)
       -- a comment that tells of a member (`@method int f()`) is no definition; a string that a constant is defined by is one
       OR CASE WHEN language_has(d.language, 'points_at_comments') THEN is_kind(s.kind, 'constant') ELSE is_scope(s.kind) END)
  AND p.place_id NOT IN (SELECT place_id FROM at_token)
  -- Whoever points at texts points at names, and at whole constructors: a name that is nothing here (a quoted key) is not what is around it.
  AND (NOT language_has(d.language, 'points_at_texts')
       OR (p.end_line > p.line OR (s.start_line, s.start_col) = (p.line, p.col))
          AND (NOT is_kind(s.kind, 'module') OR p.place_id NOT IN (SELECT place_id FROM called)))
GROUP BY p.place_id;

-- TypeScript answers `new X()` with the signature in `const X: new (a: A) => B`: then that X is meant around which it stands, though it
-- is a constant, and may be the second definition of its name.
-- Needs: called. Else: place_id BIGINT, sym_id INTEGER
CREATE TEMP TABLE signature AS
SELECT p.place_id, arg_max(s.sym_id, (s.start_line, s.start_col, s.sym_id)) AS sym_id
FROM called c JOIN place p USING (place_id)
JOIN (
    SELECT doc_id, sym_id, name, start_line, start_col, end_line, end_col FROM symbol WHERE NOT is_kind(kind, 'module')
    UNION ALL
    SELECT r.doc_id, r.sym_id, s.name, r.start_line, r.start_col, r.end_line, r.end_col FROM raw_range r JOIN symbol s USING (sym_id)
) s ON s.doc_id = p.doc_id AND s.name = c.name
   AND (s.start_line, s.start_col) <= (p.line, p.col) AND (p.end_line, p.end_col) <= (s.end_line, s.end_col)
GROUP BY p.place_id;

-- Needs: exact. Else: place_id BIGINT, sym_id INTEGER
CREATE TEMP TABLE meaning AS
SELECT e.place_id, coalesce(e.sym_id, h.sym_id, g.sym_id, x.sym_id, a.sym_id) AS sym_id
FROM exact e LEFT JOIN hop h USING (place_id) LEFT JOIN signature g USING (place_id) LEFT JOIN exported x USING (place_id)
LEFT JOIN around a USING (place_id)
WHERE coalesce(e.sym_id, h.sym_id, g.sym_id, x.sym_id, a.sym_id) IS NOT NULL;

CREATE TEMP TABLE shared_package AS
SELECT package_manager, package FROM document WHERE package_manager <> ''
GROUP BY ALL HAVING bool_or(status = 'external') AND bool_or(status <> 'external');

-- A package that is here in source and that something here uses in its installed form (a copy in site-packages, declarations in
-- node_modules, the module cache): the installed symbol is the one of the source, where just one has its descriptors, or its
-- descriptors below the file.
-- Needs: shared_package. Else: sym_id INTEGER, is_external BOOLEAN, language VARCHAR, package_manager VARCHAR, package VARCHAR, flags
-- USMALLINT, name VARCHAR, descriptors VARCHAR, stem VARCHAR
CREATE TEMP TABLE packaged AS
SELECT s.sym_id, d.status = 'external' AS is_external, d.language, d.package_manager, d.package, s.flags, s.name,
       substr(s.moniker, length(concat_ws(' ', d.language, d.package_manager, d.package, coalesce(nullif(d.package_version, ''), '.'))) + 2) AS descriptors,
       regexp_extract(d.path, '([^/.]+)[^/]*$', 1) AS stem
FROM symbol s JOIN document d USING (doc_id) SEMI JOIN shared_package h ON h.package_manager = d.package_manager AND h.package = d.package
WHERE NOT has_flag(s.flags, 'local');

-- Needs: packaged. Else: installed_id INTEGER, own_id INTEGER
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
-- Needs: twin, meaning.
UPDATE meaning SET sym_id = t.own_id FROM twin t WHERE meaning.sym_id = t.installed_id AND t.own_id IS NOT NULL;

-- Needs: meaning or keyed. Else: doc_id INTEGER, ordinal INTEGER, sym_id INTEGER
CREATE TEMP TABLE target_sym AS
SELECT rt.doc_id, rt.ordinal, m.sym_id
FROM raw_target rt
JOIN place p ON p.path = rt.path AND p.line = rt.line AND p.col = rt.col AND p.end_line = rt.end_line AND p.end_col = rt.end_col
JOIN meaning m USING (place_id)
WHERE rt.symbol = target_symbol('at_place')
UNION ALL
SELECT doc_id, ordinal, sym_id FROM keyed;

-- What the targets of new documents say from now on: those inside the workspace mean a symbol (or NOTHING) and have no place.
-- Needs: raw_target. Else: owner VARCHAR, ordinal INTEGER, *targets
CREATE TEMP TABLE settled AS
SELECT d.path AS owner, rt.ordinal,
       rt.* EXCLUDE (doc_id, ordinal, is_new, is_inside) REPLACE (
           CASE WHEN is_inside THEN coalesce(k.key, target_symbol('nothing')) WHEN rt.symbol <> target_symbol('nothing') THEN rt.symbol ELSE target_symbol('at_place') END::UBIGINT AS symbol,
           CASE WHEN is_inside THEN 0 ELSE rt.line END::INTEGER AS line, CASE WHEN is_inside THEN 0 ELSE rt.col END::INTEGER AS col,
           CASE WHEN is_inside THEN 0 ELSE rt.end_line END::INTEGER AS end_line,
           CASE WHEN is_inside THEN 0 ELSE rt.end_col END::INTEGER AS end_col)
FROM (
    SELECT t.*, there.path IS NOT NULL AS is_inside
    FROM raw_target t LEFT JOIN document there ON there.path = t.path AND there.status <> 'external'
    WHERE t.is_new
) rt
JOIN document d ON d.doc_id = rt.doc_id
LEFT JOIN target_sym t ON t.doc_id = rt.doc_id AND t.ordinal = rt.ordinal
LEFT JOIN symbol_key k ON k.sym_id = t.sym_id;

-- A member written outside its type (Go's methods, C++'s definitions, Rust's impls) belongs to the type, wherever that is.
-- Needs: facts_owners.
UPDATE symbol SET container_id = o.owner_id
FROM (
    SELECT m.sym_id, min(coalesce(t.sym_id, own.sym_id)) AS owner_id
    FROM facts_owners x
    JOIN sym_of m ON m.doc_id = x.doc_id AND m.ordinal = x.symbol
    LEFT JOIN target_sym t ON t.doc_id = x.doc_id AND t.ordinal = x.target
    LEFT JOIN sym_of own ON own.doc_id = x.doc_id AND own.ordinal = x.own AND x.own >= 0
    WHERE coalesce(t.sym_id, own.sym_id) IS NOT NULL
    GROUP BY m.sym_id
) o
WHERE symbol.sym_id = o.sym_id AND symbol.sym_id <> o.owner_id;

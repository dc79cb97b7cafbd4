-- Types and their supertypes.
-- Takes: document, symbol; raw_occ, sym_of, target_sym; type_finder and language_rule (what languages say); facts_supertypes.
-- Makes: type_edge (the next stage leads the edges to symbols that turn out to be none elsewhere). For later stages: ancestor, with the
-- number of steps to it; made_base, implementing, outside_member. For `indexer.store.merge.bases`, which sets that number anew of classes
-- of several bases: listed_base.

-- Members that a type overrides or implements where names and types above do not show it: of types outside, and of interfaces that what it
-- gets from above knows nothing of. A server tells them beside the types.
-- Needs: facts_supertypes. Else: type_id INTEGER, sym_id INTEGER
CREATE TEMP TABLE outside_member AS
SELECT DISTINCT m.sym_id AS type_id, there.sym_id
FROM facts_supertypes x
JOIN sym_of m ON m.doc_id = x.doc_id AND m.ordinal = x.symbol
LEFT JOIN target_sym t ON t.doc_id = x.doc_id AND t.ordinal = x.target
LEFT JOIN sym_of own ON own.doc_id = x.doc_id AND own.ordinal = x.own AND x.own >= 0
JOIN symbol there ON there.sym_id = coalesce(t.sym_id, own.sym_id) AND is_kind(there.kind, 'method')
WHERE is_evidence(x.evidence, 'type_hierarchy');

-- Needs: facts_supertypes. Else: sub_id INTEGER, super_id INTEGER, *supertypes - symbol - target - own
CREATE TABLE type_edge AS
SELECT DISTINCT m.sym_id AS sub_id, coalesce(t.sym_id, own.sym_id) AS super_id,
       x.* EXCLUDE (doc_id, is_new, symbol, target, own)
FROM facts_supertypes x
JOIN sym_of m ON m.doc_id = x.doc_id AND m.ordinal = x.symbol
LEFT JOIN target_sym t ON t.doc_id = x.doc_id AND t.ordinal = x.target
LEFT JOIN sym_of own ON own.doc_id = x.doc_id AND own.ordinal = x.own AND x.own >= 0
LEFT JOIN symbol there ON there.sym_id = t.sym_id
LEFT JOIN document beyond ON beyond.doc_id = there.doc_id
WHERE coalesce(t.sym_id, own.sym_id) IS NOT NULL AND coalesce(t.sym_id, own.sym_id) <> m.sym_id
  AND (m.sym_id, coalesce(t.sym_id, own.sym_id)) NOT IN (SELECT type_id, sym_id FROM outside_member)
  -- where no type names its interfaces, one that a package keeps to itself is implemented by chance only, but for those of the language
  AND NOT (is_evidence(x.evidence, 'type_hierarchy') AND beyond.status = 'external' AND language_has(beyond.language, 'satisfies', 'unsaid')
           AND NOT has_flag(there.flags, 'exported')
           AND NOT coalesce(regexp_full_match(there.qualified_name, (SELECT open_types FROM language_rule r WHERE r.language = beyond.language)), false))
ORDER BY sub_id, super_id, evidence;

CREATE TEMP TABLE implementing AS
SELECT sym_id, doc_id, container_id, start_line AS line, start_col AS col FROM symbol WHERE has_flag(flags, 'implements');

-- What implements an interface for a type of another file (Rust's `impl Trait for T`): the interface is named right before its members.
-- Needs: implementing.
INSERT INTO type_edge BY NAME
SELECT DISTINCT m.container_id AS sub_id, b.super_id, evidence('subclass_list') AS evidence
FROM implementing m
ASOF JOIN (
    SELECT o.doc_id, o.line, o.col, min(coalesce(t.sym_id, own.sym_id)) AS super_id
    FROM raw_occ o
    LEFT JOIN target_sym t ON t.doc_id = o.doc_id AND t.ordinal = o.target
    LEFT JOIN sym_of own ON own.doc_id = o.doc_id AND own.ordinal = o.symbol AND o.symbol >= 0
    WHERE has_role(o.roles, 'supertype') GROUP BY ALL
) b ON m.doc_id = b.doc_id AND m.line * 65536 + m.col >= b.line * 65536 + b.col
JOIN symbol c ON c.sym_id = m.container_id AND is_type(c.kind)
WHERE b.super_id IS NOT NULL AND b.super_id <> m.container_id
  AND (m.container_id, b.super_id) NOT IN (SELECT sub_id, super_id FROM type_edge);

-- A base that only the running program knows: a parameter, what a function gives, an attribute that a subtype may set anew. Where types are
-- classes that are made as the program runs, nothing of these is a type, and the type of what an attribute holds says little.
-- Needs: type_edge. Else: class_id INTEGER, name VARCHAR, doc_id INTEGER, sym_id INTEGER, kind UTINYINT
CREATE TEMP TABLE made_base AS
SELECT DISTINCT t.sub_id AS class_id, b.name, c.doc_id, b.sym_id, b.kind
FROM type_edge t JOIN symbol b ON b.sym_id = t.super_id JOIN symbol c ON c.sym_id = t.sub_id JOIN document d ON d.doc_id = c.doc_id
WHERE language_has(d.language, 'linearises') AND (has_flag(b.flags, 'parameter') OR is_kind(b.kind, 'field', 'property') OR is_callable(b.kind))
  AND (NOT has_flag(b.flags, 'external') OR (d.language, b.qualified_name) IN (SELECT language, qualified_name FROM type_finder));

-- Needs: made_base.
DELETE FROM type_edge t USING symbol b
WHERE b.sym_id = t.super_id AND t.sub_id IN (SELECT class_id FROM made_base)
  AND (b.qualified_name = 'types.NoneType' OR (t.sub_id, t.super_id) IN (SELECT class_id, sym_id FROM made_base));

-- A function outside is no type either (`class P(namedtuple(…))`).
-- Needs: type_edge.
DELETE FROM type_edge t USING symbol b, symbol c, document d
WHERE b.sym_id = t.super_id AND c.sym_id = t.sub_id AND d.doc_id = c.doc_id AND language_has(d.language, 'linearises')
  AND (is_callable(b.kind) AND has_flag(b.flags, 'external') OR is_kind(b.kind, 'module'));

-- Needs: type_edge. Else: sub_id INTEGER, super_id INTEGER, depth INTEGER
CREATE TEMP TABLE ancestor AS
-- A pair is followed once, at its least depth: over many paths it would come again at each of 30 depths (ADR 0041).
WITH RECURSIVE up(sub_id, super_id, depth) USING KEY (sub_id, super_id) AS (
    SELECT DISTINCT sub_id, super_id, 1 FROM type_edge
    UNION
    SELECT DISTINCT u.sub_id, t.super_id, u.depth + 1 FROM up u JOIN type_edge t ON t.sub_id = u.super_id
    WHERE u.depth < 30
      AND NOT EXISTS (SELECT 1 FROM recurring.up known WHERE known.sub_id = u.sub_id AND known.super_id = t.super_id)
)
SELECT sub_id, super_id, depth FROM up WHERE sub_id <> super_id;

-- Where the types above one are asked in a line: each with those that it names, in the order of the text, if one names several.
-- Needs: type_edge, language:linearises. Else: sub_id INTEGER, super_id INTEGER, place BIGINT
CREATE TEMP TABLE listed_base AS
WITH edge AS (
    SELECT DISTINCT t.sub_id, t.super_id FROM type_edge t JOIN symbol c ON c.sym_id = t.sub_id JOIN document d ON d.doc_id = c.doc_id
    WHERE language_has(d.language, 'linearises')
), several AS (
    SELECT c.sym_id, c.doc_id, c.sel_line AS line, c.sel_col AS col FROM symbol c WHERE is_type(c.kind) AND c.doc_id IS NOT NULL
      AND c.sym_id IN (SELECT sub_id FROM edge GROUP BY sub_id HAVING count(*) > 1)
), said AS (
    SELECT b.sym_id AS sub_id, coalesce(t.sym_id, own.sym_id) AS super_id, min(o.line * 65536 + o.col) AS place
    FROM raw_occ o
    ASOF JOIN (SELECT * FROM several) b ON o.doc_id = b.doc_id AND o.line * 65536 + o.col >= b.line * 65536 + b.col
    LEFT JOIN target_sym t ON t.doc_id = o.doc_id AND t.ordinal = o.target
    LEFT JOIN sym_of own ON own.doc_id = o.doc_id AND own.ordinal = o.symbol AND o.symbol >= 0
    WHERE has_role(o.roles, 'supertype') GROUP BY ALL
)
SELECT e.sub_id, e.super_id, coalesce(s.place, 9223372036854775807) AS place FROM edge e LEFT JOIN said s USING (sub_id, super_id)
WHERE (SELECT count(*) FROM several) > 0
ORDER BY e.sub_id, place, e.super_id;

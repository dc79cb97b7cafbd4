-- What identifiers mean, by document and by symbol, with what was found by following values.
-- Takes: symbol, type_edge; ancestor, made_base, implementing, outside_member, final_occ, around_of; phantom; second_occ, target_sym; facts_unwritten; flow_meaning, flow_property, flow_stop and flow_base (what `indexer.store.flow` found).
-- Makes: occ (by document), refs (by symbol), unresolved_name, unresolved_call, unresolved_base, override, type_edge_rev, flow_gap. Adds to
-- final_occ, symbol and symbol_key. For the next stages: open_occ, above_member.

-- What a class extends that is made where it says so: `class A extends mixin(B)`, `class A extends require("./b")`.
-- Needs: flow_base.
INSERT INTO type_edge BY NAME
SELECT DISTINCT f.encl_id AS sub_id, f.sym_id AS super_id, evidence('flow')::UTINYINT AS evidence
FROM flow_base f ANTI JOIN type_edge t ON t.sub_id = f.encl_id AND t.super_id = f.sym_id
WHERE f.sym_id IS NOT NULL AND f.encl_id IS NOT NULL
ORDER BY ALL;

-- Needs: flow_base.
INSERT INTO ancestor
WITH RECURSIVE up(sub_id, super_id, depth) USING KEY (sub_id, super_id) AS (
    SELECT DISTINCT sub_id, super_id, 1 FROM type_edge
    UNION
    SELECT DISTINCT u.sub_id, t.super_id, u.depth + 1 FROM up u JOIN type_edge t ON t.sub_id = u.super_id
    WHERE u.depth < 30
      AND NOT EXISTS (SELECT 1 FROM recurring.up known WHERE known.sub_id = u.sub_id AND known.super_id = t.super_id)
)
SELECT sub_id, super_id, depth FROM up u
WHERE sub_id <> super_id AND NOT EXISTS (SELECT 1 FROM ancestor known WHERE known.sub_id = u.sub_id AND known.super_id = u.super_id);

-- Attributes that no server resolved, and whose object was followed to here. Something else may reach the place all the same, so each stays
-- among the unresolved: a list that has the row says still what it may lack.
-- Needs: flow_meaning. Else: doc_id INTEGER, *occurrences - enclosing - symbol - target - evidence, sym_id INTEGER, encl_id INTEGER,
-- evidence UTINYINT
CREATE TEMP TABLE open_occ AS
SELECT o.* FROM final_occ o SEMI JOIN flow_meaning m ON m.doc_id = o.doc_id AND m.line = o.line AND m.col = o.col WHERE o.sym_id IS NULL;

-- Needs: open_occ.
INSERT INTO final_occ BY NAME
SELECT o.* REPLACE (m.sym_id AS sym_id, evidence('flow')::UTINYINT AS evidence)
FROM open_occ o JOIN flow_meaning m ON m.doc_id = o.doc_id AND m.line = o.line AND m.col = o.col;

-- Needs: open_occ.
DELETE FROM final_occ WHERE sym_id IS NULL AND (doc_id, line, col) IN (SELECT doc_id, line, col FROM open_occ);

-- What is open after that, and another server knows. It infers what the first declines to, and so may know a part alone: the place stays
-- among the unresolved, too. More than a few answers are every class with such a member.
-- Needs: second_occ, target_sym. Else: doc_id INTEGER, line INTEGER, col INTEGER, sym_id INTEGER
CREATE TEMP TABLE second_meaning AS
SELECT DISTINCT s.doc_id, s.line, s.col, n.sym_id
FROM second_occ s JOIN target_sym t ON t.doc_id = s.doc_id AND t.ordinal = s.target
JOIN (SELECT doc_id, line, col FROM second_occ GROUP BY ALL HAVING count(*) <= 5) f ON f.doc_id = s.doc_id AND f.line = s.line AND f.col = s.col
LEFT JOIN phantom p ON p.sym_id = t.sym_id
JOIN symbol m ON m.sym_id = coalesce(p.instead_id, t.sym_id)
JOIN symbol n ON n.sym_id = CASE WHEN is_kind(m.kind, 'constructor') OR m.name = '__new__' THEN coalesce(m.container_id, m.sym_id) ELSE m.sym_id END
-- Of what they do not know either, some tell the function that is called around it; of a keyword that `**` takes, a field of that name.
WHERE n.name = s.name AND (NOT s.is_keyword OR has_flag(n.flags, 'parameter'));

-- Needs: second_meaning. Else: doc_id INTEGER, *occurrences - enclosing - symbol - target - evidence, sym_id INTEGER, encl_id INTEGER,
-- evidence UTINYINT
CREATE TEMP TABLE second_open AS
SELECT o.* FROM final_occ o SEMI JOIN second_meaning m ON m.doc_id = o.doc_id AND m.line = o.line AND m.col = o.col
WHERE o.sym_id IS NULL AND NOT is_evidence(o.evidence, 'callee_type', 'inferred');

-- Needs: second_open.
INSERT INTO final_occ BY NAME
SELECT o.* REPLACE (m.sym_id AS sym_id, evidence('second_server')::UTINYINT AS evidence)
FROM second_open o JOIN second_meaning m ON m.doc_id = o.doc_id AND m.line = o.line AND m.col = o.col;

-- Needs: second_open.
DELETE FROM final_occ WHERE sym_id IS NULL AND (doc_id, line, col) IN (SELECT doc_id, line, col FROM second_open);

-- Needs: second_open.
INSERT INTO open_occ BY NAME FROM second_open;

-- Properties that an assignment makes: it is their definition. What else may set them stays among the unresolved, as above.
-- Needs: flow_property.
INSERT INTO symbol BY NAME
SELECT sym_id, doc_id, encl_id AS container_id, moniker, name, qualified_name, symbol_kind('property') AS kind,
       CASE WHEN is_local THEN symbol_flag('local') ELSE 0 END AS flags, line AS start_line, col AS start_col, line AS end_line, end_col,
       line AS sel_line, col AS sel_col, end_col AS sel_end_col
FROM flow_property ORDER BY sym_id;
-- Needs: flow_property.
INSERT INTO symbol_key BY NAME SELECT moniker_key(moniker) AS key, sym_id FROM flow_property ORDER BY key, sym_id;
-- Needs: flow_property.
UPDATE final_occ SET roles = roles + role('definition')
FROM flow_property p
WHERE final_occ.sym_id = p.sym_id AND final_occ.doc_id = p.doc_id AND final_occ.line = p.line AND final_occ.col = p.col
  AND NOT has_role(roles, 'definition');

-- Where the name is a value (`app[method] = …`), the property is defined where that stands.
-- Needs: flow_property.
INSERT INTO final_occ BY NAME
SELECT p.doc_id, p.line, p.col, p.end_col, p.name, role('definition') AS roles, p.sym_id, p.encl_id, evidence('flow')::UTINYINT AS evidence
FROM flow_property p ANTI JOIN final_occ o ON o.sym_id = p.sym_id AND o.doc_id = p.doc_id AND o.line = p.line AND o.col = p.col;

-- Needs: flow_stop. Else: doc_id INTEGER, line INTEGER, col INTEGER, end_col INTEGER, encl_id INTEGER, reason VARCHAR
CREATE TABLE flow_gap AS
SELECT DISTINCT doc_id, line, col, end_col, encl_id, reason FROM flow_stop ORDER BY ALL;

-- Members that may stand in for others, and be stood in for. A method may stand in for a variable, and, where members are looked up by name,
-- the other way round. Nothing stands in for a member that is `fixed`: of a type that is no interface, where only these are dispatched.
-- Needs: type_edge. Else: sym_id INTEGER, name VARCHAR, container_id INTEGER, is_callable BOOLEAN, is_late BOOLEAN, is_outside BOOLEAN,
-- linearises BOOLEAN, is_fixed BOOLEAN
CREATE TEMP TABLE named_member AS
SELECT m.sym_id, m.name, m.container_id, is_kind(m.kind, 'method', 'property', 'constructor') AS is_callable,
       language_has(d.language, 'binds_late') AS is_late, has_flag(m.flags, 'external') AS is_outside,
       language_has(d.language, 'linearises') AS linearises,
       language_has(d.language, 'interfaces_alone_dispatch') AND NOT is_kind(c.kind, 'interface') AS is_fixed
FROM symbol m JOIN document d USING (doc_id) JOIN symbol c ON c.sym_id = m.container_id AND is_type(c.kind)
WHERE NOT has_flag(m.flags, 'parameter')
  AND (is_kind(m.kind, 'method', 'property', 'constructor', 'field', 'variable', 'constant')
       OR is_type(m.kind) AND language_has(d.language, 'linearises'))
  AND EXISTS (FROM type_edge);

-- A member and each of its name in the types above.
-- Needs: ancestor. Else: sub_id INTEGER, super_id INTEGER
CREATE TEMP TABLE above_member AS
SELECT DISTINCT m.sym_id AS sub_id, b.sym_id AS super_id
FROM named_member m
JOIN ancestor a ON a.sub_id = m.container_id
JOIN named_member b ON b.container_id = a.super_id AND b.name = m.name
WHERE (m.is_callable OR m.is_late) AND NOT b.is_fixed;

-- Where the text says what implements an interface, a member stands in for that of its name in the interface named right before, of whatever
-- type it is: one outside, any that fits. No other stands in for anything.
-- Needs: implementing. Else: sub_id INTEGER, super_id INTEGER
CREATE TEMP TABLE implemented AS
SELECT DISTINCT m.sym_id AS sub_id, b.sym_id AS super_id
FROM (
    SELECT s.sym_id, s.doc_id, s.name, s.start_line * 65536 + s.start_col AS place FROM symbol s SEMI JOIN implementing i ON i.sym_id = s.sym_id
) m
ASOF JOIN (
    SELECT doc_id, line * 65536 + col AS place, min(sym_id) AS sym_id FROM final_occ WHERE has_role(roles, 'supertype') GROUP BY ALL
) i ON i.doc_id = m.doc_id AND m.place >= i.place
JOIN symbol b ON b.container_id = i.sym_id AND b.name = m.name AND is_callable(b.kind);
-- Needs: above_member, language:says_implementations.
DELETE FROM above_member WHERE sub_id IN (
    SELECT m.sym_id FROM symbol m JOIN document d USING (doc_id) WHERE language_has(d.language, 'says_implementations')
);
-- Needs: implemented.
INSERT INTO above_member SELECT sub_id, super_id FROM implemented;

-- Needs: outside_member.
INSERT INTO above_member
SELECT DISTINCT m.sym_id, o.sym_id
FROM (
    SELECT type_id, type_id AS holder_id, sym_id FROM outside_member
    UNION SELECT o.type_id, a.super_id, o.sym_id FROM outside_member o JOIN ancestor a ON a.sub_id = o.type_id
) o
JOIN symbol b ON b.sym_id = o.sym_id
JOIN named_member m ON m.container_id = o.holder_id AND m.name = b.name AND m.is_callable AND NOT m.is_outside
JOIN symbol holder ON holder.sym_id = o.holder_id
ANTI JOIN above_member known ON known.sub_id = m.sym_id AND known.super_id = o.sym_id
WHERE has_flag(b.flags, 'external') OR NOT is_kind(holder.kind, 'interface');

-- What a type is derived from, in the order of the text, where the types above are searched in one line: of types with several bases alone.
-- What its body takes into itself (a trait) comes before what its head names.
-- Needs: type_edge. Else: sub_id INTEGER, super_id INTEGER, place INTEGER
CREATE TEMP TABLE one_of_bases AS
WITH base AS (
    SELECT DISTINCT t.sub_id, t.super_id, c.doc_id, c.start_line, c.end_line
    FROM type_edge t JOIN symbol c ON c.sym_id = t.sub_id JOIN document d ON d.doc_id = c.doc_id JOIN symbol b ON b.sym_id = t.super_id
    WHERE language_has(d.language, 'linearises') AND NOT has_flag(b.flags, 'external') AND is_type(b.kind)
), with_others AS (
    SELECT * FROM base WHERE sub_id IN (SELECT sub_id FROM base GROUP BY sub_id HAVING count(*) > 1)
)
SELECT s.sub_id, s.super_id,
       coalesce(min(CASE WHEN o.encl_id = s.sub_id AND language_has(d.language, 'takes_members') THEN 0 ELSE o.line * 65536 + o.col END), 0) AS place
FROM with_others s JOIN document d USING (doc_id) LEFT JOIN (SELECT doc_id, sym_id, line, col, encl_id FROM final_occ WHERE has_role(roles, 'supertype')) o
  ON o.doc_id = s.doc_id AND o.sym_id = s.super_id AND o.line BETWEEN s.start_line AND s.end_line
GROUP BY ALL;

-- By type and base: the members that it gets from there, of names that come from more than one.
-- Needs: one_of_bases. Else: sub_id INTEGER, base_id INTEGER, place INTEGER, sym_id INTEGER, name VARCHAR, container_id INTEGER
CREATE TEMP TABLE got_member AS
WITH line AS (
    SELECT sub_id, super_id AS base_id, place, super_id AS type_id FROM one_of_bases
    UNION SELECT o.sub_id, o.super_id, o.place, a.super_id FROM one_of_bases o JOIN ancestor a ON a.sub_id = o.super_id
), got AS (
    SELECT l.sub_id, l.base_id, l.place, m.sym_id, m.name, m.container_id
    FROM line l JOIN named_member m ON m.container_id = l.type_id WHERE NOT m.is_outside
)
SELECT g.* FROM got g
SEMI JOIN (SELECT sub_id, name FROM got GROUP BY ALL HAVING min(sym_id) <> max(sym_id) AND min(base_id) <> max(base_id)) shared
  ON shared.sub_id = g.sub_id AND shared.name = g.name
ANTI JOIN named_member own ON own.container_id = g.sub_id AND own.name = g.name
ANTI JOIN (SELECT g.sub_id, g.base_id, a.super_id FROM got g JOIN above_member a ON a.sub_id = g.sym_id) nearer
  ON nearer.sub_id = g.sub_id AND nearer.base_id = g.base_id AND nearer.super_id = g.sym_id;

-- A member that stands in for one which it does not override: of a base that is named first (`class Mixed(Mixin, Base)`). Where two bases have
-- a type above them in common, which of their members comes first depends on more, and both may.
-- Needs: got_member. Else: sub_id INTEGER, super_id INTEGER
CREATE TEMP TABLE beside_member AS
WITH pair AS (
    SELECT DISTINCT x.sym_id AS sub_id, y.sym_id AS super_id, x.container_id AS one, y.container_id AS other, x.base_id, y.base_id AS beside_id,
           x.place <= y.place AS is_first
    FROM got_member x JOIN got_member y ON y.sub_id = x.sub_id AND y.name = x.name AND y.base_id <> x.base_id AND y.container_id <> x.container_id
), apart AS (
    SELECT p.* FROM pair p
    ANTI JOIN ancestor a ON a.sub_id = p.one AND a.super_id = p.other
    ANTI JOIN ancestor b ON b.sub_id = p.other AND b.super_id = p.one
), akin AS (
    SELECT DISTINCT p.base_id, p.beside_id FROM (SELECT DISTINCT base_id, beside_id FROM apart WHERE NOT is_first) p
    JOIN ancestor a ON a.sub_id = p.base_id JOIN ancestor b ON b.sub_id = p.beside_id AND b.super_id = a.super_id
    JOIN symbol s ON s.sym_id = a.super_id WHERE NOT has_flag(s.flags, 'external')
)
SELECT DISTINCT p.sub_id, p.super_id FROM apart p LEFT JOIN akin k ON k.base_id = p.base_id AND k.beside_id = p.beside_id
WHERE p.is_first OR k.base_id IS NOT NULL;

-- What a type has of one that it embeds, at the least depth, where interfaces alone dispatch.
-- Needs: named_member, language:interfaces_alone_dispatch. Else: sub_id INTEGER, sym_id INTEGER, name VARCHAR, container_id INTEGER
CREATE TEMP TABLE embedded_member AS
WITH RECURSIVE embedding AS (
    SELECT DISTINCT t.sub_id, t.super_id
    FROM type_edge t JOIN symbol s ON s.sym_id = t.sub_id AND NOT is_kind(s.kind, 'interface') JOIN document d ON d.doc_id = s.doc_id
    WHERE is_evidence(t.evidence, 'subclass_list') AND language_has(d.language, 'interfaces_alone_dispatch')
      AND NOT language_has(d.language, 'says_implementations')
), up(sub_id, super_id, depth) USING KEY (sub_id, super_id) AS (
    SELECT sub_id, super_id, 1 FROM embedding
    UNION
    SELECT u.sub_id, e.super_id, u.depth + 1 FROM up u JOIN embedding e ON e.sub_id = u.super_id
    WHERE u.depth < 30
      AND NOT EXISTS (SELECT 1 FROM recurring.up known WHERE known.sub_id = u.sub_id AND known.super_id = e.super_id)
)
SELECT u.sub_id, m.sym_id, m.name, m.container_id FROM up u JOIN named_member m ON m.container_id = u.super_id AND m.is_callable
ANTI JOIN named_member own ON own.container_id = u.sub_id AND own.name = m.name
QUALIFY u.depth = min(u.depth) OVER (PARTITION BY u.sub_id, m.name);

-- It is what an interface asks for of the type, though the embedded one has not all of that.
-- Needs: embedded_member.
INSERT INTO beside_member
SELECT DISTINCT m.sym_id, i.sym_id
FROM embedded_member m JOIN ancestor a ON a.sub_id = m.sub_id
JOIN named_member i ON i.container_id = a.super_id AND i.name = m.name AND NOT i.is_fixed AND i.container_id <> m.container_id
ANTI JOIN above_member known ON known.sub_id = m.sym_id AND known.super_id = i.sym_id
ANTI JOIN beside_member beside ON beside.sub_id = m.sym_id AND beside.super_id = i.sym_id;

-- On each way up the nearest member of the name; what stands in for one of a base beside it.
-- Needs: above_member or beside_member. Else: sub_id INTEGER, super_id INTEGER
CREATE TABLE override AS
SELECT a.sub_id, a.super_id FROM above_member a
ANTI JOIN (SELECT x.sub_id, y.super_id FROM above_member x JOIN above_member y ON y.sub_id = x.super_id) farther
  ON farther.sub_id = a.sub_id AND farther.super_id = a.super_id
UNION
SELECT sub_id, super_id FROM beside_member
ORDER BY ALL;

-- Needs: type_edge. Else: super_id INTEGER, sub_id INTEGER, evidence UTINYINT
CREATE TABLE type_edge_rev AS SELECT super_id, sub_id, evidence FROM type_edge ORDER BY super_id, sub_id, evidence;

CREATE TABLE occ AS
SELECT * FROM final_occ WHERE NOT is_evidence(evidence, 'callee_type', 'inferred')
ORDER BY doc_id, line, col, sym_id;

CREATE TABLE refs AS
SELECT sym_id, doc_id, line, col, end_col, roles, encl_id, evidence
FROM final_occ WHERE sym_id IS NOT NULL AND NOT is_evidence(evidence, 'callee_type')
ORDER BY sym_id, doc_id, line, col;

-- Identifiers that nobody could resolve: each may be a reference that a list lacks.
CREATE TABLE unresolved_name AS
SELECT name, doc_id, line, col, end_col, roles, encl_id
FROM (SELECT * FROM final_occ WHERE sym_id IS NULL AND NOT is_evidence(evidence, 'callee_type', 'inferred') UNION ALL SELECT * FROM open_occ)
WHERE NOT has_role(roles, 'definition')
UNION ALL  -- what a macro makes a value of has no identifier of its own
SELECT x.name, x.doc_id, x.line, x.col, x.end_col, role('read'), e.sym_id
FROM facts_unwritten x JOIN around_of e ON e.doc_id = x.doc_id AND e.ordinal = x.enclosing
SEMI JOIN (SELECT name FROM symbol WHERE is_callable(kind) AND NOT has_flag(flags, 'external')) s ON s.name = x.name
WHERE x.kind = unwritten('value')
ORDER BY name, doc_id, line, col;

-- Calls whose callee nobody knows, by the function that makes them; bases that nobody knows, by their class.
-- Needs: unresolved_name. Else: encl_id INTEGER, name VARCHAR, doc_id INTEGER, line INTEGER, col INTEGER
CREATE TABLE unresolved_call AS
SELECT encl_id, name, doc_id, line, col FROM unresolved_name WHERE has_role(roles, 'call') ORDER BY encl_id, line, col;

-- `is_made`: the running program makes it, so that its name says nothing of what it is.
-- Needs: unresolved_name or flow_base or made_base. Else: class_id INTEGER, name VARCHAR, doc_id INTEGER, is_made BOOLEAN
CREATE TABLE unresolved_base AS
SELECT encl_id AS class_id, reason AS name, doc_id, false AS is_made FROM flow_base WHERE sym_id IS NULL AND encl_id IS NOT NULL
UNION ALL
SELECT class_id, name, doc_id, true FROM made_base
UNION ALL
SELECT s.sym_id AS class_id, u.name, u.doc_id, false
FROM unresolved_name u
JOIN symbol s ON s.doc_id = u.doc_id AND s.container_id = u.encl_id AND is_type(s.kind)
 AND (s.start_line, s.start_col) <= (u.line, u.col) AND (u.line, u.col) < (s.end_line, s.end_col)
WHERE has_role(u.roles, 'supertype')
ORDER BY ALL;

-- What each identifier means.
-- Takes: document, symbol, symbol_key, symbol_text, type_edge; raw_occ, sym_of, target_sym, member, ancestor, string_use, filled_parameter;
-- facts_silent_members; overloading_language (what languages say).
-- Makes: for later stages, and for `indexer.store.flow`, which runs behind this one: final_occ (with the edges that are no meanings of a
-- name), phantom, around_of (the symbol in which stands what is in an ordinal's text). Takes symbols out of symbol, symbol_key and symbol_text that the text only seemed to define.

-- A field that only assignments through `self` define, below a property of the same name: the property's setter runs.
-- Needs: member, ancestor. Else: sym_id INTEGER, property_id INTEGER
CREATE TEMP TABLE below_property AS
SELECT f.sym_id, arg_min(p.sym_id, (a.depth, p.sym_id)) AS property_id
FROM (SELECT DISTINCT sym_id FROM member) f
JOIN symbol s ON s.sym_id = f.sym_id AND is_kind(s.kind, 'field')
JOIN ancestor a ON a.sub_id = s.container_id
JOIN symbol p ON p.container_id = a.super_id AND p.name = s.name AND has_flag(p.flags, 'property')
WHERE NOT EXISTS (SELECT 1 FROM raw_occ o JOIN sym_of m ON m.doc_id = o.doc_id AND m.ordinal = o.symbol
                  WHERE m.sym_id = f.sym_id AND is_evidence(o.evidence, 'syntax') AND has_role(o.roles, 'definition') AND o.symbol >= 0
                    AND NOT EXISTS (SELECT 1 FROM member b WHERE b.doc_id = o.doc_id AND b.line = o.line AND b.end_col = o.end_col))
GROUP BY f.sym_id;

-- `self.x`, `cls.x` and `super().x` that the server is silent on: by name along the class and its bases.
-- Needs: facts_silent_members. Else: doc_id INTEGER, line INTEGER, col INTEGER, sym_id INTEGER
CREATE TEMP TABLE inherited AS
SELECT i.doc_id, i.line, i.col, arg_min(m.sym_id, (i.depth, m.sym_id)) AS sym_id
FROM (
    SELECT q.doc_id, q.line, q.col, q.name, c.class_id, c.depth
    FROM (
        SELECT x.doc_id, x.line AS line, x.col AS col, o.name, w.sym_id AS owner_id, x.by_super AS by_super
        FROM facts_silent_members x
        JOIN sym_of w ON w.doc_id = x.doc_id AND w.ordinal = x.owner
        JOIN raw_occ o ON o.doc_id = x.doc_id AND o.line = x.line AND o.col = x.col
    ) q
    JOIN (
        SELECT sym_id AS owner_id, sym_id AS class_id, 0 AS depth FROM symbol WHERE is_type(kind)
        UNION ALL SELECT sub_id, super_id, depth FROM ancestor
    ) c ON c.owner_id = q.owner_id AND (c.depth > 0 OR NOT q.by_super)
) i
JOIN symbol m ON m.container_id = i.class_id AND m.name = i.name AND NOT has_flag(m.flags, 'parameter')
GROUP BY ALL;

-- Nobody calls a namespace: clangd names what is around a name that its compiler could not parse.
-- Needs: language:preprocessed. Else: doc_id INTEGER
CREATE TEMP TABLE preprocessed_document AS SELECT doc_id FROM document WHERE language_has(language, 'preprocessed');

CREATE TEMP TABLE resolved AS
SELECT o.* EXCLUDE (enclosing, symbol, target) REPLACE (
           CASE WHEN s.sym_id IS NULL AND h.sym_id IS NOT NULL THEN evidence('inherited') ELSE o.evidence END::UTINYINT AS evidence),
       e.sym_id AS encl_id,
       CASE WHEN (is_kind(s.kind, 'constructor') OR s.name = '__new__') AND o.name <> s.name AND s.container_id IS NOT NULL THEN s.container_id
            ELSE coalesce(p.property_id, s.sym_id, h.sym_id) END AS sym_id
FROM raw_occ o
LEFT JOIN sym_of own ON own.doc_id = o.doc_id AND own.ordinal = o.symbol
LEFT JOIN target_sym t ON t.doc_id = o.doc_id AND t.ordinal = o.target
LEFT JOIN symbol s ON s.sym_id = coalesce(own.sym_id, t.sym_id)
      AND NOT (own.sym_id IS NULL AND has_role(o.roles, 'call') AND is_kind(s.kind, 'namespace') AND o.doc_id IN (FROM preprocessed_document))
LEFT JOIN below_property p ON p.sym_id = s.sym_id
LEFT JOIN inherited h ON h.doc_id = o.doc_id AND h.line = o.line AND h.col = o.col
LEFT JOIN sym_of e ON e.doc_id = o.doc_id AND e.ordinal = o.enclosing;

-- A function that a macro of another name writes (`DEFINE(idle)` makes `uv_idle_init`): its body has no place that the server could tell,
-- so it tells the macro. Where the function is declared, it is that declaration, and whatever else is told of its name means it.
-- `is_only`: there is one function of that name which a macro writes, for builds may have a macro each.
-- Needs: preprocessed_document. Else: name VARCHAR, macro_id INTEGER, sym_id INTEGER, is_only BOOLEAN
CREATE TEMP TABLE written_by_macro AS
SELECT name, macro_id, min(sym_id) AS sym_id, count(DISTINCT min(sym_id)) OVER (PARTITION BY name) = 1 AS is_only
FROM (
    SELECT DISTINCT p.name, m.sym_id AS macro_id, p.sym_id
    FROM (SELECT DISTINCT sym_id FROM member) b JOIN symbol p USING (sym_id)
    JOIN resolved o ON o.doc_id = p.doc_id AND o.line = p.sel_line AND o.col = p.sel_col AND o.sym_id IS NOT NULL
    JOIN symbol m ON m.sym_id = o.sym_id AND m.name <> p.name
    JOIN symbol_text t ON t.sym_id = m.sym_id AND regexp_matches(t.signature, '^#\s*define\s+\w+\(')
    WHERE is_callable(p.kind) AND p.doc_id IN (FROM preprocessed_document)
)
GROUP BY name, macro_id;
-- Needs: written_by_macro.
UPDATE resolved SET sym_id = w.sym_id
FROM written_by_macro w JOIN symbol m ON m.name <> w.name
JOIN symbol_text t ON t.sym_id = m.sym_id AND regexp_matches(t.signature, '^#\s*define\s+\w+\(')
WHERE resolved.sym_id = m.sym_id AND resolved.name = w.name AND (w.macro_id = m.sym_id OR w.is_only);

-- Of several meanings of one identifier, those of the same name are its targets; at a call site the others are what the
-- server found by the callee's type (evidence `callee_type`), and an unresolved row beside a resolved one says nothing.
-- What a module exports may be called: then it is what is listed beside the module.
-- Needs: resolved. Else: doc_id INTEGER, line INTEGER, col INTEGER, has_own_name BOOLEAN, has_any BOOLEAN, is_second BOOLEAN, has_function BOOLEAN
CREATE TEMP TABLE several AS
SELECT r.doc_id, r.line, r.col, bool_or(coalesce(s.name, '') = r.name) AS has_own_name, bool_or(r.sym_id IS NOT NULL) AS has_any,
       -- a variable of the text's own, and a member of that name which nobody knows
       bool_and(is_evidence(r.evidence, 'syntax') AND r.sym_id IS NOT NULL OR is_evidence(r.evidence, 'definition') AND r.sym_id IS NULL) AS is_second,
       bool_or(s.kind IS NOT NULL AND NOT is_kind(s.kind, 'module')) AS has_function
FROM resolved r LEFT JOIN symbol s USING (sym_id)
GROUP BY r.doc_id, r.line, r.col HAVING count(*) > 1;

CREATE TEMP TABLE final_occ AS
SELECT * EXCLUDE (sym_id, encl_id, evidence) REPLACE (roles::USMALLINT AS roles), sym_id, encl_id, min(evidence)::UTINYINT AS evidence
FROM (
    SELECT r.* REPLACE (
        CASE WHEN has_role(r.roles, 'definition') AND has_role(r.roles, 'write') AND b.sym_id IS NOT NULL AND b.sym_id <> r.sym_id
             THEN r.roles - role('definition') ELSE r.roles END AS roles,
        CASE WHEN m.has_own_name AND s.name <> r.name AND has_role(r.roles, 'call') AND NOT is_evidence(r.evidence, 'inferred')
             THEN evidence('callee_type') ELSE r.evidence END AS evidence)
    FROM resolved r LEFT JOIN several m ON m.doc_id = r.doc_id AND m.line = r.line AND m.col = r.col LEFT JOIN symbol s ON s.sym_id = r.sym_id
    LEFT JOIN member b ON b.doc_id = r.doc_id AND b.line = r.line AND b.end_col = r.end_col
    WHERE (r.sym_id IS NOT NULL OR m.has_any IS NULL OR NOT m.has_any OR m.is_second)
      AND NOT (coalesce(m.has_function, false) AND has_role(r.roles, 'call') AND coalesce(is_kind(s.kind, 'module'), false))
  AND NOT (is_evidence(r.evidence, 'callee_type') AND s.qualified_name = 'builtins.object')  -- `cls()` of a class that has no constructor
)
GROUP BY ALL;

CREATE TEMP TABLE overloading_document AS SELECT doc_id FROM document JOIN overloading_language USING (language);

-- A call for which the server lists several functions of that name is one in a template, by the types of its parameters: which of them
-- it means is decided where the template is used. None of them is known to be called, so nobody knows that identifier.
-- Needs: overloading_document. Else: doc_id INTEGER, line INTEGER, col INTEGER
CREATE TEMP TABLE undecided AS
SELECT o.doc_id, o.line, o.col
FROM final_occ o JOIN symbol s USING (sym_id) SEMI JOIN overloading_document d ON d.doc_id = o.doc_id
WHERE has_role(o.roles, 'call') AND is_callable(s.kind) AND s.name = o.name AND NOT is_evidence(o.evidence, 'callee_type')
GROUP BY ALL HAVING count(DISTINCT o.sym_id) > 1;

-- Needs: undecided.
INSERT INTO final_occ BY NAME
SELECT DISTINCT o.* REPLACE (NULL::INTEGER AS sym_id, evidence('definition')::UTINYINT AS evidence)
FROM final_occ o SEMI JOIN undecided u ON u.doc_id = o.doc_id AND u.line = o.line AND u.col = o.col;
-- Needs: undecided.
DELETE FROM final_occ WHERE sym_id IS NOT NULL AND (doc_id, line, col) IN (SELECT doc_id, line, col FROM undecided);

-- What a field of a model of Django holds is a value of another class, though the text says that it is the field: the server tells members
-- of the field's class, and nobody knows what `part.whole.name` means. Not so in classes of fields.
CREATE TEMP TABLE member_of_field AS
SELECT m.sym_id, CASE WHEN is_type(m.kind) THEN m.name END AS type_name
FROM symbol m LEFT JOIN symbol c ON c.sym_id = m.container_id AND is_type(c.kind)
WHERE has_flag(m.flags, 'external') AND NOT has_flag(m.flags, 'parameter')
  AND regexp_matches(CASE WHEN is_type(m.kind) THEN m.qualified_name ELSE c.qualified_name END,
                     '^django\.(db\.models|contrib\.(postgres|gis\.db\.models|contenttypes))\.fields\.');

-- Needs: member_of_field. Else: doc_id INTEGER, line INTEGER, col INTEGER
CREATE TEMP TABLE of_value AS
SELECT DISTINCT o.doc_id, o.line, o.col
FROM final_occ o JOIN member_of_field f ON f.sym_id = o.sym_id AND f.type_name IS DISTINCT FROM o.name
LEFT JOIN symbol e ON e.sym_id = o.encl_id
LEFT JOIN (SELECT t.doc_id, t.line, t.end_col FROM final_occ t JOIN symbol k ON k.sym_id = t.sym_id AND is_type(k.kind)) c
  ON c.doc_id = o.doc_id AND c.line = o.line AND c.end_col + 1 = o.col  -- `Field.clean` is taken of the class
ANTI JOIN (  -- a variable of the text's own that holds such a member is called
    SELECT doc_id, line, col FROM final_occ WHERE sym_id IS NOT NULL AND sym_id NOT IN (SELECT sym_id FROM member_of_field)
) own ON own.doc_id = o.doc_id AND own.line = o.line AND own.col = o.col
WHERE c.doc_id IS NULL AND NOT has_role(o.roles, 'keyword', 'import') AND NOT EXISTS (
    SELECT 1 FROM ancestor a JOIN symbol f ON f.sym_id = a.super_id
    WHERE a.sub_id IN (e.sym_id, e.container_id) AND regexp_matches(f.qualified_name, '^django\.[a-z_.]*\.fields\.')
);

-- Needs: of_value.
INSERT INTO final_occ BY NAME
SELECT DISTINCT o.* REPLACE (NULL::INTEGER AS sym_id, evidence('definition')::UTINYINT AS evidence)
FROM final_occ o SEMI JOIN of_value v ON v.doc_id = o.doc_id AND v.line = o.line AND v.col = o.col;
-- Needs: of_value.
DELETE FROM final_occ WHERE sym_id IS NOT NULL AND (doc_id, line, col) IN (SELECT doc_id, line, col FROM of_value);

-- Needs: string_use.
INSERT INTO final_occ BY NAME SELECT * FROM string_use;
-- Needs: filled_parameter.
INSERT INTO final_occ BY NAME SELECT * FROM filled_parameter;

-- What the macro's text runs, the function that it writes runs.
-- Needs: written_by_macro.
INSERT INTO final_occ BY NAME
SELECT DISTINCT o.* REPLACE (w.macro_id AS sym_id, w.sym_id AS encl_id, (role('read') + role('call'))::USMALLINT AS roles,
                             evidence('definition')::UTINYINT AS evidence)
FROM written_by_macro w JOIN symbol p USING (sym_id)
JOIN final_occ o ON o.doc_id = p.doc_id AND o.line = p.sel_line AND o.col = p.sel_col AND o.sym_id = p.sym_id;

-- A member that the text only seemed to define is no symbol: all its assignments write a base's, or it is a prototype and the
-- body is elsewhere. What points to it means what the server said at its place. Its parameters go with it.
-- Needs: member. Else: sym_id INTEGER, instead_id INTEGER
CREATE TEMP TABLE phantom AS
SELECT s.sym_id, min(o.sym_id) AS instead_id
FROM (SELECT DISTINCT sym_id FROM member) m JOIN symbol s USING (sym_id)
LEFT JOIN final_occ o ON o.doc_id = s.doc_id AND o.line = s.sel_line AND o.col = s.sel_col
WHERE NOT EXISTS (SELECT 1 FROM final_occ own WHERE own.sym_id = s.sym_id AND own.doc_id = s.doc_id AND own.line = s.sel_line AND own.col = s.sel_col)
  AND NOT EXISTS (SELECT 1 FROM symbol c WHERE c.container_id = s.sym_id AND NOT has_flag(c.flags, 'parameter')
                     AND NOT is_kind(c.kind, 'type parameter'))
GROUP BY s.sym_id;
-- A parameter of a prototype is the one at its place where the body is; where one of the two leaves names out, the one of its name.
-- Needs: phantom.
INSERT INTO phantom
WITH parameter AS (
    SELECT sym_id, container_id, kind, name, row_number() OVER of_one AS place, count(*) OVER (PARTITION BY container_id, kind) AS together
    FROM symbol
    WHERE (has_flag(flags, 'parameter') OR is_kind(kind, 'type parameter'))
      AND container_id IN (SELECT sym_id FROM phantom UNION SELECT instead_id FROM phantom)
    WINDOW of_one AS (PARTITION BY container_id, kind ORDER BY sel_line, sel_col)
)
SELECT c.sym_id, coalesce(min(w.sym_id) FILTER (w.place = c.place AND w.together = c.together), min(w.sym_id) FILTER (w.name = c.name))
FROM parameter c JOIN phantom p ON p.sym_id = c.container_id LEFT JOIN parameter w ON w.container_id = p.instead_id AND w.kind = c.kind
GROUP BY c.sym_id;
-- What a parameter is given, where it is a function itself, goes with it: `void (*work)(struct job *w)`.
-- Needs: phantom.
INSERT INTO phantom
SELECT c.sym_id, min(w.sym_id)
FROM symbol c JOIN phantom p ON p.sym_id = c.container_id LEFT JOIN symbol w ON w.container_id = p.instead_id AND w.name = c.name
WHERE c.sym_id NOT IN (SELECT sym_id FROM phantom)
GROUP BY c.sym_id;
-- What stands in the text of one stands in what is around it.
-- Needs: phantom. Else: sym_id INTEGER, instead_id INTEGER, around_id INTEGER, doc_id INTEGER, line INTEGER, col INTEGER
CREATE TEMP TABLE phantom_text AS
SELECT p.sym_id, p.instead_id, coalesce(c.sym_id, m.sym_id) AS around_id, s.doc_id, s.sel_line AS line, s.sel_col AS col
FROM phantom p JOIN symbol s USING (sym_id) JOIN sym_of m ON m.doc_id = s.doc_id AND m.ordinal = 0
LEFT JOIN symbol c ON c.sym_id = s.container_id AND NOT is_value(c.kind) AND c.sym_id NOT IN (SELECT sym_id FROM phantom);
CREATE TEMP TABLE around_of AS
SELECT o.doc_id, o.ordinal, coalesce(t.around_id, o.sym_id) AS sym_id FROM sym_of o LEFT JOIN phantom_text t USING (sym_id);
-- Needs: phantom.
DELETE FROM symbol WHERE sym_id IN (SELECT sym_id FROM phantom);
-- Needs: phantom.
DELETE FROM symbol_key WHERE sym_id IN (SELECT sym_id FROM phantom);
-- Needs: phantom.
DELETE FROM symbol_text WHERE sym_id IN (SELECT sym_id FROM phantom);
-- Needs: phantom.
UPDATE final_occ SET sym_id = p.instead_id FROM phantom p WHERE final_occ.sym_id = p.sym_id;
-- `begin check(a, b);`, of words that the text's own names do not tell from a prototype: the macro is used there.
-- Needs: phantom_text.
UPDATE final_occ SET roles = (role('read') + role('call'))::USMALLINT
FROM phantom_text p JOIN symbol_text m ON m.sym_id = p.instead_id AND regexp_matches(m.signature, '^#\s*define\s+\w+\(')
WHERE final_occ.doc_id = p.doc_id AND final_occ.line = p.line AND final_occ.col = p.col AND final_occ.sym_id = p.instead_id;
-- Needs: phantom_text.
UPDATE final_occ SET encl_id = t.around_id FROM phantom_text t WHERE final_occ.encl_id = t.sym_id;
-- Needs: phantom.
UPDATE type_edge SET super_id = p.instead_id FROM phantom p WHERE type_edge.super_id = p.sym_id AND p.instead_id IS NOT NULL;

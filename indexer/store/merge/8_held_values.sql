-- What variables hold and functions give, by their types: whatever the number of steps.
-- Takes: document, symbol, symbol_text, override; final_occ, sym_of, target_sym, ancestor; operation_member and language_rule (what
-- languages say); facts_nameless_calls, facts_values, facts_accessors.
-- Makes: no table of its own. For the next stages: nameless, standing, open_type, closed_value, given, holds.

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
WHERE NOT is_evidence(o.evidence, 'callee_type', 'inferred', 'flow', 'second_server');

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

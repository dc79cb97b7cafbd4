-- Calls that no name tells from reading and setting a field, or from naming a base: accessors, hooks of subclasses, what copies members.
-- Takes: document, symbol, symbol_text; final_occ, sym_of, member, ancestor, above_member; nameless, standing, given, runs;
-- facts_accessors.
-- Makes: no table of its own. Adds to nameless_call, takes from operated. For the next stage: accessor_member.

-- What a type has that runs where a field that holds an object of it is read, set, deleted or named.
-- Needs: runs. Else: class_id INTEGER, operation BIGINT, evidence BIGINT, sym_id INTEGER
CREATE TEMP TABLE described_run AS
SELECT class_id, operation, evidence, sym_id FROM runs WHERE operation BETWEEN operation('get_described') AND operation('name_described');

-- A field whose value is of a type with accessors, or is made by `property(get, set)`.
-- Needs: facts_accessors or given, facts_accessors or described_run. Else: field_id INTEGER, operation BIGINT, callee INTEGER, evidence BIGINT
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
JOIN described_run r ON r.class_id = g.type_id
WHERE is_kind(f.kind, 'field', 'constant', 'variable')
  AND f.sym_id NOT IN (SELECT sym_id FROM member);

-- A method that an object with accessors decorates is such a field.
-- Needs: described_run.
INSERT INTO accessor
SELECT DISTINCT f.sym_id, CASE r.operation WHEN operation('get_described') THEN operation('get_attribute')
                          WHEN operation('set_described') THEN operation('set_attribute') ELSE operation('delete_attribute') END,
       r.sym_id, r.evidence
FROM described_run r
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
FROM accessor a JOIN final_occ o ON o.sym_id = a.field_id AND NOT is_evidence(o.evidence, 'inferred', 'flow', 'second_server')
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

-- Needs: operated. Else: doc_id INTEGER, line INTEGER, col INTEGER, end_col INTEGER, operation UTINYINT, encl_id INTEGER
CREATE TEMP TABLE copied AS
SELECT doc_id, line, col, end_col, operation, encl_id FROM operated WHERE operation IN (operation('copy'), operation('read_made'));

-- What reads members without their names runs accessors: those that an object is written with, if all its own are read, or any of a type.
-- Needs: copied, language:reads_by_key. Else: sym_id INTEGER, owner_id INTEGER, is_own BOOLEAN
CREATE TEMP TABLE accessor_member AS
SELECT m.sym_id, m.container_id AS owner_id, NOT is_type(c.kind) AS is_own
FROM symbol m JOIN symbol c ON c.sym_id = m.container_id JOIN document d ON d.doc_id = m.doc_id
WHERE has_flag(m.flags, 'property') AND NOT has_flag(m.flags, 'external') AND language_has(d.language, 'reads_by_key')
  AND EXISTS (FROM copied);

-- Of an object that is written out it is known which those are.
-- Needs: copied. Else: doc_id INTEGER, line INTEGER, col INTEGER, end_col INTEGER, operation UTINYINT, encl_id INTEGER, object_id INTEGER
CREATE TEMP TABLE of_object AS
SELECT DISTINCT o.doc_id, o.line, o.col, o.end_col, o.operation, o.encl_id, b.sym_id AS object_id
FROM copied o
JOIN nameless n ON n.doc_id = o.doc_id AND n.line = o.line AND n.col = o.col AND n.operation = o.operation
JOIN standing b ON b.doc_id = n.doc_id AND b.line = n.at_line AND b.col = n.at_col AND is_kind(b.kind, 'variable', 'constant')
JOIN symbol_text t ON t.sym_id = b.sym_id AND regexp_matches(t.signature, '^(export )?const ')
SEMI JOIN symbol k ON k.container_id = b.sym_id
WHERE n.end_col - n.col = length(b.name);
-- Needs: of_object.
INSERT INTO nameless_call
SELECT o.encl_id, a.sym_id, o.doc_id, o.line, o.col, o.end_col, evidence('property'), o.operation
FROM of_object o JOIN accessor_member a ON a.owner_id = o.object_id WHERE o.operation = operation('copy');
-- Needs: of_object.
DELETE FROM operated WHERE (doc_id, line, col, operation) IN (
    SELECT o.doc_id, o.line, o.col, o.operation FROM of_object o
    WHERE o.operation = operation('copy') OR o.object_id NOT IN (SELECT owner_id FROM accessor_member)
);

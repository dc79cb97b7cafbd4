-- Symbols, numbered: what the documents define, and what lies outside and is referred to.
-- Takes: document; facts_symbols, facts_extra_ranges.
-- Makes: symbol, symbol_key, symbol_text, extra_definition. For later stages: raw_symbol (as found; ordinals count within a document, and 0
-- is the document's own symbol), sym_of (an ordinal's symbol), raw_range (further places of definition, also of files outside).

CREATE TEMP TABLE raw_symbol AS
SELECT * EXCLUDE (is_new) FROM facts_symbols;

-- A moniker is one symbol, also when two files claim it (a module beside its stub, outside the workspace): the first has it.
CREATE TEMP TABLE owner AS
SELECT moniker, (row_number() OVER (ORDER BY doc_id, ordinal) - 1)::INTEGER AS sym_id, doc_id, ordinal
FROM (SELECT moniker, doc_id, ordinal FROM raw_symbol QUALIFY row_number() OVER (PARTITION BY moniker ORDER BY doc_id, ordinal) = 1);

CREATE TEMP TABLE sym_of AS
SELECT r.doc_id, r.ordinal, o.sym_id, r.name, r.kind, r.flags
FROM raw_symbol r JOIN owner o USING (moniker);

CREATE TABLE symbol AS
SELECT o.sym_id, o.doc_id, c.sym_id AS container_id,
       r.* EXCLUDE (doc_id, ordinal, container, signature, documentation, hover)
           REPLACE ((r.flags | CASE WHEN d.status = 'external' THEN symbol_flag('external') ELSE 0 END)::USMALLINT AS flags)
FROM owner o
JOIN raw_symbol r ON r.doc_id = o.doc_id AND r.ordinal = o.ordinal
JOIN document d ON d.doc_id = o.doc_id
LEFT JOIN sym_of c ON c.doc_id = r.doc_id AND c.ordinal = r.container
ORDER BY o.sym_id;

CREATE TABLE symbol_key AS
SELECT moniker_key(moniker) AS key, sym_id FROM symbol ORDER BY key, sym_id;

CREATE TABLE symbol_text AS
SELECT o.sym_id, r.signature, r.documentation, r.hover
FROM owner o JOIN raw_symbol r ON r.doc_id = o.doc_id AND r.ordinal = o.ordinal
WHERE r.signature <> '' OR r.documentation <> '' OR r.hover <> ''
ORDER BY o.sym_id;

-- Needs: facts_extra_ranges. Else: doc_id INTEGER, sym_id INTEGER, *extra_ranges - symbol
CREATE TEMP TABLE raw_range AS
SELECT doc_id, m.sym_id, x.* EXCLUDE (doc_id, is_new, symbol)
FROM facts_extra_ranges x JOIN sym_of m USING (doc_id) WHERE m.ordinal = x.symbol;

-- Further places at which a symbol is defined: overloads, a setter, the other arm of an `if`.
-- Needs: raw_range. Else: sym_id INTEGER, doc_id INTEGER, *extra_ranges - symbol
CREATE TABLE extra_definition AS
SELECT e.sym_id, e.doc_id, e.* EXCLUDE (sym_id, doc_id)
FROM raw_range e JOIN document d USING (doc_id) WHERE d.status <> 'external'
ORDER BY ALL;

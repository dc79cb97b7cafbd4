-- What strings name: dotted names by module and qualified name, over imports too; bare names in what they are looked up in. What fills
-- parameters of tests by their names, as pytest does.
-- Takes: document, symbol; raw_occ, sym_of, target_sym, ancestor; facts_strings.
-- Makes: string_read, string_gap (names that may be those of several symbols, for questions about one of them). For later stages: string_use,
-- filled_parameter.

-- Needs: facts_strings. Else: string_id BIGINT, doc_id INTEGER, line INTEGER, col INTEGER, end_col INTEGER, name VARCHAR, use UTINYINT,
-- roles USMALLINT, encl_id INTEGER, owner_id INTEGER, of_line INTEGER, of_col INTEGER, parts VARCHAR[]
CREATE TEMP TABLE raw_string AS
SELECT row_number() OVER (ORDER BY x.doc_id, x.line, x.col, x.use, x.of_line, x.of_col) AS string_id, x.doc_id, x.line, x.col, x.end_col, x.name, x.use, x.roles,
       e.sym_id AS encl_id, w.sym_id AS owner_id, x.of_line, x.of_col, string_split(replace(x.name, ':', '.'), '.') AS parts
FROM facts_strings x
LEFT JOIN sym_of e ON e.doc_id = x.doc_id AND e.ordinal = x.enclosing
LEFT JOIN sym_of w ON w.doc_id = x.doc_id AND w.ordinal = x.owner AND x.owner >= 0;

-- Parameters of tests that no server led to a fixture, as where pytest is not installed.
CREATE TEMP TABLE open_parameter AS
SELECT o.doc_id, o.line, o.col, o.end_col, o.name, any_value(o.roles) AS roles, any_value(e.sym_id) AS encl_id
FROM raw_occ o JOIN sym_of e ON e.doc_id = o.doc_id AND e.ordinal = o.enclosing
WHERE has_role(o.roles, 'fixture')
GROUP BY ALL HAVING bool_and(is_evidence(o.evidence, 'syntax'));

-- What has a name in what, of all names that strings and such parameters have: members, globals, what a module imports, and what a class inherits.
-- Needs: raw_string or open_parameter. Else: name VARCHAR
CREATE TEMP TABLE word AS
SELECT unnest(parts) AS name FROM raw_string WHERE NOT is_use(use, 'file', 'beginning', 'global_beginning', 'module')
UNION SELECT name FROM open_parameter;

-- Needs: word. Else: owner_id INTEGER, name VARCHAR, sym_id INTEGER
CREATE TEMP TABLE own_name AS
SELECT s.container_id AS owner_id, s.name, min(s.sym_id) AS sym_id
FROM symbol s SEMI JOIN word w ON w.name = s.name
WHERE s.container_id IS NOT NULL AND NOT has_flag(s.flags, 'local', 'parameter', 'external')
GROUP BY ALL
UNION  -- a fixture that has another name than its function
SELECT s.container_id, r.name, s.sym_id
FROM raw_string r SEMI JOIN word w ON w.name = r.name
JOIN symbol s ON s.doc_id = r.doc_id AND has_flag(s.flags, 'fixture') AND r.line BETWEEN s.start_line AND s.sel_line
WHERE is_use(r.use, 'fixture_name');

-- Needs: word. Else: owner_id INTEGER, name VARCHAR, sym_id INTEGER
CREATE TEMP TABLE imported_name AS
SELECT m.sym_id AS owner_id, o.name, min(coalesce(own.sym_id, t.sym_id)) AS sym_id
FROM raw_occ o
SEMI JOIN word w ON w.name = o.name
JOIN sym_of m ON m.doc_id = o.doc_id AND m.ordinal = 0
LEFT JOIN sym_of own ON own.doc_id = o.doc_id AND own.ordinal = o.symbol
LEFT JOIN target_sym t ON t.doc_id = o.doc_id AND t.ordinal = o.target
WHERE has_role(o.roles, 'import') AND NOT has_role(o.roles, 'path', 'star') AND o.enclosing = 0
GROUP BY ALL HAVING min(coalesce(own.sym_id, t.sym_id)) IS NOT NULL;

-- A tree that was made for it would have each module import each: so many of one module, and so many steps, are followed.
-- Needs: word. Else: owner_id INTEGER, other_id INTEGER
CREATE TEMP TABLE star_import AS
SELECT DISTINCT m.sym_id AS owner_id, t.sym_id AS other_id
FROM raw_occ o
JOIN sym_of m ON m.doc_id = o.doc_id AND m.ordinal = 0
JOIN target_sym t ON t.doc_id = o.doc_id AND t.ordinal = o.target
WHERE has_role(o.roles, 'star') AND EXISTS (FROM word) QUALIFY dense_rank() OVER (PARTITION BY m.sym_id ORDER BY t.sym_id) <= 50;

-- Needs: star_import. Else: owner_id INTEGER, other_id INTEGER, depth INTEGER
CREATE TEMP TABLE starred AS
WITH RECURSIVE up(owner_id, other_id, depth) AS (
    SELECT owner_id, other_id, 1 FROM star_import
    UNION
    SELECT u.owner_id, n.other_id, u.depth + 1 FROM up u JOIN star_import n ON n.owner_id = u.other_id WHERE u.depth < 5
)
SELECT owner_id, other_id, min(depth) AS depth FROM up GROUP BY ALL;

-- Needs: own_name or imported_name. Else: owner_id INTEGER, name VARCHAR, sym_id INTEGER
CREATE TEMP TABLE name_in AS
SELECT owner_id, name, arg_min(sym_id, (rank, sym_id)) AS sym_id
FROM (
    SELECT owner_id, name, sym_id, 0 AS rank FROM own_name
    UNION ALL SELECT owner_id, name, sym_id, 1 FROM imported_name
    UNION ALL SELECT a.sub_id, o.name, o.sym_id, 1 + a.depth FROM ancestor a JOIN own_name o ON o.owner_id = a.super_id
    UNION ALL SELECT s.owner_id, o.name, o.sym_id, 1 + 2 * s.depth FROM starred s JOIN own_name o ON o.owner_id = s.other_id
    UNION ALL SELECT s.owner_id, i.name, i.sym_id, 2 + 2 * s.depth FROM starred s JOIN imported_name i ON i.owner_id = s.other_id
)
GROUP BY ALL;

-- Dotted names, part by part, from the longest beginning that is a module.
-- Needs: raw_string. Else: name VARCHAR, parts VARCHAR[]
CREATE TEMP TABLE dotted AS
SELECT DISTINCT name, parts FROM raw_string WHERE is_use(use, 'dotted', 'object', 'entry') AND len(parts) <= 20;

-- Needs: dotted. Else: name VARCHAR, parts VARCHAR[], depth BIGINT, sym_id INTEGER
CREATE TEMP TABLE module_part AS
SELECT p.name, p.parts, p.depth, s.sym_id
FROM (SELECT name, parts, unnest(range(1, len(parts) + 1)) AS depth FROM dotted) p
JOIN symbol s ON s.qualified_name = array_to_string(p.parts[:p.depth], '.')
JOIN document d ON d.doc_id = s.doc_id
WHERE s.container_id IS NULL AND NOT has_flag(s.flags, 'external') AND language_has(d.language, 'looks_up_names');

-- A type of a language in which packages are folders and a file is called like its type.
-- Needs: dotted.
INSERT INTO module_part
SELECT p.name, p.parts, p.depth, s.sym_id
FROM (SELECT name, parts, unnest(range(2, len(parts) + 1)) AS depth FROM dotted) p
JOIN symbol s ON s.name = p.parts[p.depth] AND is_type(s.kind)
JOIN document d ON d.doc_id = s.doc_id AND language_has(d.language, 'dotted_types')
WHERE NOT has_flag(s.flags, 'local', 'external')
  AND suffix(regexp_replace('/' || d.path, '\.[a-z]+$', ''), '/' || array_to_string(p.parts[:p.depth], '/'));

-- Needs: module_part. Else: name VARCHAR, parts VARCHAR[], depth BIGINT, sym_id INTEGER, module_depth BIGINT
CREATE TEMP TABLE dotted_part AS
WITH RECURSIVE step(name, parts, depth, sym_id, module_depth) AS (
    SELECT name, parts, depth, sym_id, depth FROM module_part QUALIFY row_number() OVER (PARTITION BY name ORDER BY depth DESC, sym_id) = 1
    UNION ALL
    SELECT s.name, s.parts, s.depth + 1, n.sym_id, s.module_depth
    FROM step s JOIN name_in n ON n.owner_id = s.sym_id AND n.name = s.parts[s.depth + 1]
    WHERE s.depth < len(s.parts)
)
SELECT name, parts, depth, sym_id, module_depth FROM step
UNION ALL
SELECT m.name, m.parts, m.depth, m.sym_id, l.depth FROM module_part m JOIN (SELECT name, max(depth) AS depth FROM module_part GROUP BY name) l
  ON l.name = m.name WHERE m.depth < l.depth;

-- Needs: dotted_part. Else: name VARCHAR, depth BIGINT, length BIGINT, module_depth BIGINT, sym_id INTEGER
CREATE TEMP TABLE dotted_end AS
SELECT p.name, max(p.depth) AS depth, any_value(len(p.parts)) AS length, any_value(p.module_depth) AS module_depth,
       arg_max(p.sym_id, p.depth) AS sym_id
FROM dotted_part p GROUP BY p.name;

-- Bare names in what is known: the class of `self`, or the module or class that an identifier means.
-- Needs: raw_string. Else: string_id BIGINT, owner_id INTEGER
CREATE TEMP TABLE looked_in AS
SELECT r.string_id, coalesce(r.owner_id, t.sym_id) AS owner_id
FROM raw_string r
LEFT JOIN (
    SELECT o.doc_id, o.line, o.col, min(coalesce(own.sym_id, t.sym_id)) AS sym_id
    FROM raw_occ o
    SEMI JOIN raw_string r ON r.doc_id = o.doc_id AND r.of_line = o.line AND r.of_col = o.col
    LEFT JOIN sym_of own ON own.doc_id = o.doc_id AND own.ordinal = o.symbol
    LEFT JOIN target_sym t ON t.doc_id = o.doc_id AND t.ordinal = o.target
    GROUP BY ALL
) t ON t.doc_id = r.doc_id AND t.line = r.of_line AND t.col = r.of_col
WHERE is_use(r.use, 'member', 'beginning')
UNION ALL
SELECT r.string_id, m.sym_id FROM raw_string r JOIN sym_of m ON m.doc_id = r.doc_id AND m.ordinal = 0 WHERE is_use(r.use, 'global', 'global_beginning', 'class');

-- What asks for a fixture by its name. `class_id`: the class in which it stands.
-- Needs: raw_string or open_parameter. Else: doc_id INTEGER, line INTEGER, col INTEGER, name VARCHAR, encl_id INTEGER, class_id INTEGER
CREATE TEMP TABLE fixture_wanted AS
SELECT w.*, c.sym_id AS class_id
FROM (
    SELECT doc_id, line, col, name, encl_id FROM raw_string WHERE is_use(use, 'fixture')
    UNION SELECT doc_id, line, col, name, encl_id FROM open_parameter
) w
LEFT JOIN symbol s ON s.sym_id = w.encl_id
LEFT JOIN symbol c ON c.sym_id = s.container_id AND is_type(c.kind);

-- Where pytest looks for it: in the class and those above it, in the module, else in the nearest conftest.py above that has it, itself or by a
-- module that it names (`pytest_plugins`). One that has the name of what it asks for does not ask for itself.
-- Needs: fixture_wanted. Else: doc_id INTEGER, line INTEGER, col INTEGER, sym_id INTEGER
CREATE TEMP TABLE fixture_named AS
WITH file_looked_in AS (
    SELECT d.doc_id, f.doc_id AS file_id, CASE WHEN f.doc_id = d.doc_id THEN 1 ELSE 100000 - length(f.path) END AS rank
    FROM (SELECT DISTINCT doc_id FROM fixture_wanted) w JOIN document d USING (doc_id)
    JOIN document f ON f.doc_id = d.doc_id
      OR suffix('/' || f.path, '/conftest.py') AND starts_with(d.path, left(f.path, length(f.path) - length('conftest.py')))
), named_file AS (
    SELECT DISTINCT r.doc_id AS file_id, p.doc_id AS other_id
    FROM raw_string r SEMI JOIN file_looked_in f ON f.file_id = r.doc_id JOIN document p ON p.module = r.name
    WHERE is_use(r.use, 'dotted')
), looked AS (
    SELECT w.*, m.sym_id AS owner_id, f.rank, false AS is_beside
    FROM fixture_wanted w JOIN file_looked_in f USING (doc_id) JOIN sym_of m ON m.doc_id = f.file_id AND m.ordinal = 0
    UNION ALL
    SELECT w.*, m.sym_id, f.rank, true
    FROM fixture_wanted w JOIN file_looked_in f USING (doc_id) JOIN named_file n USING (file_id) JOIN sym_of m ON m.doc_id = n.other_id AND m.ordinal = 0
    WHERE f.rank > 1
    UNION ALL SELECT w.*, w.class_id, 0, false FROM fixture_wanted w WHERE w.class_id IS NOT NULL
)
SELECT l.doc_id, l.line, l.col, arg_min(s.sym_id, (l.rank, l.is_beside, s.sym_id)) AS sym_id
FROM looked l JOIN name_in n ON n.owner_id = l.owner_id AND n.name = l.name
JOIN symbol s ON s.sym_id = n.sym_id AND has_flag(s.flags, 'fixture')
WHERE s.sym_id IS DISTINCT FROM l.encl_id
GROUP BY ALL;

-- Needs: open_parameter, fixture_named. Else: doc_id INTEGER, line INTEGER, col INTEGER, end_col INTEGER, name VARCHAR, roles USMALLINT,
-- encl_id INTEGER, evidence UTINYINT, sym_id INTEGER
CREATE TEMP TABLE filled_parameter AS
SELECT o.*, evidence('inferred')::UTINYINT AS evidence, f.sym_id
FROM open_parameter o JOIN fixture_named f ON f.doc_id = o.doc_id AND f.line = o.line AND f.col = o.col;

-- Needs: raw_string. Else: string_id BIGINT, doc_id INTEGER, name VARCHAR
CREATE TEMP TABLE file_string AS SELECT string_id, doc_id, name FROM raw_string WHERE is_use(use, 'file');

-- Files by a path from the one that names them.
-- Needs: file_string. Else: string_id BIGINT, sym_id INTEGER
CREATE TEMP TABLE file_named AS
WITH wanted AS (
    SELECT r.string_id, list_reduce(
               list_filter(string_split(regexp_replace(d.path, '[^/]*$', '') || r.name, '/'), lambda part: part NOT IN ('', '.')),
               lambda path, part: CASE WHEN part <> '..' THEN path || '/' || part
                                       WHEN path LIKE '%/%' THEN regexp_replace(path, '/[^/]*$', '') ELSE '' END, '') AS path
    FROM file_string r JOIN document d ON d.doc_id = r.doc_id
)
SELECT w.string_id, arg_min(m.sym_id, (e.rank, m.sym_id)) AS sym_id
FROM (SELECT string_id, path[2:] AS path FROM wanted) w
JOIN (VALUES (0, ''), (1, '.ts'), (2, '.tsx'), (3, '.js'), (4, '.jsx'), (5, '.mts'), (6, '.mjs'), (7, '.cts'), (8, '.cjs'), (9, '/index.ts'),
             (10, '/index.tsx'), (11, '/index.js'), (12, '/index.jsx')) e(rank, ending) ON true
JOIN document d ON d.path = ltrim(w.path || e.ending, '/') AND d.status <> 'external'
JOIN sym_of m ON m.doc_id = d.doc_id AND m.ordinal = 0
GROUP BY w.string_id;

-- Needs: raw_string. Else: string_id BIGINT, doc_id INTEGER, name VARCHAR, use UTINYINT, parts VARCHAR[]
CREATE TEMP TABLE linked_string AS SELECT string_id, doc_id, name, use, parts FROM raw_string WHERE is_use(use, 'linked', 'class');

-- Names by which a linker or a registry knows something: certain where just one has it.
-- Needs: linked_string. Else: string_id BIGINT, sym_id INTEGER
CREATE TEMP TABLE only_one AS
SELECT r.string_id, min(s.sym_id) AS sym_id
FROM linked_string r
JOIN document d ON d.doc_id = r.doc_id
JOIN symbol s ON s.name = r.parts[len(r.parts)]
JOIN document f ON f.doc_id = s.doc_id
LEFT JOIN symbol c ON c.sym_id = s.container_id
WHERE NOT has_flag(s.flags, 'local', 'parameter', 'external') AND f.language = d.language
  AND (is_use(r.use, 'linked') AND s.container_id IS NOT NULL AND NOT is_kind(s.kind, 'module')
       AND (r.name NOT LIKE '%::%' OR r.parts[len(r.parts) - 2] IN (c.name, regexp_extract(f.path, '([^/.]+)[^/]*$', 1)))
       AND (r.name NOT LIKE '%.%' OR regexp_extract(r.name, '([^/.]+)\.[^.]*$', 1) = regexp_extract(f.path, '([^/]+)/[^/]*$', 1))
       OR is_use(r.use, 'class') AND is_type(s.kind) AND len(r.parts) = 2 AND list_contains(string_split(f.module, '.'), r.parts[1]))
GROUP BY r.string_id HAVING count(*) = 1;

-- Where each part stands that names a symbol.
-- Needs: dotted_part or name_in or fixture_named or file_named or only_one. Else: doc_id INTEGER, line INTEGER, col INTEGER, end_col
-- INTEGER, name VARCHAR, roles USMALLINT, encl_id INTEGER, evidence UTINYINT, sym_id INTEGER
CREATE TEMP TABLE string_use AS
SELECT doc_id, line, (col + start)::INTEGER AS col, (col + start + length(part))::INTEGER AS end_col, part AS name, roles, encl_id, evidence, sym_id
FROM (
    SELECT r.doc_id, r.line, r.col, r.encl_id, p.sym_id, p.parts[p.depth] AS part,
           length(array_to_string(p.parts[:p.depth], '.')) - length(p.parts[p.depth]) AS start,
           CASE WHEN p.depth = len(p.parts) THEN r.roles ELSE role('mention') END::USMALLINT AS roles,
           CASE WHEN is_use(r.use, 'entry') AND p.depth = len(p.parts) THEN evidence('entry_point')
                ELSE evidence('string') END::UTINYINT AS evidence
    FROM raw_string r JOIN dotted_end e ON e.name = r.name JOIN dotted_part p ON p.name = r.name
    WHERE is_use(r.use, 'dotted', 'object', 'entry')
      -- A name of something else may begin as a module's does: `django.request` is a logger.
      AND (e.depth = e.length OR e.depth > e.module_depth OR NOT is_use(r.use, 'dotted'))
    UNION ALL
    SELECT r.doc_id, r.line, r.col, r.encl_id, coalesce(n.sym_id, f.sym_id, g.sym_id, u.sym_id),
           CASE WHEN u.sym_id IS NULL THEN r.name ELSE r.parts[len(r.parts)] END,
           CASE WHEN u.sym_id IS NULL THEN 0 ELSE length(r.name) - length(r.parts[len(r.parts)]) END, r.roles,
           evidence('string')::UTINYINT
    FROM raw_string r
    LEFT JOIN looked_in l ON l.string_id = r.string_id AND NOT is_use(r.use, 'beginning', 'global_beginning')
    LEFT JOIN name_in n ON n.owner_id = l.owner_id AND n.name = r.name
    LEFT JOIN fixture_named f ON is_use(r.use, 'fixture') AND f.doc_id = r.doc_id AND f.line = r.line AND f.col = r.col
    LEFT JOIN file_named g ON g.string_id = r.string_id
    LEFT JOIN only_one u ON u.string_id = r.string_id
    WHERE coalesce(n.sym_id, f.sym_id, g.sym_id, u.sym_id) IS NOT NULL
)
WHERE sym_id IS NOT NULL
GROUP BY ALL;

-- What strings name for sure where they are read: a small table, which a question reads whole.
-- Needs: string_use. Else: sym_id INTEGER, doc_id INTEGER, line INTEGER
CREATE TABLE string_read AS
SELECT DISTINCT u.sym_id, u.doc_id, u.line FROM string_use u JOIN symbol s ON s.sym_id = u.sym_id
WHERE is_evidence(u.evidence, 'string') AND has_role(u.roles, 'read') AND NOT has_role(u.roles, 'call') AND NOT is_kind(s.kind, 'module')
ORDER BY ALL;

-- Bare names that nobody could lead to one symbol. `owner_id`: the class in which, or below which, the name is looked up, if that is known;
-- of names that are made, the module also. What is looked up in a module by its whole name, or in what lies outside, and is not there, names
-- nothing of ours. A name of which nothing is known may be any member of what is known, or else anything at all, which says nothing.
-- Needs: raw_string. Else: name VARCHAR, use UTINYINT, roles USMALLINT, doc_id INTEGER, line INTEGER, encl_id INTEGER, owner_id INTEGER
CREATE TABLE string_gap AS
SELECT DISTINCT r.parts[len(r.parts)] AS name, r.use, r.roles, r.doc_id, r.line, r.encl_id,
       CASE WHEN is_type(s.kind) OR is_use(r.use, 'beginning', 'global_beginning') AND is_kind(s.kind, 'module') THEN l.owner_id END AS owner_id
FROM raw_string r
LEFT JOIN looked_in l ON l.string_id = r.string_id
LEFT JOIN name_in n ON n.owner_id = l.owner_id AND n.name = r.name
LEFT JOIN fixture_named f ON is_use(r.use, 'fixture') AND f.doc_id = r.doc_id AND f.line = r.line AND f.col = r.col
LEFT JOIN only_one u ON u.string_id = r.string_id
LEFT JOIN symbol s ON s.sym_id = l.owner_id
WHERE n.sym_id IS NULL AND f.sym_id IS NULL AND u.sym_id IS NULL
  AND (is_use(r.use, 'fixture', 'class') OR is_use(r.use, 'linked') AND r.name NOT LIKE '%::%'
       OR is_use(r.use, 'member') AND (s.sym_id IS NULL OR NOT has_flag(s.flags, 'external') AND NOT is_kind(s.kind, 'module'))
       OR is_use(r.use, 'beginning', 'global_beginning') AND NOT coalesce(has_flag(s.flags, 'external'), false)
          AND (r.name <> '' OR is_type(s.kind) OR is_kind(s.kind, 'module')))
UNION
-- The end of a dotted name that leads to a symbol which has no such member by what is known.
SELECT e.last, name_use('member')::UTINYINT, r.roles, r.doc_id, r.line, r.encl_id, NULL
FROM raw_string r JOIN (
    SELECT d.name, d.parts[e.depth + 1] AS last, e.depth, e.module_depth, s.kind, s.flags
    FROM dotted d JOIN dotted_end e ON e.name = d.name JOIN symbol s ON s.sym_id = e.sym_id WHERE e.depth < e.length
) e ON e.name = r.name
WHERE is_use(r.use, 'dotted', 'object', 'entry') AND e.depth > e.module_depth AND NOT is_kind(e.kind, 'module') AND NOT has_flag(e.flags, 'external')
UNION
-- An entry point in a module that is here under another name: nobody has said where imports start from.
SELECT r.parts[len(r.parts)], r.use, r.roles, r.doc_id, r.line, r.encl_id, NULL
FROM raw_string r LEFT JOIN dotted_end e ON e.name = r.name
WHERE is_use(r.use, 'entry') AND e.name IS NULL AND len(r.parts) > 1
  AND string_split(split_part(r.name, ':', 1), '.')[-1] IN (SELECT string_split(module, '.')[-1] FROM document WHERE status <> 'external')
UNION
-- A module that only the running program names.
SELECT r.name, r.use, r.roles, r.doc_id, r.line, r.encl_id, NULL FROM raw_string r WHERE is_use(r.use, 'module')
ORDER BY ALL;

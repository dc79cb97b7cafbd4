-- Documents, numbered.
-- Takes: header (a view of what each document's facts say of itself; see `read_facts`).
-- Makes: document, one row per path, in order of path and those outside of the workspace last. All that follows names documents by doc_id.

CREATE TABLE document AS
SELECT (row_number() OVER (ORDER BY status = 'external', path) - 1)::INTEGER AS doc_id,
       * EXCLUDE (is_new) REPLACE (len(error_count)::INTEGER AS error_count)
FROM (SELECT * RENAME (error_lines AS error_count) FROM header QUALIFY row_number() OVER (PARTITION BY path ORDER BY status, digest) = 1)
ORDER BY doc_id;

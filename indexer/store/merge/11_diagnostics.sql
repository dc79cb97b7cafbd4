-- What is known of the documents themselves.
-- Takes: document; facts_diagnostics, facts_unresolved_imports, facts_coverage.
-- Makes: diagnostic, unresolved_import, document_coverage.

CREATE TABLE diagnostic AS
SELECT * EXCLUDE (is_new) FROM facts_diagnostics
ORDER BY doc_id, line, col, end_line, end_col, code, message;

CREATE TABLE unresolved_import AS
SELECT * EXCLUDE (is_new) FROM facts_unresolved_imports
ORDER BY doc_id, line, module;

CREATE TABLE document_coverage AS
SELECT * EXCLUDE (is_new) FROM facts_coverage
ORDER BY doc_id, method;

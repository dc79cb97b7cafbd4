-- What is known of the documents themselves.
-- Takes: document; facts_diagnostics, facts_unresolved_imports, facts_coverage.
-- Makes: diagnostic, unresolved_import, document_coverage.

-- Needs: facts_diagnostics. Else: doc_id INTEGER, *diagnostics
CREATE TABLE diagnostic AS
SELECT * EXCLUDE (is_new) FROM facts_diagnostics
ORDER BY doc_id, line, col, end_line, end_col, code, message;

-- Needs: facts_unresolved_imports. Else: doc_id INTEGER, *unresolved_imports
CREATE TABLE unresolved_import AS
SELECT * EXCLUDE (is_new) FROM facts_unresolved_imports
ORDER BY doc_id, line, module;

-- Needs: facts_coverage. Else: doc_id INTEGER, *coverage
CREATE TABLE document_coverage AS
SELECT * EXCLUDE (is_new) FROM facts_coverage
ORDER BY doc_id, method;

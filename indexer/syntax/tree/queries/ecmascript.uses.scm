; What identifiers do in JavaScript and TypeScript alike.

(identifier) @token.value
[
  (property_identifier) (private_property_identifier) (shorthand_property_identifier) (shorthand_property_identifier_pattern)
] @token

; ---- calls

(call_expression function: (identifier) @call)
(call_expression function: (member_expression property: (_) @call))
(new_expression constructor: (identifier) @call)
(new_expression constructor: (member_expression property: (_) @call))
(arguments (identifier) @argument)
(arguments (spread_element (identifier) @argument))

(decorator (identifier) @decorator)
(decorator (member_expression property: (_) @decorator))
(decorator (call_expression function: (identifier) @decorator))
(decorator (call_expression function: (member_expression property: (_) @decorator)))

; ---- assignments

(assignment_expression left: (identifier) @write)
(assignment_expression left: (member_expression property: (_) @write))
(augmented_assignment_expression left: (identifier) @update)
(augmented_assignment_expression left: (member_expression property: (_) @update))
(update_expression argument: (identifier) @update)
(update_expression argument: (member_expression property: (_) @update))
(for_in_statement !kind left: (identifier) @write)
(for_in_statement !kind left: (member_expression property: (_) @write))
(array_pattern (member_expression property: (_) @write))
(pair_pattern value: (member_expression property: (_) @write))
(unary_expression operator: "delete" argument: (member_expression property: (_) @delete))

; ---- keys

(pair key: (property_identifier) @keyword)
(pair_pattern key: (property_identifier) @keyword)

; ---- imports

(import_statement source: (string (string_fragment) @source)) @importing
(export_statement source: (string (string_fragment) @source)) @importing
(import_clause (identifier) @import @imported)
(namespace_import (identifier) @import @imported)
(import_specifier name: (identifier) @import @imported)
(import_specifier alias: (identifier) @import)
(export_statement (export_clause (export_specifier name: (identifier) @import @imported alias: (_)? @import)) source: (_))
(export_statement (namespace_export (identifier) @import @imported))
(export_specifier alias: (identifier) @ask)

; ---- names that define a variable and read a property

(object_pattern (shorthand_property_identifier_pattern) @second)
(object_assignment_pattern left: (shorthand_property_identifier_pattern) @second)

; ---- strings that may name something (`strings.py`)

(string (string_fragment) @string)

; What stands in brackets as a string is a property as behind a dot.
(subscript_expression index: (string (string_fragment) @token @keyed (#match? @keyed "^[A-Za-z_$][A-Za-z0-9_$]*$")))
(call_expression function: (subscript_expression index: (string (string_fragment) @call)))
(assignment_expression left: (subscript_expression index: (string (string_fragment) @write)))
(augmented_assignment_expression left: (subscript_expression index: (string (string_fragment) @update)))

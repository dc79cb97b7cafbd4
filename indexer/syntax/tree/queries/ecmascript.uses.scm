; What identifiers do in JavaScript and TypeScript alike.

[(identifier) (shorthand_property_identifier_pattern)] @token.value
[(property_identifier) (private_property_identifier) (shorthand_property_identifier)] @token

; ---- calls

(call_expression function: (identifier) @call)
(call_expression function: (member_expression property: (_) @call))
(new_expression constructor: (identifier) @call)
(new_expression constructor: (member_expression property: (_) @call))
;   `(0, module.f)(x)`, as compilers write it, calls `f` without its object.
(call_expression function: (parenthesized_expression [(identifier) @call (member_expression property: (_) @call)]))
(call_expression
  function: (parenthesized_expression (sequence_expression [(identifier) @call (member_expression property: (_) @call)] .)))
(new_expression constructor: (parenthesized_expression [(identifier) @call (member_expression property: (_) @call)]))
(new_expression
  constructor: (parenthesized_expression (sequence_expression [(identifier) @call (member_expression property: (_) @call)] .)))
(arguments [(identifier) @argument (member_expression property: (_) @argument)])
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

; ---- values that go nowhere: a member is taken of them, they are compared (`@sides`), tested, discarded, or only made known to importers

((member_expression object: (identifier) @confined property: (_) @_member) (#not-match? @_member "^(apply|bind|call)$"))
((member_expression object: (member_expression property: (_) @confined) property: (_) @_member)
  (#not-match? @_member "^(apply|bind|call)$"))
(subscript_expression object: [(identifier) @confined (member_expression property: (_) @confined)])
(unary_expression operator: ["!" "typeof" "void"] argument: [(identifier) @confined (member_expression property: (_) @confined)])
(if_statement condition: (parenthesized_expression [(identifier) @confined (member_expression property: (_) @confined)]))
(while_statement condition: (parenthesized_expression [(identifier) @confined (member_expression property: (_) @confined)]))
(ternary_expression condition: [(identifier) @confined (member_expression property: (_) @confined)])
(expression_statement [(identifier) @confined (member_expression property: (_) @confined)])
(export_specifier name: (identifier) @confined)
(export_statement value: (identifier) @confined)
(assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
  right: [(identifier) @confined (object [(shorthand_property_identifier) @confined (pair value: (identifier) @confined)])]
  (#eq? @_module "module") (#eq? @_exports "exports"))
(assignment_expression
  left: (member_expression object: (identifier) @_exports)
  right: (identifier) @confined
  (#eq? @_exports "exports"))
(assignment_expression
  left: (member_expression object: (member_expression object: (identifier) @_module property: (property_identifier) @_exports))
  right: (identifier) @confined
  (#eq? @_module "module") (#eq? @_exports "exports"))

; ---- called by what it is given to, which keeps nothing

((call_expression
  function: (identifier) @_function
  arguments: (arguments . [(identifier) @confined (member_expression property: (_) @confined)]))
  (#match? @_function "^(queueMicrotask|requestAnimationFrame|setImmediate|setInterval|setTimeout)$"))

; ---- members whose names only the running program makes

(subscript_expression index: [(binary_expression left: (string)) (template_string . (string_fragment))]) @made_name

; ---- modules that only the running program names

(call_expression
  function: (import)
  arguments: (arguments .
    [(binary_expression) (call_expression) (identifier) (member_expression) (subscript_expression) (template_string) (ternary_expression)] @made_module))
((call_expression
  function: (identifier) @_require
  arguments: (arguments .
    [(binary_expression) (call_expression) (identifier) (member_expression) (subscript_expression) (template_string) (ternary_expression)] @made_module))
  (#eq? @_require "require"))

; Scala.

[(comment) (block_comment)] @comment

(class_definition name: (identifier) @name body: (_)? @body) @def.class
(object_definition name: (identifier) @name body: (_)? @body) @def.class
(trait_definition name: (identifier) @name body: (_)? @body) @def.interface
(enum_definition name: (identifier) @name body: (_) @body) @def.enum
(simple_enum_case name: (identifier) @name) @def.member
(full_enum_case name: (identifier) @name) @def.member
(type_definition name: (type_identifier) @name) @def.alias
(class_parameter name: (identifier) @name) @def.component

(function_definition name: (identifier) @name body: (_) @body) @def.function
(function_declaration name: (identifier) @name) @def.function
(given_definition name: (identifier) @name) @def.constant
(template_body (val_definition pattern: (identifier) @name) @def.field)
(template_body (var_definition pattern: (identifier) @name) @def.field)
(compilation_unit (val_definition pattern: (identifier) @name) @def.constant)
(compilation_unit (var_definition pattern: (identifier) @name) @def.variable)

; uses
[(identifier) (type_identifier) (operator_identifier)] @token
(call_expression function: (identifier) @call)
(call_expression function: (field_expression field: (identifier) @call))
(instance_expression (type_identifier) @call)
(import_declaration path: (identifier) @import)

; Haskell. The equations of a function, and its signature, are one symbol.

[(comment) (haddock)] @comment

(data_type name: (name) @name) @def.class
(newtype name: (name) @name) @def.class
(type_synomym name: (name) @name) @def.alias
(class name: (name) @name declarations: (_)? @body) @def.interface
(data_constructor constructor: (_ name: (constructor) @name) @def.member)
(newtype_constructor name: (constructor) @name) @def.member
(field name: (field_name (variable) @name)) @def.field

(declarations (signature name: (variable) @name) @def.function)
(declarations (function name: (variable) @name match: (_) @body) @def.function)
(declarations (bind name: (variable) @name match: (_) @body) @def.function)
(class_declarations (signature name: (variable) @name) @def.method)

; uses
[(variable) (name) (constructor) (module_id)] @token
(apply function: (variable) @call)
(infix left_operand: (variable) @call)

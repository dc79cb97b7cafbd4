; Ruby.

(comment) @comment

(class name: (constant) @name body: (_)? @body.around) @def.class
(class name: (scope_resolution name: (constant) @name) body: (_)? @body.around) @def.class
(module name: (constant) @name body: (_)? @body.around) @def.class
(module name: (scope_resolution name: (constant) @name) body: (_)? @body.around) @def.class

(method name: (_) @name body: (_)? @body.around) @def.function
(singleton_method name: (_) @name body: (_)? @body.around) @def.function
(alias name: (identifier) @name) @def.function
(assignment left: (constant) @name) @def.constant

; uses
[(identifier) (constant)] @token
(call method: [(identifier) (constant)] @call)

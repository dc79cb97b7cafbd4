; Zig: a type is the value of a constant.

[(line_comment) (doc_comment) (container_doc_comment)] @comment

(source_file (Decl (VarDecl variable_type_function: (IDENTIFIER) @name)) @def.constant)
(ContainerDecl (Decl (VarDecl variable_type_function: (IDENTIFIER) @name)) @def.constant)
(Decl (VarDecl variable_type_function: (IDENTIFIER) @name
  (ErrorUnionExpr (SuffixExpr (ContainerDecl (ContainerDeclType ["struct" "union" "opaque"])) @body)))) @def.struct
(Decl (VarDecl variable_type_function: (IDENTIFIER) @name
  (ErrorUnionExpr (SuffixExpr (ContainerDecl (ContainerDeclType "enum")) @body)))) @def.enum
(ContainerField field_member: (IDENTIFIER) @name) @def.field
(ErrorSetDecl field_constant: (IDENTIFIER) @def.member @name)
(ContainerDecl (ContainerDeclType "enum") (ContainerField . (ErrorUnionExpr (SuffixExpr variable_type_function: (IDENTIFIER) @name))) @def.member)
(Decl (FnProto function: (IDENTIFIER) @name) (Block)? @body) @def.function

; uses
(IDENTIFIER) @token
(SuffixExpr variable_type_function: (IDENTIFIER) @call . (FnCallArguments))
(FieldOrFnCall function_call: (IDENTIFIER) @call)

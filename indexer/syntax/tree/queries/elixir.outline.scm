; Elixir: every definition is a call of a macro. Clauses of one function are one symbol.

(comment) @comment
((call target: (identifier) @_define (arguments (keywords) @body))
  (#any-of? @_define "def" "defp" "defmacro" "defmacrop"))

((call target: (identifier) @_define (arguments . (alias) @name) (do_block)? @body) @def.namespace
  (#any-of? @_define "defmodule" "defimpl"))
((call target: (identifier) @_define (arguments . (alias) @name) (do_block)? @body) @def.interface
  (#eq? @_define "defprotocol"))

; def name(a), do: … — with a guard: def name(a) when …
((call target: (identifier) @_define (arguments . [(identifier) @name (call target: (identifier) @name)]) (do_block)? @body) @def.function
  (#any-of? @_define "def" "defp" "defmacro" "defmacrop" "defguard" "defguardp" "defdelegate" "defn" "defnp"))
((call target: (identifier) @_define
  (arguments . (binary_operator left: [(identifier) @name (call target: (identifier) @name)] operator: "when")) (do_block)? @body) @def.function
  (#any-of? @_define "def" "defp" "defmacro" "defmacrop" "defguard" "defguardp"))

; uses: what begins with @ is an attribute of the module
[(identifier) (alias)] @token
(call target: (identifier) @call)
(unary_operator operator: "@" operand: (call target: (identifier) @drop))
(call target: (dot right: (identifier) @call))
((identifier) @drop
  (#any-of? @drop "def" "defp" "defmacro" "defmacrop" "defguard" "defguardp" "defdelegate" "defmodule" "defimpl" "defprotocol" "defstruct" "do" "if" "case" "cond" "with" "for" "fn" "alias" "import" "require" "use" "quote" "unquote"))

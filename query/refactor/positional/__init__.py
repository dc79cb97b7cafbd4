"""Parameters changed with their calls, in languages that pass arguments by place: ECMAScript's and Go. Python has `parameters`."""

"""The operations, one family a file. See ``tinytorch._op`` for what an operation is."""

"""Programs recorded from a function's array operations, and replayed without Python between them.

``tinytorch.compile`` imports this package when a compiled function is first called.
"""

"""Definition of operations, generation of their public functions, and the path of a call."""

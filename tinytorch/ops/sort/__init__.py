"""Orders, ranks, and sets of elements."""

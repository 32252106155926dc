"""Sparse tensors: their class, their patterns, and the operations that accept them."""

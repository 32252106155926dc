"""Reductions and cumulative operations."""

"""Sorting, order statistics, searching, and unique elements."""

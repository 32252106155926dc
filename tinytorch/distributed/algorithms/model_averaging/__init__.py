"""Averaging of parameters over the ranks, every few steps."""

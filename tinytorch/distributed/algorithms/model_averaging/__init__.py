"""Averages of the parameters of several ranks, every few steps."""

"""Discrete Fourier transforms, windows and sampled signals."""

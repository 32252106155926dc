"""Kernels of the layers: activations, convolutions, normalizations, losses."""

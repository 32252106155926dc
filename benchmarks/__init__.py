"""Speed of tinytorch beside bare NumPy, PyTorch, autograd and MyGrad: ``python -m benchmarks``.

Every library does the same work in one process, in turns, so that a machine that is slow for a
moment is slow for all of them; what is reported is medians and their ratios. A library that is
not installed is reported as absent. It is a tool to read, never a timed test.
"""

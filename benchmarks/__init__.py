"""Speed of tinytorch beside bare NumPy, PyTorch, autograd and MyGrad: ``python -m benchmarks``.

The libraries do the same work in turns, so that a machine that is slow for a moment is slow for all
of them. The report has medians and their ratios. A library that is not installed is reported as
absent. No test depends on these times.
"""

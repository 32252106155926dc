"""``cupy.lib``, which holds ``stride_tricks`` alone."""

from . import stride_tricks

__all__ = ["stride_tricks"]

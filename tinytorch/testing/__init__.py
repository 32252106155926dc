"""``torch.testing``: comparison of results, and random inputs.

Example:
    >>> tt.testing.assert_close(tt.tensor([0.1]) + 0.2, tt.tensor([0.3]))
"""

from __future__ import annotations

from ._comparison import assert_allclose as assert_allclose
from ._comparison import assert_close as assert_close
from ._creation import make_tensor as make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]

for _function in (assert_allclose, assert_close, make_tensor):
    _function.__module__ = __name__

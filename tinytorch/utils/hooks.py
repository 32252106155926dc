"""``torch.utils.hooks``: handles of hooks.

Example:
    >>> from tinytorch.utils.hooks import RemovableHandle
    >>> handle = tt.ones(1, requires_grad=True).register_hook(lambda g: None)
    >>> isinstance(handle, RemovableHandle)
    True
"""

from __future__ import annotations

from ..graph.hooks import RemovableHandle as RemovableHandle

__all__ = ["RemovableHandle"]

"""The classes of the memory behind tensors, as ``torch.storage`` has them."""

from __future__ import annotations

from .ops._typed_storage import TypedStorage as TypedStorage
from .ops._untyped_storage import UntypedStorage as UntypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]

for _class in (TypedStorage, UntypedStorage):
    _class.__module__ = __name__

"""The classes of the memory behind tensors, as ``torch.storage`` has them."""

from __future__ import annotations

from .ops.storages import TypedStorage as TypedStorage
from .ops.storages import UntypedStorage as UntypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]

for _class in (TypedStorage, UntypedStorage):
    _class.__module__ = __name__

"""The classes of the memory behind tensors, as ``torch.storage`` has them."""

from __future__ import annotations

from .serialization import _load_from_bytes as _load_from_bytes
from .ops.create.typed_storage import TypedStorage as TypedStorage
from .ops.create.untyped_storage import UntypedStorage as UntypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]

for _class in (TypedStorage, UntypedStorage):
    _class.__module__ = __name__

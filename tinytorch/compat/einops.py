"""einops told of tensors: ``einops.rearrange(tensor, "a b -> b a")``.

Reference: https://einops.rocks
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, ClassVar

from ..core.tensor import Tensor
from .as_torch import facade


def register(backends: ModuleType) -> None:
    """Add a backend to those among which einops looks for the one that knows an array.

    Args:
        backends: The module ``einops._backends``. Its backend of PyTorch does what is to be done
            with the module that it holds.
    """
    base: Any = vars(backends)["TorchBackend"]

    class TinytorchBackend(base):  # type: ignore[misc]
        framework_name: ClassVar[str] = __name__.partition(".")[0]

        def __init__(self) -> None:
            self.torch = facade()

        def is_appropriate_type(self, tensor: object) -> bool:
            return isinstance(tensor, Tensor)

        def is_float_type(self, tensor: Tensor) -> bool:
            return tensor.is_floating_point()

    # einops finds it among the subclasses, which hold weak references.
    vars(backends)["TinytorchBackend"] = TinytorchBackend

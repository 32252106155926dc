"""``torch.ops``: where the operators that programs register are found by name.

They are registered by ``tinytorch.library``; this holds them, so that both that module and the
package ``tinytorch.ops``, which answers for ``torch.ops``, can stand on it.
"""

from __future__ import annotations

import operator
from types import ModuleType
from typing import Any, NoReturn

from ..core.tensor import Tensor
from .registry import find

#: PyTorch's names of operations that have others here, the only ones recorded of private ones.
_ATEN_NAMES = {
    "_getitem": "index", "_setitem_": "index_put_", "cross_entropy": "cross_entropy_loss",
    "_conv": "convolution", "_softmax": "_softmax", "_log_softmax": "_log_softmax",
    "logsigmoid": "log_sigmoid", "grid_sample": "grid_sampler", "T": "numpy_T",
}  # fmt: skip
#: Namespaces that are part of the names of PyTorch's operators: ``aten::fft_rfft``.
_SPACES = ("fft", "linalg", "special")


class OpNamespace(ModuleType):
    """The operators of one library, ``torch.ops.mylib``."""

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"'_OpNamespace' '{self.__name__}' object has no attribute '{name}'",
            name=name, obj=self,
        )  # fmt: skip

    def __reduce__(self) -> tuple[Any, ...]:
        return namespace, (self.__name__,)


#: By name; a namespace that was asked for and is still empty is among them.
NAMESPACES: dict[str, Any] = {}


def namespace(name: str) -> Any:
    """The operators of a library, none at first."""
    return NAMESPACES.setdefault(name, OpNamespace(name))


def load_library(path: Any) -> NoReturn:
    """Refused: what a compiled library registers is made for PyTorch's own tensors.

    Raises:
        OSError: Always, as PyTorch for a library it cannot load.

    Example:
        >>> import tinytorch as tt
        >>> tt.ops.load_library("kernels.so")
        Traceback (most recent call last):
            ...
        OSError: Could not load this library: kernels.so (tinytorch loads none made for PyTorch)
    """
    raise OSError(f"Could not load this library: {path} (tinytorch loads none made for PyTorch)")


class AtenName:
    """An operator of PyTorch's own by its name there, ``ops.aten.clone`` or one of its forms.

    Libraries keep tables by them. A call goes to the function of that name and fails where there
    is none; the forms of an operator, ``add.Tensor`` and ``add.Scalar``, are one function here.
    """

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> AtenName:
        if name.startswith("_"):
            raise AttributeError(name, name=name, obj=self)
        form = AtenName(f"{self.__name__}.{name}")
        setattr(self, name, form)  # a table finds it again
        return form

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        name = self.__name__.partition(".")[0]
        function = _find_function(name)
        if function is None:
            raise NotImplementedError(f"ops.aten.{name}: tinytorch has no function of that name")
        return function(*args, **kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        return _find_aten, (self.__name__,)

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='aten.{self.__name__}')>"


class Aten(ModuleType):
    """``torch.ops.aten``."""

    def __reduce__(self) -> tuple[Any, ...]:
        return namespace, (self.__name__,)

    def __getattr__(self, name: str) -> AtenName:
        if name.startswith("__"):
            raise AttributeError(name, name=name, obj=self)
        found = AtenName(name)
        setattr(self, name, found)
        return found


def aten_name(name: str, op: Any) -> str | None:
    """PyTorch's name of a call of an operation, or None for one that it does not have."""
    if name not in _ATEN_NAMES and not op.public:
        return None
    space = op.namespaces[0]
    named = _ATEN_NAMES.get(name, name)
    return f"aten::{space}_{named}" if space in _SPACES else f"aten::{named}"


def _find_function(name: str) -> Any:
    """Return the public function behind ``torch.ops.aten.name``, or None."""
    space, _, rest = name.partition("_")
    if space in _SPACES and find(space, rest):
        return find(space, rest)
    return find("", name) or find("nn.functional", name) or getattr(Tensor, name, None)


def _find_aten(name: str) -> Any:
    return operator.attrgetter(name)(NAMESPACES["aten"])


NAMESPACES["aten"] = Aten("aten")

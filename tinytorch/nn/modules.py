"""Modules under the names of PyTorch's files, for example ``nn.modules.conv.Conv2d``.

This module, and each submodule named like a file of PyTorch, has all modules and base classes.

Example:
    >>> from tinytorch.nn.modules.batchnorm import _BatchNorm
    >>> isinstance(tt.nn.BatchNorm2d(3), _BatchNorm)
    True
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from types import FunctionType, ModuleType
from typing import Any

# Set first: another thread may import a submodule while this file is executed.
__path__: list[str] = []

from ..facade.packages import reexport
from ._reduction import Loss as _Loss
from ._reduction import WeightedLoss as _WeightedLoss
from .activation import *  # noqa: F403
from .adaptive import *  # noqa: F403
from .attention import MultiheadAttention as MultiheadAttention
from .attention import NonDynamicallyQuantizableLinear as NonDynamicallyQuantizableLinear
from .batchnorm import *  # noqa: F403  # noqa: F403
from .batchnorm import BatchNorm as _BatchNorm
from .batchnorm import InstanceNorm as _InstanceNorm
from .batchnorm import NormBase as _NormBase
from .container import *  # noqa: F403
from .container import ModuleList
from .conv import *  # noqa: F403  # noqa: F403
from .conv import ConvBase as _ConvNd
from .conv import _ConvTranspose as _ConvTransposeNd
from .distance import *  # noqa: F403
from .dropout import *  # noqa: F403
from .dropout import _Dropout as _DropoutNd
from .embedding import *  # noqa: F403
from .lazy import *  # noqa: F403  # noqa: F403  # noqa: F403
from .linear import *  # noqa: F403
from .loss import *  # noqa: F403  # noqa: F403
from .margin_loss import *  # noqa: F403
from .module import Module as Module
from .module.state_dict import EXTRA_STATE as _EXTRA_STATE_KEY_SUFFIX
from .module.state_dict import _IncompatibleKeys as _IncompatibleKeys
from .normalization import *  # noqa: F403
from .padding import *  # noqa: F403
from .pooling import *  # noqa: F403  # noqa: F403
from .pooling import _AvgPool as _AvgPoolNd
from .pooling import _MaxPool as _MaxPoolNd
from .rearrangement import *  # noqa: F403  # noqa: F403  # noqa: F403
from .rectifier import *  # noqa: F403
from .rnn import *  # noqa: F403
from .rnn import RNNBase as RNNBase
from .rnn_cell import *  # noqa: F403
from .transformer import *  # noqa: F403
from .upsampling import *  # noqa: F403


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """Return a function named ``name`` that converts a number or an iterable to a tuple.

    A number is repeated ``n`` times.
    """

    def parse(x: Any) -> tuple[Any, ...]:
        return tuple(x) if isinstance(x, Iterable) else tuple(repeat(x, n))

    parse.__name__ = name
    return parse


def _reverse_repeat_tuple(t: Sequence[Any], n: int) -> tuple[Any, ...]:
    """Repeat each element ``n`` times, the last first; converts a layer's padding for ``F.pad``."""
    return tuple(x for x in reversed(t) for _ in range(n))


def _get_clones(module: Module, N: int) -> ModuleList:
    """Return a ModuleList of ``N`` deep copies of a module."""
    return ModuleList([copy.deepcopy(module) for _ in range(N)])


def _addindent(s_: str, numSpaces: int) -> str:
    """Indent every line but the first by ``numSpaces`` spaces."""
    return s_.replace("\n", "\n" + numSpaces * " ")


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Remove a prefix from the names of a state dict, in place.

    Args:
        state_dict: Tensors by name; names without the prefix do not change, and come first.
        prefix: The prefix, for example ``"module."`` of ``DataParallel``.

    Example:
        >>> state = {f"module.{k}": v for k, v in tt.nn.Linear(2, 3).state_dict().items()}
        >>> tt.nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")
        >>> list(state)
        ['weight', 'bias']
    """
    for name in [name for name in state_dict if name.startswith(prefix)]:
        state_dict[name.removeprefix(prefix)] = state_dict.pop(name)
    versions = getattr(state_dict, "_metadata", {})
    for path in [path for path in versions if path and f"{path}.".startswith(prefix)]:
        versions[path[len(prefix) :]] = versions.pop(path)


_single, _pair, _triple, _quadruple = (
    _ntuple(n, name) for n, name in enumerate(("_single", "_pair", "_triple", "_quadruple"), 1)
)

#: Names of PyTorch's files. They become modules in ``sys.modules``, where the import system finds
#: them, as it finds ``os.path``; none is a file on disk.
_FILES = (
    "activation adaptive batchnorm channelshuffle container conv distance dropout flatten fold "
    "instancenorm lazy linear loss module normalization padding pixelshuffle pooling rnn sparse "
    "transformer upsampling utils"
).split()


def _functions(module: str) -> dict[str, Any]:
    """Return the functions that a loaded module defines, private ones too."""
    found = vars(sys.modules[module]) if module in sys.modules else {}
    return {
        name: value
        for name, value in found.items()
        if isinstance(value, FunctionType) and value.__module__ == module
    }


def _publish() -> None:
    """Create a Python module for each of PyTorch's files in ``nn/modules``, such as ``conv``.

    Each contains all classes of modules, and the functions of our file of that name.
    """
    functions = (
        "_single", "_pair", "_triple", "_quadruple", "_ntuple", "_get_clones",
        "_reverse_repeat_tuple", "consume_prefix_in_state_dict_if_present",
        "_EXTRA_STATE_KEY_SUFFIX", "_addindent",
    )  # fmt: skip
    names = {
        name: value
        for name, value in globals().items()
        if isinstance(value, type) or name in functions
    }
    names |= {
        name: value
        for name, value in vars(sys.modules[Module.__module__]).items()
        if name.startswith("register_module_")
    }
    for file in _FILES:
        module = ModuleType(f"{__name__}.{file}", f"PyTorch's file {file!r}.")
        module.__dict__.update(names, **_functions(f"{__package__}.{file}"))
        reexport(module)
        sys.modules[module.__name__] = module
        globals()[file] = module


_publish()

"""Modules that have no file of their name: those of other names, and those made of tables."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ..facade.packages import alias as alias
from ..facade.packages import reexport

_OWN = __name__.partition(".")[0]
#: Modules that are made of tables, by the files in ``compat.tables`` that hold these. A module
#: with a file that a table completes is not among them.
TABLED = {
    "compiling": "_C _custom_ops _dynamo _subclasses utils.cpp_extension",
    "devices": "backends.cpu backends.cusparselt backends.kleidiai backends.mha "
    "backends.miopen backends.mkl backends.mkldnn backends.mps backends.nnpack "
    "backends.openmp backends.opt_einsum backends.quantized backends.xnnpack",
    "others": "autograd.profiler nested optim._functional utils.model_zoo",
    "distributed": "distributed._composable distributed._tensor distributed.fsdp distributed.nn "
    "distributed.rpc distributed.tensor",
    "distributed_parts": "distributed._functional_collectives distributed.autograd "
    "distributed.launcher distributed.pipelining distributed.tensor.debug "
    "distributed.tensor.parallel",
}
_TABLE_OF = {name: file for file, names in TABLED.items() for name in names.split()}
#: Where modules are, by the names that PyTorch's have and that pickles were written with.
ELSEWHERE = {
    "__config__": "compat.config",
    "__future__": "compat.future",
    "_higher_order_ops": "compat.higher_order_ops",
    "_tensor": "core.tensor",
    "ao.quantization": "quantization",
    "autograd.anomaly_mode": "autograd.anomaly",
    "autograd.gradcheck": "autograd.gradient_check",
    "optim._adafactor": "optim.adafactor",
    "optim._muon": "optim.muon",
    "_tensor_str": "compat.tensor_str",
    "_utils": "compat.utils",
    "multiprocessing.reductions": "compat.reductions",
    "utils.tensorboard.summary": "utils.tensorboard_summary",
    # pickles of versions before 0.2
    "_device": "core.device",
    "_layouts": "core.layout",
    "_size": "core.size",
    "_state._backend": "state.backend",
    "_state._carry": "state.carry",
    "_state._grad": "state.grad",
    "_state": "state",
    "_storage": "core.storage",
    "autograd.checking": "autograd.gradient_check",
    "autograd.nodes": "graph.hooks",
    "backends.cuda_devices": "backends.cupy.devices",
    "distributions.counts": "distributions.discrete",
    "distributions.extremes": "distributions.extreme_values",
    "ops._typed_storage": "ops.create.typed_storage",
    "ops._untyped_storage": "ops.create.untyped_storage",
    "ops.applied_functions": "numpy.functions.applied_functions",
    "ops.index.index_tools": "numpy.functions.index_objects",
    "ops.index_tools": "numpy.functions.index_objects",
    "ops.reduce.applied_functions": "numpy.functions.applied_functions",
    "nn.adaptive_pooling": "nn.pooling",
    "nn.conv_transpose": "nn.conv",
    "nn.lazy_conv": "nn.lazy",
    "nn.lazy_norm": "nn.lazy",
    "nn.rnn_base": "nn.rnn",
}


def install() -> None:
    """Have imports of the names above find their modules; once is enough."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Made:
    """Makes a module of its table."""

    def __init__(self, name: str) -> None:
        self._name = name

    def create_module(self, spec: ModuleSpec) -> None:
        """None: as Python makes one."""

    def exec_module(self, module: ModuleType) -> None:
        tables = import_module(f"{_OWN}.compat.tables.{_TABLE_OF[self._name]}")
        tables.fill(vars(module), tables.TABLES[self._name])
        reexport(module)


class _Finder:
    """Answers for the names above, and for those below the ones elsewhere; for nothing else."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        root, _, name = fullname.partition(".")
        if root != _OWN:
            return None
        if name in _TABLE_OF:
            made: Any = _Made(name)
            return ModuleSpec(fullname, made)
        place = _place(name)
        if place is None:
            return None
        return alias(fullname, f"{_OWN}.{place}")


def _place(name: str) -> str | None:
    for old, new in ELSEWHERE.items():
        if name == old or name.startswith(f"{old}."):
            return new + name[len(old) :]
    return None

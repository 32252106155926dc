"""Modules of devices: MPS and XPU, which are not available, the CPU, and libraries of CPUs."""

from __future__ import annotations

from ..module_tables import Table, alias, answer, fill, refusal

__all__ = ["TABLES", "fill"]

_NO_MPS = "Cannot execute without MPS backend: tinytorch has none of Apple's GPUs"
_NO_XPU = "Torch not compiled with XPU enabled: tinytorch has none of Intel's GPUs"
_AS_WITHOUT = "as in PyTorch without such a GPU"
_NO_SEED = answer(None, f"Do nothing, {_AS_WITHOUT}.", "seed: int", shown="0")
_NO_BYTES = answer(0, "0: there is no memory of such a GPU.", "device: Any = None")

TABLES = {
    "mps": Table({
        "is_available": answer(False),
        "device_count": answer(0),
        "manual_seed": _NO_SEED,
        "current_allocated_memory driver_allocated_memory empty_cache get_rng_state "
        "recommended_max_memory seed set_per_process_memory_fraction set_rng_state synchronize":
            refusal(_NO_MPS, RuntimeError, _AS_WITHOUT),
    }),
    "xpu": Table({
        "is_available is_initialized is_bf16_supported": answer(False),
        "device_count": answer(0),
        "memory_allocated max_memory_allocated memory_reserved max_memory_reserved": _NO_BYTES,
        "empty_cache": answer(None, "Do nothing: there is no memory of such a GPU."),
        "manual_seed manual_seed_all": _NO_SEED,
        "seed": answer(None, f"Do nothing, {_AS_WITHOUT}."),
        "current_device get_device_name get_rng_state set_device synchronize":
            refusal(_NO_XPU, AssertionError, _AS_WITHOUT),
    }),
    "cpu": Table({
        "amp": alias("cpu.amp"),
        "is_available": answer(True),
        "device_count": answer(1),
        "current_device": answer("cpu", '``"cpu"``.'),
        "set_device": answer(None, "Do nothing: there is one.", "device: Any", shown="'cpu'"),
        "synchronize": answer(None, "Do nothing: work on the CPU is done when a call returns.",
                              "device: Any = None"),
    }),
    "backends.cpu": Table(
        doc="``torch.backends.cpu``: which of PyTorch's own kernels the processor gets.",
        names={"get_cpu_capability": answer("DEFAULT", '``"DEFAULT"``: none of those for vector '
                                            "instructions; NumPy chooses its own.")},
    ),
    "backends.cusparselt": Table(
        doc="``torch.backends.cusparselt``: half-empty matrices on GPUs, of which there are none.",
        names={"is_available": answer(False), "version": answer(None)},
    ),
    "backends.kleidiai": Table(
        doc="``torch.backends.kleidiai``: a library that nothing here uses.",
        names={"is_available": answer(False)},
    ),
    "backends.mha": Table(
        doc="``torch.backends.mha``: PyTorch's shorter way through attention at inference.",
        names={
            "get_fastpath_enabled": answer(False, "False: there is one way."),
            "set_fastpath_enabled":
                answer(None, "Do nothing: there is one way.", "value: bool", shown="False"),
        },
    ),
    "backends.miopen": Table(
        doc="``torch.backends.miopen``: a library of AMD's that nothing here uses.",
        names={"immediate": False},
    ),
    "backends.nnpack": Table(
        doc="``torch.backends.nnpack``: a library that nothing here uses.",
        names={
            "is_available": answer(False),
            "set_flags": answer((False,), "Return that it was off: ``(False,)``.", "enabled: bool",
                                shown="False", gives="tuple[bool]"),
        },
    ),
    "backends.opt_einsum": Table(
        doc="``torch.backends.opt_einsum``: a library that nothing here uses; ``einsum`` finds an "
            "order itself.",
        names={"enabled": False, "strategy": None, "is_available": answer(False),
               "get_opt_einsum": answer(None)},
    ),
    "backends.quantized": Table(
        doc="``torch.backends.quantized``: libraries for quantized tensors, of which there are "
            "none.",
        names={"engine": "none", "supported_engines": ["none"]},
    ),
    "backends.xnnpack": Table(
        doc="``torch.backends.xnnpack``: a library that nothing here uses.",
        names={"enabled": False},
    ),
    "backends.mkl": Table(
        doc="``torch.backends.mkl``: which BLAS NumPy uses says ``python -m tinytorch --info``.",
        names={"is_available": answer(False)},
    ),
    "backends.mkldnn": Table(
        doc="``torch.backends.mkldnn``: a library that nothing here uses.",
        names={"enabled": False, "is_available": answer(False)},  # a switch without effect
    ),
    "backends.mps": Table(
        doc="``torch.backends.mps``: Apple's GPUs, which no backend here uses.",
        names={"is_available is_built": answer(False)},
    ),
    "backends.openmp": Table(
        doc="``torch.backends.openmp``: the threads here are Python's and BLAS's.",
        names={"is_available": answer(False)},
    ),
}  # fmt: skip

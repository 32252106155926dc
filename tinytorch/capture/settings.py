"""Options of ``compile``, and the stance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")
#: PyTorch's backends, except those for its own tests, and those of other packages.
BACKENDS = (
    "aot_eager", "aot_eager_decomp_partition", "aot_eager_default_partitioner", "aot_ts",
    "cudagraphs", "eager", "eager_debug", "eager_noexcept", "hpu_backend", "inductor", "ipex",
    "onnxrt", "openvino", "openxla", "openxla_eval", "tensorrt", "torch_tensorrt", "ts", "tvm",
)  # fmt: skip
#: Engines of this library, as values of ``backend``; "reference" runs one node after the other,
#: "jax" needs the backend of that name, "cuda" the backend "cupy".
ENGINES = ("c", "numpy", "reference", "jax", "cuda")
STANCES = (
    "default", "eager_then_compile", "aot_eager_then_compile", "force_eager",
    "eager_on_recompile", "fail_on_recompile",
)  # fmt: skip


class _Stance:
    """The stance that ``compiler.set_stance`` set for the process."""

    name: str = "default"


stance: _Stance = _Stance()


@dataclass(frozen=True)
class CompileOptions:
    """CompileOptions of ``tinytorch.compile``.

    Attributes:
        fullgraph: Whether it is an error if a call cannot be recorded.
        engine: The engine that replays programs, or ``"auto"``.
        check: Whether each replay is compared with the eager function.
        quiet: Whether no warning is given if a call cannot be recorded.
    """

    fullgraph: bool = False
    engine: str = "auto"
    check: bool = False
    quiet: bool = False


def make_options(
    *, fullgraph: bool = False, dynamic: bool | None = None,
    backend: str | Callable[..., Any] | None = None, mode: str | None = None,
    options: dict[str, Any] | None = None, disable: bool = False,
) -> CompileOptions:  # fmt: skip
    """Check the arguments of ``tinytorch.compile``.

    Raises:
        RuntimeError: If both ``mode`` and ``options`` are given, or the mode or the backend does
            not exist.
    """
    if mode is not None and options is not None:
        raise RuntimeError(
            "Either mode or options can be specified, but both can't be specified at the same time."
        )
    own = backend in ENGINES or mode == "check"
    if mode is not None and (own or backend in (None, "inductor")):
        if mode not in (*MODES, "check"):
            raise RuntimeError(
                f"Unrecognized mode={mode}, should be one of: {', '.join(MODES)}, check"
            )
    if isinstance(backend, str) and backend not in (*BACKENDS, *ENGINES):
        raise RuntimeError(
            f"Invalid backend: {backend!r}, expected one of {', '.join((*ENGINES, *BACKENDS))}"
        )
    engine = backend if isinstance(backend, str) and backend in ENGINES else "auto"
    return CompileOptions(bool(fullgraph), engine, mode == "check")

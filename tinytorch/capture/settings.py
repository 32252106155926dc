"""Settings of compiled functions: ``torch._dynamo.config``, the stance, options of ``compile``."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any


MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")
#: PyTorch's backends, except those for its own tests, and those of other packages.
BACKENDS = (
    "aot_eager", "aot_eager_decomp_partition", "aot_eager_default_partitioner", "aot_ts",
    "cudagraphs", "eager", "eager_debug", "eager_noexcept", "hpu_backend", "inductor", "ipex",
    "onnxrt", "openvino", "openxla", "openxla_eval", "tensorrt", "torch_tensorrt", "ts", "tvm",
)  # fmt: skip
#: Engines of this library, as values of ``backend``; "reference" runs one node after the other.
ENGINES = ("c", "numpy", "reference")
STANCES = (
    "default", "eager_then_compile", "aot_eager_then_compile", "force_eager",
    "eager_on_recompile", "fail_on_recompile",
)  # fmt: skip


class Settings(SimpleNamespace):
    """Settings, which ``patch`` changes for a scope."""

    @contextlib.contextmanager
    def patch(self, arg1: Any = None, arg2: Any = None, **kwargs: Any) -> Iterator[None]:
        """Change settings inside a block, or while a function runs.

        Args:
            arg1: The name of a setting, or a dict of names and values. Default: none.
            arg2: The value of the setting named by ``arg1``.
            **kwargs: Further names and values.
        """
        given = {arg1: arg2} if isinstance(arg1, str) else arg1 or {}
        before = dict(vars(self))
        vars(self).update(given, **kwargs)
        try:
            yield
        finally:
            vars(self).clear()
            vars(self).update(before)


class Config(Settings):
    """Settings of compiled functions; the former name of ``recompile_limit`` stays in step."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("recompile_limit", "cache_size_limit"):
            vars(self).update(recompile_limit=value, cache_size_limit=value)
        else:
            super().__setattr__(name, value)


#: Settings that programs set. ``recompile_limit`` (and its former name), ``disable``,
#: ``error_on_recompile`` and ``fail_on_recompile_limit_hit`` have an effect, the others none.
config: Config = Config(
    cache_size_limit=8, recompile_limit=8, accumulated_recompile_limit=256,
    accumulated_cache_size_limit=256, suppress_errors=False, verbose=False,
    capture_scalar_outputs=False, capture_dynamic_output_shape_ops=False, optimize_ddp=True,
    disable="1" in (os.environ.get("TORCH_COMPILE_DISABLE"), os.environ.get("TORCHDYNAMO_DISABLE")),
    error_on_recompile=False, fail_on_recompile_limit_hit=False, assume_static_by_default=True,
    automatic_dynamic_shapes=True, allow_unspec_int_on_nn_module=False, guard_nn_modules=True,
    inline_inbuilt_nn_modules=True, skip_nnmodule_hook_guards=True, log_compilation_metrics=True,
    compiled_autograd=False, numpy_default_float="float64",
)  # fmt: skip


def recompile_limit() -> int:
    """Return how often a function is recorded at most; a patch may have set either name."""
    return int(min(config.recompile_limit, config.cache_size_limit, key=lambda n: (n == 8, n)))


class _Stance:
    """The stance that ``compiler.set_stance`` set for the process."""

    name: str = "default"


stance = _Stance()


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

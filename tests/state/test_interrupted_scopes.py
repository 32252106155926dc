"""Ctrl-C at each point of a context manager: the state is that from before the block.

CPython executes the handler of a signal when a function begins, after a call of a C function or of
a class, and at the end of each pass through a loop. A trace function raises at these points.
"""

from __future__ import annotations

import dis
import gc
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from types import CodeType, FrameType
from typing import Any

import pytest

import tinytorch as tt
from tinytorch.autograd import forward_ad, levels
from tinytorch.autograd.levels import Level, enter_level
from tinytorch.capture import recorder, slots
from tinytorch.capture.recording import recording
from tinytorch.core import torch_function
from tinytorch.core.storage import Storage
from tinytorch.func._randomness import forbid_random
from tinytorch.graph.engine import Anomaly
from tinytorch.graph.saved_tensors import Recording
from tinytorch.state.scopes import Slot
from tinytorch.state.variable import Variable

pytestmark = pytest.mark.skipif(
    sys.implementation.name != "cpython" or sys.version_info[:2] != (3, 11),
    reason="the points are those of the instructions of CPython 3.11",
)
_CALLS = ("CALL", "CALL_FUNCTION_EX")


def _points(code: CodeType, cache: dict[CodeType, set[int]] = {}) -> set[int]:  # noqa: B006
    """Offsets of the instructions before which a handler is executed."""
    if code not in cache:
        instructions = list(dis.get_instructions(code))
        pairs = zip(instructions, instructions[1:], strict=False)
        cache[code] = {after.offset for call, after in pairs if call.opname in _CALLS}
        cache[code] |= {each.argval for each in instructions if "JUMP_BACKWARD" in each.opname}
    return cache[code]


class _Interrupt:
    """Trace function that raises a KeyboardInterrupt at the point with the number ``at``."""

    def __init__(self, at: int) -> None:
        self.left, self.is_raised, self.returns = at, False, set[tuple[FrameType, int]]()

    def __call__(self, frame: FrameType, event: str, arg: object) -> Any:
        back = frame.f_back
        if back is not None and back.f_lasti + 2 in _points(back.f_code):
            # The interpreter calls a Python function without a C call: no point after it.
            self.returns.add((back, back.f_lasti + 2))
        if "tinytorch" not in frame.f_code.co_filename and "contextlib" not in str(frame.f_code):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        # A block whose __exit__ does not even begin is not left, in PyTorch as well.
        if frame.f_code.co_name != "__exit__":
            self.reach()
        return self.trace

    def trace(self, frame: FrameType, event: str, arg: object) -> Any:
        if event == "opcode" and frame.f_lasti in _points(frame.f_code):
            if (frame, frame.f_lasti) in self.returns:
                self.returns.discard((frame, frame.f_lasti))
            else:
                self.reach()
        return self.trace

    def reach(self) -> None:
        self.left -= 1
        if self.left < 0 and not self.is_raised:
            self.is_raised = True
            raise KeyboardInterrupt


def _settings() -> Iterator[tuple[str, Any]]:
    """The settings of this context, by name."""
    modules = [module for name, module in sys.modules.items() if name.startswith("tinytorch.")]
    for module in modules:
        for name, value in vars(module).items():
            if isinstance(value, Variable):
                yield name, value.get()
            elif isinstance(value, Slot):
                yield name, value.top()
    yield "anomaly", (Anomaly.enabled, Anomaly.check_nan, Recording._anomaly)
    yield "recordings", (len(recorder._recorders), len(slots._users), vars(Storage)["_data"])
    yield "safe globals", tt.serialization.get_safe_globals()
    yield "sdp", (tt.backends.cuda.flash_sdp_enabled(), tt.backends.cuda.math_sdp_enabled())
    yield "random", tt.get_rng_state().tolist()
    yield "invariants", tt.sparse.check_sparse_tensor_invariants.is_enabled()


class _Mode(tt.overrides.TorchFunctionMode):
    pass


def _anomaly() -> AbstractContextManager[None]:
    with warnings.catch_warnings(action="ignore"):
        return tt.autograd.detect_anomaly()


SCOPES: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "no_grad": tt.no_grad,
    "inference_mode": tt.inference_mode,
    "autocast": lambda: tt.autocast("cpu"),
    "device": lambda: tt.device("meta"),
    "backend_context": lambda: tt.backend_context("numpy"),
    "default_dtype_context": lambda: tt.default_dtype_context(tt.float64),
    "detect_anomaly": _anomaly,
    "saved_tensors_hooks": lambda: tt.autograd.graph.saved_tensors_hooks(id, id),  # type: ignore[arg-type]
    "disable_saved_tensors_hooks": lambda: tt.autograd.graph.disable_saved_tensors_hooks("no"),
    "allow_mutation": tt.autograd.graph.allow_mutation_on_saved_tensors,
    "dual_level": forward_ad.dual_level,
    "fork_rng": tt.random.fork_rng,
    "sdpa_kernel": lambda: tt.nn.attention.sdpa_kernel(tt.nn.attention.SDPBackend.MATH),
    "TorchFunctionMode": _Mode,
    "DisableTorchFunction": tt.DisableTorchFunction,
    "profile": lambda: tt.profiler.profile(),
    "autograd.profile": lambda: tt.autograd.profiler.profile(),
    "check_sparse_tensor_invariants": tt.sparse.check_sparse_tensor_invariants,
    "safe_globals": lambda: tt.serialization.safe_globals([_Mode]),
    "skip_data": tt.serialization.skip_data,
    "recording of a compiled function": lambda: recording([tt.ones(2)], sys._getframe()),
    "forbid_random": lambda: forbid_random("error", ()),
    "printoptions": lambda: tt.printoptions(precision=1),
}


def _enter(make: Callable[[], AbstractContextManager[Any]], trace: Any) -> None:
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with make():
            pass
    finally:
        sys.settrace(before)


@pytest.fixture
def counts() -> Iterator[None]:
    """Two counts, of which zero makes operations faster, may be too large after an interrupt."""
    watchers, blocks = torch_function._active, Recording._blocks
    yield
    assert torch_function._active >= watchers and Recording._blocks >= blocks
    torch_function.count_watchers(watchers - torch_function._active)
    Recording.count_block(blocks - Recording._blocks)


@pytest.mark.parametrize("name", SCOPES)
@pytest.mark.usefixtures("counts")
def test_an_interrupt_at_any_point_restores_the_settings(name: str) -> None:
    make = SCOPES[name]
    for each in SCOPES.values():
        _enter(each, None)  # what is imported on first use is there
    dict(_settings())  # which may import modules, too
    before = dict(_settings())
    count = 0
    is_raised = True
    while is_raised:
        interrupt = _Interrupt(count)
        try:
            _enter(make, interrupt)
        except KeyboardInterrupt:  # its traceback exists while the settings are compared
            assert dict(_settings()) == before, f"point {count}"
        is_raised = interrupt.is_raised
        count += is_raised
    assert count > 2, "no point was found"
    assert dict(_settings()) == before
    with tt.inference_mode():
        assert tt.ones(1).is_inference()


def test_a_block_that_is_closed_after_those_around_it_changes_no_setting() -> None:
    """Ctrl-C that arrives where an exit begins leaves its generator to the garbage collection."""
    outer, inner = enter_level(Level), enter_level(Level)
    with outer:
        inner.__enter__()
    assert not levels._ACTIVE.get()
    del inner
    gc.collect()
    assert not levels._ACTIVE.get() and tt.is_grad_enabled()

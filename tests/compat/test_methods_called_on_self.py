"""Methods that PyTorch's public classes call on ``self`` exist here, and overrides are called."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tinytorch as tt

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::UserWarning")]

_MODULES = (
    "nn", "optim", "optim.lr_scheduler", "optim.swa_utils", "utils.data", "distributions", "amp",
    "nn.utils.parametrize", "nn.utils.prune", "nn.modules.batchnorm", "nn.modules.instancenorm",
    "nn.modules.conv", "nn.modules.rnn", "nn.modules.loss", "nn.modules.padding",
)  # fmt: skip

#: Methods that are absent, with the reason.
_ABSENT = {
    "Optimizer._accelerator_graph_capture_health_check": "checks CUDA graphs, which are absent",
    "Optimizer.profile_hook_step": "``__init_subclass__`` wraps ``step`` with its hooks",
    "Module._maybe_warn_non_full_backward_hook": "the warning is decided where the node is made",
    "DataParallel.gather": "one device, as PyTorch's on the CPU, where it is never called",
    "DataParallel.parallel_apply": "the same",
    "DataParallel.replicate": "the same",
    "DataParallel.scatter": "the same",
    "LinearCrossEntropyOptions": "chunks of a fused CUDA kernel",
    "DistributedDataParallel": "PyTorch's reducer in C++; gradients are reduced by hooks here",
    "Tensor": "storage and nested layouts in C++",
    "TensorBase": "storage and nested layouts in C++",
}


def _classes(torch: Any) -> Iterator[tuple[type, type]]:
    """Public classes of PyTorch, each with ours."""
    seen = set()
    for path in _MODULES:
        theirs = importlib.import_module(f"torch.{path}")
        for name in dir(theirs):
            kind = getattr(theirs, name)
            if not isinstance(kind, type) or kind in seen or not _of_torch(kind):
                continue
            seen.add(kind)
            try:
                ours = getattr(importlib.import_module(f"tinytorch.{path}"), name)
            except (ImportError, AttributeError):
                continue  # a public class that is absent is another test's business
            yield kind, ours


def _of_torch(kind: type) -> bool:
    return kind.__module__.split(".")[0] == "torch"


@functools.cache
def _calls(kind: type) -> frozenset[str]:
    """Names that the methods written in ``kind`` call on their first parameter."""
    found = set()
    for member in vars(kind).values():
        function = member.fget if isinstance(member, property) else member
        function = inspect.unwrap(getattr(function, "__func__", function))
        if not inspect.isfunction(function):
            continue
        try:
            tree: Any = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
        except (OSError, SyntaxError, TypeError):
            continue  # generated, or a lambda
        if isinstance(tree, ast.FunctionDef) and tree.args.args:
            first = tree.args.args[0].arg
            found |= {
                node.func.attr
                for node in ast.walk(tree)
                if isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id == first
            }
    return frozenset(found)


def _called_methods(kind: type) -> dict[str, str]:
    """Methods of ``kind`` that PyTorch calls on ``self``, each with the class that has it."""
    bases = [base for base in kind.__mro__ if _of_torch(base)]
    names = {name for base in bases for name in _calls(base)}
    return {
        name: next(base.__name__ for base in bases if name in vars(base))
        for name in sorted(names)
        if any(name in vars(base) for base in bases) and callable(getattr(kind, name))
    }


def test_methods_that_pytorchs_classes_call_on_self_exist(torch: Any) -> None:
    absent = {
        f"{owner}.{name}"
        for theirs, ours in _classes(torch)
        for name, owner in _called_methods(theirs).items()
        if owner not in _ABSENT and inspect.getattr_static(ours, name, None) is None
    }
    assert absent - set(_ABSENT) == set()


def _record(kind: type, names: set[str], calls: set[str]) -> type:
    """Subclass of ``kind`` whose methods ``names`` note that they are called."""

    def override(name: str) -> Callable[..., Any]:
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            calls.add(name)
            return getattr(kind, name)(self, *args, **kwargs)

        return method

    ordinary = {n for n in names if inspect.isfunction(inspect.getattr_static(kind, n, None))}
    return type(kind.__name__, (kind,), {name: override(name) for name in ordinary})


def _layer(*arguments: Any, inputs: Callable[[Any], tuple[Any, ...]], **options: Any) -> Any:
    def run(T: Any, kind: Any) -> None:
        module = kind(*arguments, **options)
        module(*inputs(T))

    return run


def _optimizer(T: Any, kind: Any) -> None:
    p = T.nn.Parameter(T.ones(2, 2))
    optimizer = kind([p], lr=0.1)
    for _ in range(2):
        p.grad = T.ones(2, 2)
        optimizer.step()


def _lbfgs(T: Any, kind: Any) -> None:
    p = T.ones(2, requires_grad=True)
    optimizer = kind([p], max_iter=3, line_search_fn="strong_wolfe")

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (p**4).sum()
        loss.backward()
        return loss

    optimizer.step(closure)


def _scaler(T: Any, kind: Any) -> None:
    p = T.ones(2, requires_grad=True)
    optimizer, scaler = T.optim.SGD([p], lr=0.1), kind("cpu")
    scaler.scale(p.sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    scaler.state_dict()


def _loader(T: Any, kind: Any) -> None:
    list(kind([1, 2, 3], batch_size=2))


def _scheduler(*arguments: Any, **options: Any) -> Any:
    def run(T: Any, kind: Any) -> None:
        optimizer = T.optim.SGD([T.ones(2, requires_grad=True)], lr=0.1, momentum=0.9)
        scheduler = kind(optimizer, *arguments, **options)
        for _ in range(3):
            optimizer.step()
            scheduler.step()

    return run


def _floats(*shape: int) -> Callable[[Any], tuple[Any, ...]]:
    return lambda T: (T.ones(*shape),)


def _packed(T: Any) -> tuple[Any, ...]:
    lengths = T.tensor([2, 3])
    pack = T.nn.utils.rnn.pack_padded_sequence
    return pack(T.ones(3, 2, 2), lengths, enforce_sorted=False), T.zeros(1, 2, 3)


_CASES: dict[str, tuple[str, Callable[[Any, Any], None]]] = {
    "encoder": ("nn.TransformerEncoderLayer", _layer(4, 2, 8, inputs=_floats(3, 2, 4))),
    "decoder": (
        "nn.TransformerDecoderLayer",
        _layer(4, 2, 8, inputs=lambda T: (T.ones(3, 2, 4), T.ones(3, 2, 4))),
    ),
    "transformer": (
        "nn.Transformer",
        _layer(4, 2, 1, 1, 8, inputs=lambda T: (T.ones(3, 2, 4), T.ones(3, 2, 4))),
    ),
    "rnn": ("nn.RNN", _layer(2, 3, inputs=_floats(3, 2, 2))),
    "gru": ("nn.GRU", _layer(2, 3, batch_first=True, inputs=_floats(3, 2, 2))),
    "gru, packed": ("nn.GRU", _layer(2, 3, inputs=_packed)),
    "lstm": ("nn.LSTM", _layer(2, 3, proj_size=1, inputs=_floats(3, 2, 2))),
    "lstm, unbatched": ("nn.LSTM", _layer(2, 3, inputs=_floats(3, 2))),
    "lstm cell": ("nn.LSTMCell", _layer(2, 3, inputs=_floats(2, 2))),
    "conv": ("nn.Conv2d", _layer(1, 1, 2, inputs=_floats(1, 1, 3, 3))),
    "transposed conv": ("nn.ConvTranspose2d", _layer(1, 1, 2, inputs=_floats(1, 1, 3, 3))),
    "lazy conv": ("nn.LazyConv1d", _layer(1, 2, inputs=_floats(1, 1, 3))),
    "batch norm": ("nn.BatchNorm1d", _layer(2, inputs=_floats(3, 2))),
    "instance norm": ("nn.InstanceNorm1d", _layer(2, inputs=_floats(3, 2, 3))),
    "instance norm, unbatched": ("nn.InstanceNorm1d", _layer(2, inputs=_floats(2, 3))),
    "layer norm": ("nn.LayerNorm", _layer(2, inputs=_floats(3, 2))),
    "linear": ("nn.Linear", _layer(2, 2, inputs=_floats(3, 2))),
    "embedding": ("nn.Embedding", _layer(3, 2, 0, inputs=lambda T: (T.tensor([1]),))),
    "circular": ("nn.CircularPad1d", _layer(1, inputs=_floats(1, 2, 3))),
    "unflatten": ("nn.Unflatten", _layer(1, (2, 2), inputs=_floats(1, 4))),
    "adaptive softmax": (
        "nn.AdaptiveLogSoftmaxWithLoss",
        lambda T, kind: kind(4, 6, [2, 4]).log_prob(T.ones(2, 4)),
    ),
    "sequential": ("nn.Sequential", lambda T, kind: kind(T.nn.ReLU(), T.nn.ReLU())[1]),
    "module list": ("nn.ModuleList", lambda T, kind: kind([T.nn.ReLU()])[0]),
    "parameter list": ("nn.ParameterList", lambda T, kind: kind([T.ones(1)])[0]),
    **{
        name: (f"optim.{name}", _optimizer)
        for name in (
            "SGD", "Adam", "AdamW", "Adamax", "Adadelta", "Adagrad", "ASGD", "NAdam", "RAdam",
            "RMSprop", "Rprop", "Adafactor", "Muon",
        )
    },
    "LBFGS": ("optim.LBFGS", _lbfgs),
    "scaler": ("amp.GradScaler", _scaler),
    "loader": ("utils.data.DataLoader", _loader),
    "StepLR": ("optim.lr_scheduler.StepLR", _scheduler(1)),
    "LambdaLR": ("optim.lr_scheduler.LambdaLR", _scheduler(lambda step: 0.5**step)),
    "CyclicLR": ("optim.lr_scheduler.CyclicLR", _scheduler(0.1, 1.0)),
    "OneCycleLR": ("optim.lr_scheduler.OneCycleLR", _scheduler(1.0, total_steps=10)),
    "SWALR": ("optim.swa_utils.SWALR", _scheduler(0.1)),
}  # fmt: skip

#: Overrides that are not called here though PyTorch calls them, with the reason.
_NOT_CALLED = {
    "_accelerator_graph_capture_health_check": "absent",
}


@pytest.mark.parametrize("case", _CASES)
def test_overridden_methods_are_called_as_by_pytorchs_classes(torch: Any, case: str) -> None:
    path, run = _CASES[case]
    theirs, ours = (functools.reduce(getattr, path.split("."), L) for L in (torch, tt))
    names = {name for name in _called_methods(theirs) if not name.startswith("__")}
    called: list[set[str]] = [set(), set()]
    for T, kind, calls in ((torch, theirs, called[0]), (tt, ours, called[1])):
        T.manual_seed(0)
        run(T, _record(kind, names, calls))
    assert called[0] - called[1] - set(_NOT_CALLED) == set()


def test_an_override_of_call_impl_is_called() -> None:
    class Doubled(tt.nn.Linear):
        def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
            return 2 * super()._call_impl(*args, **kwargs)

    torch_like = Doubled(2, 1)
    x = tt.ones(1, 2)
    assert tt.equal(torch_like(x), 2 * torch_like.forward(x))


def test_the_override_decides_the_result(torch: Any) -> None:
    def outputs(T: Any) -> list[Any]:
        class Layer(T.nn.TransformerEncoderLayer):
            def _sa_block(self, x: Any, attn_mask: Any, kpm: Any, is_causal: bool = False) -> Any:
                return 0.5 * x

            def _ff_block(self, x: Any) -> Any:
                return -0.25 * x

        class Frozen(T.optim.Adam):
            def _init_group(self, group: Any, params: Any, grads: Any, *states: Any) -> Any:
                result = super()._init_group(group, params, grads, *states)
                for column in (params, grads, *states):
                    del column[1:]
                return result

        class Scaler(T.amp.GradScaler):
            def _unscale_grads_(
                self, optimizer: Any, inv_scale: Any, found_inf: Any, allow_fp16: bool
            ) -> Any:
                return super()._unscale_grads_(optimizer, inv_scale, found_inf, True)

        x = T.arange(8.0).reshape(2, 1, 4)
        p, q = (T.nn.Parameter(T.ones(2)) for _ in range(2))
        half = T.nn.Parameter(T.ones(2, dtype=T.float16))
        for each in (p, q, half):
            each.grad = T.ones_like(each)
        optimizer = T.optim.SGD([half], lr=0.5)
        scaler = Scaler("cpu", init_scale=4.0)
        scaler.scale(T.ones(1))
        scaler.step(optimizer)
        Frozen([p, q], lr=0.1).step()
        layer = Layer(4, 2, 8)
        return [each.tolist() for each in (layer(x).detach(), p.data, q.data, half.data.float())]

    for ours, theirs in zip(outputs(tt), outputs(torch), strict=True):
        torch.testing.assert_close(torch.tensor(ours), torch.tensor(theirs))


@pytest.mark.parametrize(
    "read",
    [
        "nn.GRU(2, 3, 2, bidirectional=True)._flat_weights_names",
        "[tuple(w.shape) for w in nn.LSTM(2, 3)._flat_weights]",
        "nn.TransformerEncoderLayer(4, 2, 8).activation_relu_or_gelu",
        "nn.TransformerEncoderLayer(4, 2, 8, activation='gelu').activation_relu_or_gelu",
        "optim.SGD([ones(1, requires_grad=True)])._zero_grad_profile_name",
        "utils.data.DataLoader([1, 2])._dataset_kind",
        "utils.data.DataLoader([1, 2])._auto_collation",
        "next(it := iter(utils.data.DataLoader([1, 2]))) and it._num_yielded",
        "amp.GradScaler('cpu')._init_scale",
        "amp.GradScaler('cpu')._device",
        "dict(amp.GradScaler('cpu')._per_optimizer_states)",
        "cuda._initialized",
        "utils._pytree._namedtuple_flatten(__import__('collections').namedtuple('P', 'x')(1))[0]",
        "utils._pytree._list_flatten([1, 2])",
        "utils._pytree._tuple_flatten((1, 2))",
        "utils._pytree._deque_flatten(__import__('collections').deque([1], 3))",
    ],
)
def test_private_names_that_programs_read(torch: Any, read: str) -> None:
    for path in ("utils._pytree", "utils.data", "optim", "amp", "cuda"):
        importlib.import_module(f"torch.{path}")
    names = ("nn", "optim", "utils", "amp", "cuda", "ones")
    theirs, ours = (eval(read, {name: getattr(L, name) for name in names}) for L in (torch, tt))
    assert ours == theirs

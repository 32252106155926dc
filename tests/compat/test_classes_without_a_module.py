"""Classes that are made where no ``__name__`` is defined have no ``__module__``, as in PyTorch."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

#: Uses of a class ``made(*bases, **members)``, with ``t`` for the library and ``ones(2)`` as x.
USES = """
made(nn.Linear)(2, 3)(x).sum().backward()
repr(made(nn.Linear)(2, 3))
made(nn.Module, forward=lambda self, x: x)()(x)
made(nn.LSTM)(2, 3)(x[None])
made(nn.TransformerEncoderLayer)(4, 2)
made(nn.LazyLinear)(4)(x)
made(nn.Sequential)(nn.ReLU())(x)
made(nn.ModuleList)([nn.ReLU()])
made(nn.ParameterDict)({"a": x})
made(nn.CrossEntropyLoss)()(x[None], t.tensor([0]))
made(nn.Parameter)(x).sum().backward()
repr(x.detach().as_subclass(made(t.Tensor)))
x.as_subclass(made(t.Tensor)).sum().backward()
made(Function, forward=staticmethod(lambda ctx, x: x * 2), backward=staticmethod(lambda ctx, g: g)).apply(x).sum().backward()
made(optim.SGD)([x], lr=0.1).step()
made(optim.Optimizer, step=lambda self: None)([x], {}).step()
repr(made(optim.Adam)([x], lr=0.1))
made(lrs.StepLR)(made(optim.SGD)([x], lr=0.1), 1)
made(lrs.LRScheduler, get_lr=lambda self: [0.1])(optim.SGD([x], lr=0.1))
list(data.DataLoader(made(data.Dataset, __getitem__=lambda s, i: i, __len__=lambda s: 2)()))
list(data.DataLoader(made(data.IterableDataset, __iter__=lambda s: iter([1, 2]))()))
list(made(data.DataLoader)(range(3), sampler=made(data.Sampler, __iter__=lambda s: iter([1]))()))
made(D.Normal)(0.0, 1.0).log_prob(x)
repr(made(D.Normal)(0.0, 1.0))
made(D.Normal)(t.zeros(2), t.ones(2)).expand((3, 2)).sample()
D.kl_divergence(made(D.Normal)(0.0, 1.0), D.Normal(0.0, 1.0))
made(D.Distribution, arg_constraints={})()
made(D.TransformedDistribution)(D.Normal(0.0, 1.0), [made(D.ExpTransform)()]).sample()
made(D.constraints.Constraint)()
nn.utils.parametrize.register_parametrization(made(nn.Linear)(2, 2), "weight", made(nn.Module, forward=lambda s, x: x)())
nn.utils.parametrizations.weight_norm(made(nn.Linear)(2, 2))
prune.l1_unstructured(made(nn.Linear)(2, 2), "weight", 0.5)
made(TorchFunctionMode)().__enter__().__exit__(None, None, None)
copy.deepcopy(made(nn.Linear)(2, 3))
t.func.functional_call(made(nn.Linear)(2, 3), {}, (x,))
t.serialization.safe_globals([made(nn.Linear)])
nn.Linear(2, 2).register_forward_hook(made(object, __call__=lambda s, m, i, o: None)())
enum.Enum("E", "A B").A
"""  # noqa: E501


@pytest.mark.parametrize("use", USES.strip().splitlines())
def test_a_class_without_a_module_works(lib: Any, use: str) -> None:
    def load(name: str) -> Any:
        return importlib.import_module(f"{lib.__name__}.{name}")

    names = {
        "t": lib, "nn": lib.nn, "optim": lib.optim, "lrs": lib.optim.lr_scheduler,
        "data": load("utils.data"), "D": load("distributions"), "Function": lib.autograd.Function,
        "prune": load("nn.utils.prune"), "TorchFunctionMode": load("overrides").TorchFunctionMode,
        "copy": importlib.import_module("copy"), "enum": importlib.import_module("enum"),
        "x": lib.ones(2, requires_grad=True),
    }  # fmt: skip
    exec("made = lambda *bases, **members: type('Made', bases, members)", names)
    assert not hasattr(eval("made(nn.Linear)", names), "__module__")
    exec(use, names)

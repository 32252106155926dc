"""Derivatives as type checkers see them: functions of a user's own, hooks, Jacobians, groups."""

from __future__ import annotations

from typing import Any, assert_type

import tinytorch as tt
from tinytorch import Tensor, nn, optim
from tinytorch.autograd import Function
from tinytorch.autograd.functional import hessian, jacobian
from tinytorch.func import grad, grad_and_value, jvp, linearize, vjp, vmap


class Clip(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, low: float, high: float) -> Tensor:
        ctx.save_for_backward((x > low) & (x < high))
        return x.clamp(low, high)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        (inside,) = ctx.saved_tensors
        return grad * inside, None, None


class Halves(Function):
    @staticmethod
    def forward(x: Tensor) -> tuple[Tensor, Tensor]:
        return x[:1].clone(), x[1:].clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.length = len(inputs[0])

    @staticmethod
    def backward(ctx: Any, first: Tensor, rest: Tensor) -> Tensor:
        return tt.cat([first, rest])


def total(x: Tensor) -> Tensor:
    return (x**3).sum()


x = tt.tensor([0.5, 2.0], requires_grad=True)
assert_type(Clip.apply(x, 0.0, 1.0), Tensor)
first, rest = Halves.apply(x)
assert_type(rest, Tensor)
clip = Clip.apply
assert_type(clip(x, 0.0, 1.0).sum().backward(), None)
assert_type(x.grad, Tensor | None)
assert_type(x.is_leaf, bool)
handle = x.register_hook(lambda grad: grad * 2)
handle.remove()
(gradient,) = tt.autograd.grad(total(x), [x], create_graph=True)
assert_type(gradient, Tensor)
assert_type(jacobian(lambda v: v * v, x), Tensor)
assert_type(hessian(total, x), Tensor)
assert_type(tt.autograd.gradcheck(total, x.double().detach().requires_grad_()), bool)

layer = nn.Linear(2, 1)
optimizer = optim.SGD(
    [{"params": [layer.weight], "weight_decay": 0.1}, {"params": layer.bias, "lr": 0.2}], lr=0.1
)
optim.Adam(layer.named_parameters())
optim.Adam([layer.weight, layer.bias])
for group in optimizer.param_groups:
    group["lr"] *= 0.5
assert_type(tt.finfo(tt.float32).max, float)
assert_type(tt.iinfo(tt.int8).min, int)


def scale(x: Tensor, factor: float) -> tuple[Tensor, list[Tensor]]:
    return x * factor, [x]


def twice(x: Tensor) -> tuple[Tensor, list[Tensor]]:
    return scale(x, 2.0)


assert_type(vmap(total)(tt.ones(2, 3)), Tensor)
assert_type(tt.vmap(scale, in_dims=(0, None))(tt.ones(3), 2.0)[1], list[Tensor])
assert_type(vmap(grad(total))(tt.ones(2, 3)), Tensor)  # like the argument
assert_type(grad_and_value(total)(x), tuple[Tensor, Tensor])
assert_type(jvp(total, (x,), (x,)), tuple[Tensor, Tensor])
assert_type(jvp(twice, (x,), (x,), has_aux=True)[2], list[Tensor])
output, pull_back = vjp(total, x)
assert_type(output, Tensor)
assert_type(linearize(total, x)[1](x), Tensor)

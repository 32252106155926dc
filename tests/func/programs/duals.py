"""Dual tensors, ``autograd.forward_ad``."""

import importlib


def dual_through_functions(torch, note):
    A = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    x = torch.tensor([0.3, 2.0])
    v = torch.tensor([1.0, -2.0])
    with A.dual_level():
        d = A.make_dual(x, v)
        note(*A.unpack_dual((d.sin() * d).exp()))
        note(*A.unpack_dual(torch.cat([d, x])[1:]))
        note(*A.unpack_dual(d.sum()))
        note(*A.unpack_dual(d))
        note(A.unpack_dual(x * 2))
        note(A.unpack_dual(d > 1))
        note(*A.unpack_dual(d.reshape(2, 1) @ d.reshape(1, 2)))
        note(A.unpack_dual(d.detach()))
        r = A.unpack_dual(d * 2)
        note(r.primal, r.tangent, r.primal.requires_grad, r.tangent.requires_grad)


def two_duals(torch, note):
    A = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    x = torch.tensor([0.3, 2.0])
    v = torch.tensor([1.0, -2.0])
    with A.dual_level():
        a = A.make_dual(x, v)
        b = A.make_dual(x * 3, v + 1)
        note(*A.unpack_dual(a * b))
        note(*A.unpack_dual(a / b.sum()))
        note(*A.unpack_dual(b.cos()))


def dual_of_a_layer(torch, note):
    A = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    n = torch.nn.Linear(2, 3)
    w = torch.arange(6.0).reshape(3, 2) / 7
    x = torch.tensor([[1.0, 2.0]])
    with torch.no_grad():
        n.weight.copy_(w)
        n.bias.fill_(1.0)
    with A.dual_level():
        t = {k: torch.ones_like(q) for k, q in n.named_parameters()}
        for k, q in list(n.named_parameters()):
            delattr(n, k)
            setattr(n, k, A.make_dual(q, t[k]))
        o, g = A.unpack_dual(n(x).tanh())
        note(o.detach(), g.detach())


def level_over_reverse(torch, note):
    A = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    x = torch.tensor([3.0, 4.0], requires_grad=True)
    v = torch.tensor([1.0, 0.5])
    with A.dual_level():
        r = A.unpack_dual((A.make_dual(x, v) ** 3).sum())
        note(r.primal.detach(), r.tangent.detach(), r.primal.requires_grad, r.tangent.requires_grad)
        note(torch.autograd.grad(r.tangent, x), torch.autograd.grad(r.primal, x))


def a_gradient_of_duals(torch, note):
    A = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    x = torch.tensor([3.0, 4.0])
    v = torch.tensor([1.0, 0.5])
    with A.dual_level():
        g = torch.func.grad(lambda x: (x**3).sum())(A.make_dual(x, v))
        r = A.unpack_dual(g)
        note(*r)


def dual_of_complex(torch, note):
    A = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    x = torch.tensor([1 + 2j, 3 - 1j])
    v = torch.tensor([1j, 2 + 0j])
    with A.dual_level():
        d = A.make_dual(x, v)
        note(*A.unpack_dual(d * d))
        note(*A.unpack_dual(d.abs()))
        note(*A.unpack_dual(d.conj() * 2))
        note(*A.unpack_dual(d.real))


def dual_of_no_dimensions(torch, note):
    A = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    with A.dual_level():
        d = A.make_dual(torch.tensor(2.0), torch.tensor(3.0))
        note(*A.unpack_dual(d**3))
        y = d * 1
        y.mul_(d)
        note(*A.unpack_dual(y))


def dual_of_doubles(torch, note):
    A = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    x = torch.tensor([0.3, 2.0], dtype=torch.float64)
    with A.dual_level():
        r = A.unpack_dual(A.make_dual(x, x + 1).exp())
        note(*r, r.tangent.dtype == torch.float64)


def level_under_no_grad(torch, note):
    A = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    with torch.no_grad(), A.dual_level():
        d = A.make_dual(torch.tensor([2.0]), torch.tensor([3.0]))
        r = A.unpack_dual(d * d)
        note(*r, r.primal.requires_grad)
    note(torch.is_grad_enabled())


def level_as_a_decorator(torch, note):
    A = importlib.import_module(torch.__name__ + ".autograd.forward_ad")

    @A.dual_level()
    def change(f, x):
        return A.unpack_dual(f(A.make_dual(x, torch.ones_like(x)))).tangent

    note(change(torch.sin, torch.zeros(2)), change(torch.cos, torch.zeros(2)))


def level_after_an_error(torch, note):
    A = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    try:
        with A.dual_level():
            1 / 0
    except ZeroDivisionError:
        note("caught")
    with A.dual_level() as n:
        note(n)


def levels_by_hand(torch, note):
    A = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    x = torch.tensor([2.0])
    note(A.enter_dual_level())
    d = A.make_dual(x, x)
    note(*A.unpack_dual(d * d, level=0))
    A.exit_dual_level(level=0)
    note(A.unpack_dual(x))
    note(A.unpack_dual(x, level=-1))
    note(A.UnpackedDualTensor._fields)
    note(A.unpack_dual(d).tangent)


def levels_nested(torch, note):
    A = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    with A.dual_level():
        A.enter_dual_level()


def no_level_to_make_in(torch, note):
    A = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    A.make_dual(torch.ones(2), torch.ones(2))


def no_level_to_exit(torch, note):
    A = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    A.exit_dual_level()


def another_level_to_exit(torch, note):
    A = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    with A.dual_level():
        A.exit_dual_level(level=4)


def another_level_to_unpack(torch, note):
    A = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    with A.dual_level():
        A.unpack_dual(A.make_dual(torch.ones(2), torch.ones(2)), level=3)


def dual_of_integers(torch, note):
    A = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    with A.dual_level():
        A.make_dual(torch.ones(2, dtype=torch.int64), torch.ones(2))


def tangent_of_integers(torch, note):
    A = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    with A.dual_level():
        A.make_dual(torch.ones(2), torch.ones(2, dtype=torch.int64))


def tangent_of_another_size(torch, note):
    A = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    with A.dual_level():
        A.make_dual(torch.ones(2), torch.ones(3))


def duals_written_over(torch, note):
    A = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    with A.dual_level():

        def dual():
            return A.make_dual(torch.tensor([0.3, -2.0]), torch.tensor([1.0, -2.0]))

        def see(*ds):
            for d in ds:
                note(*A.unpack_dual(d))

        x = torch.tensor([0.3, -2.0])
        d = A.make_dual(x, torch.tensor([1.0, -2.0]))
        d.mul_(2)
        see(d)
        note(x, x._version)
        d = dual()
        d.sin_()
        d *= 3
        d += 1
        see(d)
        e = dual()
        d.add_(e)
        see(d, e)
        d.copy_(torch.ones(2))
        see(d)
        d = dual()
        d[0] = 5.0
        see(d)
        d[0] = d[1] * 3
        see(d)
        d[1:].mul_(3)
        see(d)
        d.zero_()
        see(d)
        d = dual()
        d.masked_fill_(torch.tensor([True, False]), 0.0)
        see(d)
        d.index_add_(0, torch.tensor([0]), torch.ones(1))
        see(d)
        d = dual()
        torch.nn.functional.relu(d, inplace=True)
        see(d)
        d = dual()
        d.uniform_(1.0, 1.0)
        see(d)
        d = dual()
        v = d[:1]
        d.mul_(2)
        see(v)
        v.add_(v)
        see(d, v)
        d.unsqueeze_(0)
        d.t_()
        see(d)
        y = torch.ones(2)
        y.add_(dual())
        see(y)
        y[1:] = dual()[:1]
        see(y)
        y.copy_(dual())
        see(y)
        d = dual()
        d.mul_(2)
        see(torch.func.grad(lambda x: (x**3).sum())(d))


def duals_written_over_after_they_were_needed(torch, note):
    A = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    with A.dual_level(), torch.autograd.graph.allow_mutation_on_saved_tensors():
        d = A.make_dual(torch.tensor([0.3, -2.0]), torch.tensor([1.0, -2.0]))
        y = d * d
        d.exp_()
        d.mul_(d)
        d += 1
        note(*A.unpack_dual(y))
        note(*A.unpack_dual(d))


def a_part_made_dual_and_written_over(torch, note):
    A = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    with A.dual_level():
        y = torch.tensor([0.3, 2.0]) * 1
        d = A.make_dual(y[:1], torch.ones(1))
        d.mul_(3)
        note(*A.unpack_dual(d))
        note(y, A.unpack_dual(y).tangent)


def dual_of_what_was_made_of_a_dual(torch, note):
    A = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    with A.dual_level():
        A.make_dual(A.make_dual(torch.ones(2), torch.ones(2)) * 2, torch.ones(2))


def jvp_of_what_writes_to_its_argument(torch, note):
    def f(x):
        x[0] = 5.0
        x.mul_(x[1:] + 1)
        return x + 1

    x = torch.tensor([0.3, 2.0])
    note(torch.func.jvp(f, (x,), (torch.tensor([1.0, -2.0]),)))
    note(x)
    x = torch.tensor([0.3, 2.0])
    note(torch.func.jacfwd(lambda x: x.mul_(2).exp())(x))
    note(x)


def dual_of_a_dual(torch, note):
    A = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    with A.dual_level():
        A.make_dual(A.make_dual(torch.ones(2), torch.ones(2)), torch.ones(2))


def unpacked_number(torch, note):
    A = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    with A.dual_level():
        A.unpack_dual(3)


def the_jvp_of_a_function(torch, note):
    A = importlib.import_module(torch.__name__ + ".autograd.forward_ad")

    class Ten(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, k, b):
            ctx.save_for_forward(a, b)
            ctx.save_for_backward(a + 1)
            ctx.k = k
            return (a * b * k, a - b)

        @staticmethod
        def jvp(ctx, s, _, t):
            a, b = ctx.saved_tensors
            return ((s * b + t * a) * ctx.k * 10, s - t)

        @staticmethod
        def backward(ctx, g, h):
            (a,) = ctx.saved_tensors
            return (g * a, None, h)

    x = torch.tensor([1.0, 2.0])
    v = torch.tensor([0.5, -1.0])
    w = torch.tensor([2.0, 5.0])
    with A.dual_level():
        a = A.make_dual(x, v)
        for b in (w, A.make_dual(w, torch.ones(2))):
            for r in Ten.apply(a, 3, b):
                note(*A.unpack_dual(r * 2))
    x.requires_grad_()
    sum(r.sum() for r in Ten.apply(x, 3, w)).backward()
    note(x.grad)


def jvp_without_a_backward(torch, note):
    A = importlib.import_module(torch.__name__ + ".autograd.forward_ad")

    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.y = x.exp()
            return ctx.y

        @staticmethod
        def jvp(ctx, t):
            return t * ctx.y

    with A.dual_level():
        note(*A.unpack_dual(Exp.apply(A.make_dual(torch.zeros(2), torch.tensor([3.0, 4.0])))))
    Exp.apply(torch.zeros(2, requires_grad=True)).sum().backward()


def jvp_by_func(torch, note):
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x**3

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def jvp(ctx, t):
            (x,) = ctx.saved_tensors
            return t * 3 * x**2

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 3 * x**2

    note(*torch.func.jvp(Cube.apply, (torch.tensor([1.0, 2.0]),), (torch.tensor([0.5, -1.0]),)))


def functionalize(torch, note):
    x = torch.ones(2)
    note(torch.func.functionalize(lambda x: x.clone().add_(1).view(2, 1).mul_(3))(x), x)
    torch.func.functionalize(lambda x: x, remove="views")(x)


def dual_tensors_as_text(torch, note):
    A = importlib.import_module(torch.__name__ + ".autograd.forward_ad")
    with A.dual_level():
        d = A.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
        note(
            repr(d),
            str(d * 2),
            repr(d > 1),
            repr(torch.ones(1)),
            repr(torch.ones(1, requires_grad=True)),
        )
        note(str(A.make_dual(torch.tensor(1.0), torch.tensor(2.0))), repr(d.double() * 1))
        note(repr(A.make_dual(torch.ones(2, 2), torch.arange(4.0).reshape(2, 2))))
    note(repr(torch.ones(2)))

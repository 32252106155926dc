"""``vmap``."""

import collections
import functools


def vmap(torch, note):
    x = torch.arange(6.0).reshape(2, 3)
    note(torch.vmap(lambda a: a * 2)(x), torch.func.vmap(torch.dot)(x, x), torch.vmap(torch.sum)(x))


def vmap_in_dims(torch, note):
    x = torch.arange(6.0).reshape(2, 3)
    v = torch.tensor([1.0, 2.0])
    note(torch.vmap(lambda a: a.sum(), in_dims=1)(x), torch.vmap(lambda a: a * 2, in_dims=-1)(x))
    note(
        torch.vmap(lambda a, b: a * b, in_dims=(0, None))(v, x),
        torch.vmap(torch.mv, in_dims=(None, 1))(x, x.T @ x),
    )
    note(torch.vmap(lambda d: d["a"] * d["b"], in_dims=({"a": 0, "b": None},))({"a": v, "b": x}))
    note(torch.vmap(lambda d, e: d["a"] * d["b"][0] * e, in_dims=(0, 1))({"a": v, "b": [v]}, x.T))
    note(torch.vmap(lambda a, b: a * b, in_dims=(0, None))(v, 3))


def vmap_in_dims_of_named_tuples(torch, note):
    N = collections.namedtuple("N", "a b")
    v = torch.tensor([1.0, 2.0])
    r = torch.vmap(lambda n: N(n.a * 2, n.b), in_dims=(N(0, None),))(N(v, v))
    note(r.a, r.b)


def vmap_in_dims_all_None(torch, note):
    torch.vmap(lambda a, b: a * b, in_dims=(None, None))(torch.ones(2), torch.ones(2))


def vmap_in_dims_None(torch, note):
    torch.vmap(lambda a: a, in_dims=None)(torch.ones(2))


def vmap_in_dims_list(torch, note):
    torch.vmap(lambda a: a, in_dims=[0])(torch.ones(2))


def vmap_in_dims_str(torch, note):
    torch.vmap(lambda a: a, in_dims=("x",))(torch.ones(2))


def vmap_in_dims_too_many(torch, note):
    torch.vmap(lambda a: a, in_dims=(0, 0))(torch.ones(2))


def vmap_in_dims_of_other_keys(torch, note):
    torch.vmap(lambda d: d["a"], in_dims=({"a": 0, "c": None},))(
        {"a": torch.ones(2), "b": torch.ones(2)}
    )


def a_number(torch, note):
    torch.vmap(lambda a, b: a * b)(torch.ones(2), 3)


def other_sizes(torch, note):
    torch.vmap(lambda a, b: a * b)(torch.ones(2), torch.ones(3))


def no_dimension(torch, note):
    torch.vmap(lambda a: a)(torch.tensor(1.0))


def a_dimension_beyond(torch, note):
    torch.vmap(lambda a: a, in_dims=2)(torch.ones(2, 3))


def no_arguments(torch, note):
    torch.vmap(lambda: 1)()


def keywords_alone(torch, note):
    torch.vmap(lambda a: a)(a=torch.ones(2))


def keywords(torch, note):
    v = torch.tensor([1.0, 2.0])
    note(torch.vmap(lambda a, s=1: a * s)(v, s=v))


def vmap_out_dims(torch, note):
    x = torch.arange(6.0).reshape(2, 3)
    v = torch.tensor([1.0, 2.0])
    note(
        torch.vmap(lambda a: a * 2, out_dims=1)(x),
        torch.vmap(lambda a: a * 2, out_dims=-1)(x),
        torch.vmap(lambda a: a * 2, out_dims=-2)(x),
    )
    note(
        torch.vmap(lambda a: (x * a, x * a), out_dims=(0, 2))(v),
        torch.vmap(lambda a: [a, a], out_dims=[0, 0])(v),
    )
    r = torch.vmap(lambda a: {"a": a, "b": a * x}, out_dims={"a": 0, "b": 1})(v)
    note(r["a"], r["b"])
    r = torch.vmap(lambda a: {"a": a, "b": (a, [a * x])})(v)
    note(r["a"], r["b"])
    note(torch.vmap(lambda a: a, out_dims=(0,))(v), torch.vmap(lambda a: (a,), out_dims=0)(v))


def vmap_out_dims_None(torch, note):
    v = torch.tensor([1.0, 2.0])
    note(torch.vmap(lambda a: (a, 3.0, "s", None), out_dims=(0, None, None, None))(v))
    note(torch.vmap(lambda a: torch.ones(2), out_dims=None)(v))


def vmap_out_dims_None_of_what_differs(torch, note):
    torch.vmap(lambda a: a, out_dims=None)(torch.tensor([1.0, 2.0]))


def vmap_out_dims_too_many(torch, note):
    torch.vmap(lambda a: (a, a), out_dims=(0, 0, 0))(torch.ones(2))


def vmap_out_dims_for_one(torch, note):
    torch.vmap(lambda a: a, out_dims=(0, 0))(torch.ones(2))


def vmap_out_dims_deeper(torch, note):
    torch.vmap(lambda a: (a, a), out_dims=(0, (0, 0)))(torch.ones(2))


def vmap_out_dims_str(torch, note):
    torch.vmap(lambda a: a, out_dims="a")(torch.ones(2))


def a_result_that_is_a_number(torch, note):
    torch.vmap(lambda a: 3.0)(torch.ones(2))


def a_result_that_is_None(torch, note):
    torch.vmap(lambda a: None)(torch.ones(2))


def a_result_that_is_a_constant(torch, note):
    c = torch.tensor([1.0, 2.0])
    note(torch.vmap(lambda a: c)(torch.ones(3)))


def integers(torch, note):
    note(torch.vmap(lambda a: (a * 2, a.float() / 2, a > 1))(torch.tensor([1, 2])))


def no_examples(torch, note):
    note(
        torch.vmap(lambda a: a.sum())(torch.ones(0, 3)),
        torch.vmap(lambda a: a * 2)(torch.ones(0, 3)),
        torch.vmap(lambda a: a * 2, in_dims=1, out_dims=1)(torch.ones(2, 0)),
    )
    note(torch.vmap(lambda a: a * 2)(torch.ones(0, 3, dtype=torch.int64)))


def chunks(torch, note):
    v = torch.arange(5.0)
    note(
        torch.vmap(lambda a: a * 2, chunk_size=2)(v),
        torch.vmap(lambda a: a * v, chunk_size=2, out_dims=1)(v),
    )


def chunks_of_none(torch, note):
    torch.vmap(lambda a: a * 2, chunk_size=0)


def names_of_functions(torch, note):
    torch.vmap(functools.partial(lambda a, b: 3.0, b=1))(torch.ones(2))


def vmap_nested(torch, note):
    x = torch.arange(6.0).reshape(2, 3)
    y = x + 1
    note(
        torch.vmap(torch.vmap(torch.dot, in_dims=(None, 0)), in_dims=(0, None))(x, y),
        torch.vmap(torch.vmap(lambda a: a**2))(x),
    )
    note(torch.vmap(torch.vmap(lambda a: a * 2, in_dims=0, out_dims=0), in_dims=1, out_dims=1)(x))


def gradients_through_it(torch, note):
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    r = torch.vmap(lambda a: (a**3 * w).sum())(x)
    note(r)
    r.sum().backward()
    note(x.grad, w.grad)
    with torch.no_grad():
        note(torch.vmap(lambda a: (a**3 * w).sum())(x))


def vmap_per_sample_gradients(torch, note):
    F = torch.func
    x = torch.arange(6.0).reshape(2, 3)
    w = torch.ones(3)
    note(F.vmap(F.grad(lambda w, a: (w * a).sum() ** 2), in_dims=(None, 0))(w, x))
    g, v = F.vmap(F.grad_and_value(lambda w, a: (w * a).sum() ** 2), in_dims=(None, 0))(w, x)
    note(g, v)


def vmap_per_sample_gradients_of_a_module(torch, note):
    F = torch.func
    m = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh(), torch.nn.Linear(2, 1))
    n = {k: torch.full(v.shape, 0.1 * (i + 1)) for i, (k, v) in enumerate(m.named_parameters())}

    def loss(n, x, y):
        return torch.nn.functional.mse_loss(
            F.functional_call(m, n, (x.unsqueeze(0),)), y.unsqueeze(0)
        )

    g = F.vmap(F.grad(loss), in_dims=(None, 0, 0))(
        n, torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), torch.ones(3, 1)
    )
    note(*g, *g.values())


def ensembles(torch, note):
    F = torch.func
    torch.manual_seed(0)
    ms = [torch.nn.Linear(3, 2) for _ in range(3)]
    ps, bs = F.stack_module_state(ms)
    x = torch.arange(12.0).reshape(4, 3) / 10
    out = F.vmap(lambda ps, bs, x: F.functional_call(ms[0], (ps, bs), (x,)), in_dims=(0, 0, None))(
        ps, bs, x
    )
    note(out)
    out.sum().backward()
    note(ps["weight"].grad, ps["bias"].grad, ms[0].weight.grad)


def Jacobians_of_batches(torch, note):
    F = torch.func
    x = torch.arange(6.0).reshape(2, 3)
    note(
        F.vmap(F.jacrev(torch.sin))(x),
        F.vmap(F.jacfwd(lambda a: a.prod()))(x),
        F.vmap(F.hessian(lambda a: (a**3).sum()))(x),
    )


def gradient_of_vmap(torch, note):
    F = torch.func
    x = torch.arange(6.0).reshape(2, 3)
    note(F.grad(lambda x: F.vmap(lambda a: a.prod())(x).sum())(x), F.jacrev(F.vmap(torch.sum))(x))
    note(F.hessian(lambda x: F.vmap(lambda a: a.prod())(x).sum())(x))
    note(F.jvp(F.vmap(torch.sin), (x,), (torch.ones(2, 3),)))


def vmap_of_vjp(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0])
    o, f = F.vjp(lambda x: x**2, x)
    note(F.vmap(f)(torch.eye(2)))
    o, f = F.linearize(lambda x: x**2, x)
    note(F.vmap(f)(torch.eye(2)))
    note(F.vmap(lambda t: F.jvp(torch.sin, (x,), (t,))[1])(torch.eye(2)))


def random(torch, note):
    torch.vmap(lambda a: torch.rand(2))(torch.ones(2))


def random_in_place(torch, note):
    torch.vmap(lambda a: a.clone().normal_())(torch.ones(2))


def random_dropout(torch, note):
    torch.vmap(lambda a: torch.nn.functional.dropout(a))(torch.ones(2, 3))


def random_inside(torch, note):
    torch.vmap(lambda a: torch.vmap(lambda b: torch.rand(1), randomness="different")(a))(
        torch.ones(2, 3)
    )


def random_outside(torch, note):
    torch.vmap(lambda a: torch.vmap(lambda b: torch.rand(1))(a), randomness="different")(
        torch.ones(2, 3)
    )


def random_otherwise(torch, note):
    torch.vmap(lambda a: torch.rand(2), randomness="other")


def random_and_the_same(torch, note):
    v = torch.tensor([1.0, 2.0, 3.0])
    torch.manual_seed(0)
    note(torch.vmap(lambda a: torch.rand(2) + a, randomness="same")(v), torch.rand(1))
    torch.manual_seed(0)
    note(torch.vmap(lambda a: torch.nn.functional.dropout(a), randomness="same")(torch.ones(2, 8)))
    torch.manual_seed(0)
    note(torch.vmap(lambda a: torch.rand(1), randomness="same", chunk_size=1)(v), torch.rand(1))


def random_and_different(torch, note):
    v = torch.tensor([1.0, 2.0])
    torch.manual_seed(0)
    note(torch.vmap(lambda a: torch.rand(2) + a, randomness="different")(v), torch.rand(1))


def random_and_nested(torch, note):
    x = torch.ones(2, 3)
    torch.manual_seed(0)
    note(
        torch.vmap(
            lambda a: torch.vmap(lambda b: torch.rand(1), randomness="different")(a),
            randomness="same",
        )(x)
    )
    note(
        torch.vmap(
            lambda a: torch.vmap(lambda b: torch.rand(1), randomness="same")(a),
            randomness="different",
        )(x)
    )


def random_afterwards(torch, note):
    try:
        torch.vmap(lambda a: torch.rand(2))(torch.ones(2))
    except RuntimeError:
        torch.manual_seed(0)
        note(torch.rand(2))


def in_place(torch, note):
    x = torch.arange(6.0).reshape(2, 3)
    note(torch.vmap(lambda a: a.add_(1))(x), x)
    torch.vmap(lambda a: a[0].mul_(2), in_dims=1)(x)
    note(x)


def in_place_on_what_was_made_for_each_example(torch, note):
    x = torch.arange(6.0).reshape(2, 3)
    note(
        torch.vmap(lambda a: torch.zeros_like(a).add_(a))(x),
        torch.vmap(lambda a: a.new_zeros(3).add_(a)[:2])(x),
    )

    def f(a):
        b = a.clone()
        b[0] = a[1]
        b[1:].mul_(2)
        b.view(-1).add_(1)
        c = b.detach()
        c.sub_(1)
        return b + 0

    note(torch.vmap(f)(x))


def in_place_nested(torch, note):
    x = torch.arange(6.0).reshape(2, 3)
    note(torch.vmap(torch.vmap(lambda a: a.mul_(2)))(x), x)


def batch_norm(torch, note):
    m = torch.nn.Sequential(torch.nn.BatchNorm1d(2))
    torch.func.replace_all_batch_norm_modules_(m)
    note(torch.vmap(lambda a: m(a), randomness="error")(torch.arange(12.0).reshape(2, 3, 2) ** 2))


def batch_norm_by_argument(torch, note):
    F = torch.func
    ms = [torch.nn.BatchNorm1d(2) for _ in range(2)]
    ps, bs = F.stack_module_state(ms)
    x = torch.arange(12.0).reshape(2, 3, 2) ** 2
    note(F.vmap(lambda ps, bs, x: F.functional_call(ms[0], (ps, bs), (x,)))(ps, bs, x))
    note(*bs.values())


def as_strided_from_a_place_in_the_memory(torch, note):
    b = torch.arange(24.0).reshape(2, 4, 3)[1]
    c = torch.arange(24.0).reshape(4, 3, 2).movedim(1, 0)
    note(
        torch.vmap(lambda t: t.as_strided((3,), (1,), 12))(b),
        torch.vmap(lambda t: t.as_strided((2,), (1,), 13))(b),
    )
    note(
        torch.vmap(lambda t: t.storage_offset() * torch.ones(1))(b),
        torch.vmap(lambda t: t.as_strided((2,), (1,)))(b),
    )
    note(torch.vmap(lambda t: t.as_strided((2,), (6,), 0))(c))
    note(torch.vmap(lambda t: t.as_strided((2,), (6,), 2), in_dims=2)(c))
    note(torch.vmap(lambda t: t[1:].as_strided((2,), (1,), t[1:].storage_offset()))(b))
    note(torch.vmap(lambda t: t.view(3).as_strided((2,), (1,), 13))(b))
    note(torch.vmap(lambda t: (t * 2).as_strided((2,), (1,), 1))(b))
    d = torch.arange(48.0).reshape(2, 4, 3, 2)
    note(torch.vmap(torch.vmap(lambda t: t.as_strided((2,), (1,), 24)))(d[1]))
    note(
        torch.vmap(
            torch.vmap(lambda t: t.as_strided((1,), (1,), t.storage_offset() + 1)), in_dims=2
        )(d)
    )
    f = torch.vmap(lambda t: t.as_strided((2,), (1,), t.storage_offset() + 1))
    note(torch.func.grad(lambda b: f(b * 2).sum())(b))

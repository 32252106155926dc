"""``func.grad`` and ``func.vjp``."""

import collections


def grad(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0])
    note(F.grad(lambda x: (x**3).sum())(x))


def grad_of_grad(torch, note):
    F = torch.func
    note(
        F.grad(F.grad(lambda x: x**3))(torch.tensor(2.0)),
        F.grad(F.grad(F.grad(torch.sin)))(torch.tensor(1.0)),
    )


def grad_argnums(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0])
    y = torch.tensor([3.0, 5.0])
    f = lambda a, b: (a * b * b).sum()
    note(F.grad(f, 1)(x, y), F.grad(f, -1)(x, y), F.grad(f, (1, 0))(x, y), F.grad(f, (0,))(x, y))


def grad_argnums_beyond(torch, note):
    torch.func.grad(lambda a: a.sum(), argnums=1)(torch.ones(2))


def grad_argnums_none(torch, note):
    torch.func.grad(lambda a: a.sum(), argnums=())(torch.ones(2))


def grad_argnums_twice(torch, note):
    torch.func.grad(lambda a, b: a.sum(), argnums=(1, -1))(torch.ones(2), torch.ones(2))


def grad_argnums_list(torch, note):
    torch.func.grad(lambda a: a.sum(), argnums=[0])(torch.ones(2))


def grad_argnums_float_in_tuple(torch, note):
    torch.func.grad(lambda a: a.sum(), argnums=(0.0,))(torch.ones(2))


def grad_of_trees(torch, note):
    F = torch.func
    d = {"a": torch.tensor([1.0, 2.0]), "b": [torch.tensor(3.0), (torch.tensor(4.0),)]}
    g = F.grad(lambda d: d["a"].sum() * d["b"][0] * d["b"][1][0])(d)
    note(list(g), g["a"], g["b"], isinstance(g["b"][1], tuple))


def grad_of_trees_by_number(torch, note):
    F = torch.func
    x = torch.tensor(2.0)
    g = F.grad(lambda d, e: d["x"] * e[0] ** 2, argnums=(1, 0))({"x": x}, [x + 1])
    note(g[0], g[1]["x"])


def grad_of_named_tuples(torch, note):
    N = collections.namedtuple("N", "a b")
    g = torch.func.grad(lambda n: n.a * n.b)(N(torch.tensor(2.0), torch.tensor(3.0)))
    note(g.a, g.b, type(g).__name__)


def grad_of_ordered_dict(torch, note):
    g = torch.func.grad(lambda d: d["b"] * d["a"])(
        collections.OrderedDict(b=torch.tensor(2.0), a=torch.tensor(3.0))
    )
    note(type(g).__name__, list(g), g["a"], g["b"])


def grad_of_a_number(torch, note):
    torch.func.grad(lambda x: x * x)(3.0)


def grad_of_None_in_a_tree(torch, note):
    torch.func.grad(lambda x: x[0] * 1)((torch.tensor(3.0), None))


def grad_aux(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0])
    g, a = F.grad(lambda x: ((x**3).sum(), {"y": x * 2, "z": [x]}), has_aux=True)(x)
    note(g, a["y"], a["z"])


def grad_aux_that_is_none(torch, note):
    torch.func.grad(lambda x: x.sum(), has_aux=True)(torch.ones(2))


def grad_aux_of_other_types(torch, note):
    torch.func.grad(lambda x: (x.sum(), "aux"), has_aux=True)(torch.ones(2))


def grad_and_value(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0])
    note(F.grad_and_value(lambda x: (x**3).sum())(x))
    note(F.grad_and_value(lambda x: ((x**3).sum(), x), has_aux=True)(x))
    note(F.grad_and_value(lambda x, y: (x * y).sum(), (0, 1))(x, x))


def grad_and_value_aux_that_is_none(torch, note):
    torch.func.grad_and_value(lambda x: [x.sum(), x], has_aux=True)(torch.ones(2))


def grad_keywords(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0])
    note(F.grad(lambda x, y=1, z=1: (x * y * z).sum())(x, y=x, z=3))


def grad_of_a_vector(torch, note):
    torch.func.grad(lambda x: x)(torch.ones(2))


def grad_of_one_element(torch, note):
    torch.func.grad(lambda x: x)(torch.ones(1))


def grad_of_no_tensor(torch, note):
    torch.func.grad(lambda x: 3.0)(torch.ones(2))


def grad_of_a_constant(torch, note):
    note(torch.func.grad(lambda x: torch.ones(()))(torch.ones(2)))


def grad_of_an_integer_result(torch, note):
    note(torch.func.grad(lambda x: x.sum().long())(torch.ones(2)))


def grad_of_a_complex_tensor(torch, note):
    note(torch.func.grad(lambda x: (x * x.conj()).real.sum())(torch.tensor([1 + 2j])))


def grad_of_a_complex_result(torch, note):
    torch.func.grad(lambda x: (x * x).sum())(torch.tensor([1 + 2j]))


def grad_outside_no_grad(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.no_grad():
        note(F.grad(lambda x: (x**3).sum())(x), F.grad_and_value(lambda x: (x**3).sum())(x))
        note(F.grad(lambda x: F.grad(lambda y: (y**3).sum())(x).sum())(x))


def grad_around_no_grad(torch, note):
    def f(x):
        with torch.no_grad():
            c = x**2
        return x - c

    note(
        torch.func.grad(f)(torch.tensor(3.0)),
        torch.func.grad(torch.func.grad(f))(torch.tensor(3.0)),
    )
    with torch.no_grad():
        note(torch.func.grad(f)(torch.tensor(3.0)))


def grad_around_no_grad_inside(torch, note):
    F = torch.func

    def f(x):
        with torch.no_grad():
            c = F.grad(lambda y: y**3)(x)
        return x * c

    note(F.grad(f)(torch.tensor(2.0)))


def grad_in_inference_mode(torch, note):
    with torch.inference_mode():
        note(torch.func.grad(lambda x: (x**3).sum())(torch.tensor([1.0, 2.0])))


def grad_of_what_requires_grad(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    g = F.grad(lambda x: (x**3).sum())(x)
    g.sum().backward()
    note(g, x.grad)


def grad_around_what_requires_grad(torch, note):
    F = torch.func
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    x = torch.tensor([3.0, 4.0])
    g, v = F.grad_and_value(lambda x: (w**2 * x**2).sum())(x)
    note(g, v)
    (g.sum() + v).backward()
    note(w.grad)


def grad_around_what_requires_grad_linearly(torch, note):
    F = torch.func
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    g, v = F.grad_and_value(lambda x: (w + x).sum())(w.detach())
    note(g, v)


def levels_apart(torch, note):
    F = torch.func
    note(F.grad(lambda x: x * F.grad(lambda y: x + y)(torch.tensor(1.0)))(torch.tensor(2.0)))
    note(F.grad(lambda x: x * F.grad(lambda y: x * y)(x))(torch.tensor(2.0)))
    note(F.grad(lambda x: F.grad(lambda y: x * y * y)(x))(torch.tensor(3.0)))
    note(F.grad(lambda x: F.grad(lambda y: x * y * y)(torch.tensor(1.0)))(torch.tensor(3.0)))
    note(
        F.grad(lambda x: F.grad(lambda y: F.grad(lambda z: x * y * z * z)(y))(x))(torch.tensor(3.0))
    )


def inner_flags_stay_inside(torch, note):
    F = torch.func
    seen = []

    def f(x, y):
        seen.append((x.requires_grad, y.requires_grad))
        return (x * y).sum()

    x, y = (torch.ones(2), torch.ones(2))
    g = F.grad(f)(x, y)
    note(seen, g, x.requires_grad, y.requires_grad)


def aux_stays_inside(torch, note):
    F = torch.func
    x = torch.ones(2)
    g, (a, b) = F.grad(lambda x: (x.sum(), (x, x * 2)), has_aux=True)(x)
    note(a, b, g)


def in_place_on_what_is_differentiated(torch, note):
    torch.func.grad(lambda x: x.mul_(2).sum())(torch.ones(2))


def in_place_on_another_argument(torch, note):
    y = torch.ones(2)
    note(torch.func.grad(lambda x, y: y.mul_(x).sum())(torch.tensor([2.0, 3.0]), y), y)


def in_place_on_what_was_made_inside(torch, note):
    def f(x):
        y = torch.zeros(2)
        y[0] = x[0] * 3
        y.add_(x)
        return (y**2).sum()

    note(
        torch.func.grad(f)(torch.tensor([2.0, 3.0])),
        torch.func.hessian(f)(torch.tensor([2.0, 3.0])),
    )


def autograd_inside(torch, note):
    f = lambda a: torch.autograd.grad((a**3).sum(), a, create_graph=True)[0].sum()
    note(torch.func.grad(f)(torch.tensor([1.0, 2.0])))


def vjp(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0])
    o, f = F.vjp(lambda x: x**2, x)
    note(o, f(torch.tensor([1.0, 10.0])), f(x))


def vjp_several(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0])
    y = torch.tensor(3.0)
    o, f = F.vjp(lambda a, b: {"p": a * b, "q": (a.sum(),)}, x, y)
    note(o["p"], o["q"], f({"p": x, "q": (y,)}))


def vjp_of_trees(torch, note):
    F = torch.func
    x = torch.tensor(2.0)
    o, f = F.vjp(lambda d, e: d["x"] * e[0] ** 2, {"x": x}, [x + 1])
    g = f(x)
    note(o, g[0]["x"], g[1])


def vjp_aux(torch, note):
    F = torch.func
    o, f, a = F.vjp(lambda x: (x**2, {"a": x}), torch.tensor(3.0), has_aux=True)
    note(o, f(o), a["a"])


def vjp_aux_that_is_none(torch, note):
    torch.func.vjp(lambda x: x**2, torch.tensor(3.0), has_aux=True)


def vjp_of_nothing(torch, note):
    torch.func.vjp(lambda x: None, torch.ones(2))


def vjp_of_an_empty_tuple(torch, note):
    torch.func.vjp(lambda x: (), torch.ones(2))


def vjp_of_other_types(torch, note):
    torch.func.vjp(lambda x: (x, "a"), torch.ones(2))


def vjp_of_an_integer_result(torch, note):
    torch.func.vjp(lambda x: x.long(), torch.ones(2))


def vjp_of_a_number(torch, note):
    torch.func.vjp(lambda x: x * x, 3.0)


def vjp_of_another_structure(torch, note):
    torch.func.vjp(lambda x: {"a": x * x, "b": [x]}, torch.ones(2))[1](
        (torch.ones(2), torch.ones(2))
    )


def vjp_of_another_shape(torch, note):
    torch.func.vjp(lambda x: x * x, torch.ones(2))[1](torch.ones(3))


def vjp_of_what_requires_grad(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    o, f = F.vjp(lambda x: x**2, x)
    note(o)
    (g,) = f(torch.ones(2))
    note(g)
    g.sum().backward()
    note(x.grad)


def vjp_of_cotangents_that_require_grad(torch, note):
    F = torch.func
    v = torch.tensor([1.0, 2.0], requires_grad=True)
    o, f = F.vjp(lambda x: x**2, torch.tensor([3.0, 4.0]))
    note(o)
    (g,) = f(v)
    note(g)
    g.sum().backward()
    note(v.grad)
    with torch.no_grad():
        note(f(v))


def vjp_in_no_grad(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.no_grad():
        o, f = F.vjp(lambda x: x**2, x)
        note(o, f(torch.ones(2)))


def vjp_of_vjp(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0])

    def f(x):
        o, g = F.vjp(lambda y: y**3, x)
        return g(o)[0]

    o, h = F.vjp(f, x)
    note(o, h(torch.ones(2)))

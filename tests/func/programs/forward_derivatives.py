"""``func.jvp`` and ``func.linearize``."""


def jvp(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0])
    note(F.jvp(lambda x: x**2, (x,), (torch.tensor([1.0, 10.0]),)))
    note(F.jvp(lambda x, y: x * y, (x, x), (torch.ones(2), torch.zeros(2))))


def jvp_of_trees(torch, note):
    F = torch.func
    x = torch.tensor(2.0)
    o, t = F.jvp(lambda d: {"s": d["x"] ** 2, "t": [d["x"] * 3]}, ({"x": x},), ({"x": x},))
    note(o["s"], o["t"], t["s"], t["t"])


def jvp_aux(torch, note):
    F = torch.func
    o, t, a = F.jvp(
        lambda x: (x**2, {"a": x * 1}), (torch.tensor(3.0),), (torch.tensor(1.0),), has_aux=True
    )
    note(o, t, a["a"])


def jvp_aux_that_is_none(torch, note):
    torch.func.jvp(lambda x: x**2, (torch.tensor(3.0),), (torch.tensor(1.0),), has_aux=True)


def jvp_of_a_list(torch, note):
    torch.func.jvp(lambda x: x**2, [torch.tensor(3.0)], [torch.tensor(1.0)])


def jvp_of_another_structure(torch, note):
    torch.func.jvp(lambda x: x**2, (torch.tensor(3.0),), (torch.tensor(1.0), torch.tensor(1.0)))


def jvp_of_another_shape(torch, note):
    torch.func.jvp(lambda x: x**2, (torch.ones(2),), (torch.ones(3),))


def jvp_of_nothing(torch, note):
    torch.func.jvp(lambda: torch.ones(2), (), ())


def jvp_of_a_number(torch, note):
    torch.func.jvp(lambda x: x * 1, (2.0,), (3.0,))


def jvp_of_integers(torch, note):
    torch.func.jvp(lambda x: x**2, (torch.tensor([1, 2]),), (torch.tensor([1, 2]),))


def jvp_of_an_integer_result(torch, note):
    note(torch.func.jvp(lambda x: x.long(), (torch.ones(2),), (torch.ones(2),)))


def jvp_of_other_types(torch, note):
    torch.func.jvp(lambda x: "a", (torch.ones(2),), (torch.ones(2),))


def jvp_of_a_constant(torch, note):
    note(torch.func.jvp(lambda x: (torch.ones(2), x * 2), (torch.ones(2),), (torch.ones(2),)))


def jvp_of_a_constant_strictly(torch, note):
    torch.func.jvp(lambda x: torch.ones(2), (torch.ones(2),), (torch.ones(2),), strict=True)


def jvp_strictly(torch, note):
    note(torch.func.jvp(lambda x: x * x, (torch.ones(2),), (torch.ones(2),), strict=True))


def jvp_of_jvp(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0])
    one = torch.ones(2)
    note(F.jvp(lambda x: F.jvp(lambda y: y**3, (x,), (one,))[1], (x,), (one,)))


def jvp_of_grad(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0])
    note(F.jvp(F.grad(lambda x: (x**3).sum()), (x,), (x,)))


def grad_of_jvp(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0])
    note(F.grad(lambda x: F.jvp(lambda y: y**3, (x,), (x,))[1].sum())(x))
    note(F.grad(lambda t: F.jvp(lambda y: y**3, (x,), (t,))[1].sum())(x))


def jvp_of_what_requires_grad(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    v = torch.ones(2)
    o, t = F.jvp(lambda x: x**3, (x,), (v,))
    note(o, t)
    t.sum().backward()
    note(x.grad)
    o, t = F.jvp(lambda x: x**3, (v,), (x,))
    note(o, t)
    with torch.no_grad():
        note(F.jvp(lambda x: x**3, (x,), (v,)))


def linearize(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0])
    o, f = F.linearize(lambda x: {"a": x.exp(), "b": [x * x]}, x)
    note(o["a"], o["b"])
    t = f(torch.ones(2))
    note(t["a"], t["b"])
    t = f(x)
    note(t["a"], t["b"])


def linearize_several(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0])
    o, f = F.linearize(lambda x, y: x * y, x, x + 1)
    note(o, f(torch.ones(2), torch.zeros(2)), f(x, x))


def linearize_another_shape(torch, note):
    torch.func.linearize(torch.sin, torch.ones(2))[1](torch.ones(3))


def linearize_another_dtype(torch, note):
    torch.func.linearize(torch.sin, torch.ones(2))[1](torch.ones(2, dtype=torch.float64))


def linearize_another_structure(torch, note):
    torch.func.linearize(torch.sin, torch.ones(2))[1](torch.ones(2), torch.ones(2))

"""``autograd.functional``."""


def vjp(torch, note):
    F = torch.autograd.functional
    x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    note(F.vjp(lambda x: x**2, x, torch.tensor([1.0, 10.0], dtype=torch.float64)))


def vjp_several(torch, note):
    F = torch.autograd.functional
    x = torch.tensor([1.0, 2.0])
    y = torch.tensor(3.0)
    note(F.vjp(lambda a, b: (a * b, a.sum()), (x, y), (x, y)))


def vjp_none(torch, note):
    F = torch.autograd.functional
    note(F.vjp(lambda x: (x**2).sum(), torch.ones(3)))


def vjp_none_many(torch, note):
    F = torch.autograd.functional
    note(F.vjp(lambda x: x**2, torch.ones(3)))


def vjp_shape(torch, note):
    F = torch.autograd.functional
    note(F.vjp(lambda x: x**2, torch.ones(3), torch.ones(2)))


def vjp_length(torch, note):
    F = torch.autograd.functional
    note(F.vjp(lambda x: x**2, torch.ones(3), (torch.ones(3), torch.ones(3))))


def vjp_independent(torch, note):
    F = torch.autograd.functional
    note(F.vjp(lambda x, y: x**2, (torch.ones(3), torch.ones(2)), torch.ones(3)))


def vjp_strict(torch, note):
    F = torch.autograd.functional
    note(F.vjp(lambda x, y: x**2, (torch.ones(3), torch.ones(2)), torch.ones(3), strict=True))


def vjp_strict_linear(torch, note):
    F = torch.autograd.functional
    note(
        F.vjp(
            lambda x: x * 2,
            torch.ones(3, requires_grad=True),
            torch.ones(3),
            strict=True,
            create_graph=True,
        )
    )


def vjp_constant_strict(torch, note):
    F = torch.autograd.functional
    note(F.vjp(lambda x: torch.ones(3), torch.ones(3), torch.ones(3), strict=True))


def vjp_constant(torch, note):
    F = torch.autograd.functional
    note(F.vjp(lambda x: torch.ones(3), torch.ones(3), torch.ones(3)))


def vjp_create_graph(torch, note):
    F = torch.autograd.functional
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    a, b = F.vjp(lambda x: x**3, x, torch.ones(2), create_graph=True)
    note(a, b)
    b.sum().backward()
    note(x.grad)


def vjp_not_tensor(torch, note):
    torch.autograd.functional.vjp(lambda x: x, 3)


def vjp_not_tensor_in_tuple(torch, note):
    torch.autograd.functional.vjp(lambda x: x, (torch.ones(2), 3))


def vjp_returns_no_tensor(torch, note):
    torch.autograd.functional.vjp(lambda x: 3, torch.ones(2))


def jvp(torch, note):
    F = torch.autograd.functional
    x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    note(F.jvp(lambda x: (x**2).sum(), x, torch.tensor([1.0, 10.0], dtype=torch.float64)))


def jvp_several(torch, note):
    F = torch.autograd.functional
    x = torch.tensor([1.0, 2.0])
    y = torch.tensor(3.0)
    note(F.jvp(lambda a, b: (a * b, a.sum()), (x, y), (x, y)))


def jvp_none(torch, note):
    F = torch.autograd.functional
    note(F.jvp(lambda x: x * torch.ones(3), torch.tensor(2.0)))


def jvp_none_many(torch, note):
    F = torch.autograd.functional
    note(F.jvp(lambda x: x**2, torch.ones(3)))


def jvp_independent(torch, note):
    F = torch.autograd.functional
    note(F.jvp(lambda x: torch.ones(2), torch.ones(3), torch.ones(3)))


def jvp_independent_strict(torch, note):
    F = torch.autograd.functional
    note(F.jvp(lambda x: torch.ones(2), torch.ones(3), torch.ones(3), strict=True))


def jvp_partly(torch, note):
    F = torch.autograd.functional
    note(F.jvp(lambda x: (x * 2, torch.ones(2)), torch.ones(3), torch.ones(3)))


def jvp_create_graph(torch, note):
    F = torch.autograd.functional
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    a, b = F.jvp(lambda x: x**3, x, torch.ones(2), create_graph=True)
    note(a, b)
    b.sum().backward()
    note(x.grad)


def jacobian(torch, note):
    F = torch.autograd.functional
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    note(F.jacobian(lambda x: x.exp().sum(1), x))


def jacobian_several(torch, note):
    F = torch.autograd.functional
    x = torch.tensor([1.0, 2.0])
    y = torch.tensor([3.0, 4.0, 5.0])
    note(F.jacobian(lambda a, b: (a.sum() * b, a * 2), (x, y)))


def jacobian_several_in(torch, note):
    F = torch.autograd.functional
    x = torch.tensor([1.0, 2.0])
    y = torch.tensor([3.0, 4.0])
    note(F.jacobian(lambda a, b: a * b, (x, y)))


def jacobian_vectorize(torch, note):
    F = torch.autograd.functional
    x = torch.tensor([1.0, 2.0])
    y = torch.tensor([3.0, 4.0])
    note(
        F.jacobian(lambda a, b: (a * b, a.sum()), (x, y), vectorize=True),
        F.jacobian(lambda a, b: a * b, (x, y), vectorize=True, strategy="forward-mode"),
    )


def jacobian_create_graph(torch, note):
    F = torch.autograd.functional
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    j = F.jacobian(lambda a: a**3, x, create_graph=True)
    note(j)
    j.sum().backward()
    note(x.grad)


def jacobian_without_create_graph(torch, note):
    F = torch.autograd.functional
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    j = F.jacobian(lambda a: a**3, x)
    note(j, x.grad)


def jacobian_strict(torch, note):
    F = torch.autograd.functional
    F.jacobian(lambda a, b: a**3, (torch.ones(2), torch.ones(3)), strict=True)


def jacobian_not_strict(torch, note):
    F = torch.autograd.functional
    note(F.jacobian(lambda a, b: a**3, (torch.ones(2), torch.ones(3))))


def jacobian_strict_linear(torch, note):
    F = torch.autograd.functional
    F.jacobian(lambda a: a * 3, torch.ones(2, requires_grad=True), strict=True, create_graph=True)


def jacobian_strict_vectorize(torch, note):
    F = torch.autograd.functional
    F.jacobian(lambda a: a * 3, torch.ones(2), strict=True, vectorize=True)


def jacobian_forward_not_vectorize(torch, note):
    F = torch.autograd.functional
    F.jacobian(lambda a: a * 3, torch.ones(2), strategy="forward-mode")


def jacobian_bad_strategy(torch, note):
    F = torch.autograd.functional
    F.jacobian(lambda a: a * 3, torch.ones(2), strategy="x")


def jacobian_scalar(torch, note):
    F = torch.autograd.functional
    note(F.jacobian(lambda a: a * 3, torch.tensor(2.0)))


def jacobian_in_no_grad(torch, note):
    F = torch.autograd.functional
    with torch.no_grad():
        note(
            F.jacobian(lambda a: a * a, torch.tensor([2.0, 3.0])),
            F.hessian(lambda a: (a * a).sum(), torch.ones(2)),
            F.vjp(lambda a: a * a, torch.ones(1)),
            F.jvp(lambda a: a * a, torch.ones(1)),
        )


def jacobian_constant(torch, note):
    F = torch.autograd.functional
    note(F.jacobian(lambda a: torch.ones(2), torch.ones(3)))


def hessian(torch, note):
    F = torch.autograd.functional
    note(F.hessian(lambda x: (x**3).sum() * x[0], torch.tensor([1.0, 2.0])))


def hessian_several(torch, note):
    F = torch.autograd.functional
    note(F.hessian(lambda a, b: (a * b).sum() + a.sum() ** 2, (torch.ones(2), torch.ones(2) * 3)))


def hessian_vectorize(torch, note):
    F = torch.autograd.functional
    note(
        F.hessian(
            lambda a, b: (a * b).sum() + a.sum() ** 2,
            (torch.ones(2), torch.ones(2) * 3),
            vectorize=True,
        )
    )


def hessian_create_graph(torch, note):
    F = torch.autograd.functional
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    h = F.hessian(lambda x: (x**4).sum(), x, create_graph=True)
    note(h)
    h.sum().backward()
    note(x.grad)


def hessian_linear(torch, note):
    F = torch.autograd.functional
    note(F.hessian(lambda x: x.sum(), torch.ones(2)))


def hessian_linear_strict(torch, note):
    F = torch.autograd.functional
    note(F.hessian(lambda x: x.sum(), torch.ones(2), strict=True))


def hessian_not_scalar(torch, note):
    F = torch.autograd.functional
    note(F.hessian(lambda x: x * 2, torch.ones(2)))


def hessian_tuple(torch, note):
    F = torch.autograd.functional
    note(F.hessian(lambda x: (x.sum(),), torch.ones(2)))


def hessian_relu(torch, note):
    F = torch.autograd.functional
    note(
        F.hessian(lambda x: x.relu().sum(), torch.ones(2)),
        F.hessian(lambda x: x.abs().sum(), torch.ones(2)),
    )


def vhp(torch, note):
    F = torch.autograd.functional
    note(F.vhp(lambda x: (x**3).sum() * x[0], torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.5])))


def vhp_several(torch, note):
    F = torch.autograd.functional
    note(
        F.vhp(
            lambda a, b: (a * b).sum() + a.sum() ** 2,
            (torch.ones(2), torch.ones(2) * 3),
            (torch.ones(2), torch.ones(2) * 2),
        )
    )


def vhp_linear(torch, note):
    F = torch.autograd.functional
    note(F.vhp(lambda x: x.sum(), torch.ones(2), torch.ones(2)))


def vhp_linear_strict(torch, note):
    F = torch.autograd.functional
    note(F.vhp(lambda x: x.sum(), torch.ones(2), torch.ones(2), strict=True))


def vhp_create_graph(torch, note):
    F = torch.autograd.functional
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    o, h = F.vhp(lambda x: (x**4).sum(), x, torch.ones(2), create_graph=True)
    note(o, h)
    h.sum().backward()
    note(x.grad)


def vhp_v_missing(torch, note):
    F = torch.autograd.functional
    note(F.vhp(lambda x: x.sum(), torch.ones(2)))


def hvp(torch, note):
    F = torch.autograd.functional
    note(F.hvp(lambda x: (x**3).sum() * x[0], torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.5])))


def hvp_several(torch, note):
    F = torch.autograd.functional
    note(
        F.hvp(
            lambda a, b: (a * b).sum() + a.sum() ** 2,
            (torch.ones(2), torch.ones(2) * 3),
            (torch.ones(2), torch.ones(2) * 2),
        )
    )


def hvp_linear(torch, note):
    F = torch.autograd.functional
    note(F.hvp(lambda x: x.sum(), torch.ones(2), torch.ones(2)))


def hvp_linear_strict(torch, note):
    F = torch.autograd.functional
    note(F.hvp(lambda x: x.sum(), torch.ones(2), torch.ones(2), strict=True))


def hvp_one_element(torch, note):
    F = torch.autograd.functional
    note(F.hvp(lambda x: x**3, torch.tensor(2.0)))


def hvp_create_graph(torch, note):
    F = torch.autograd.functional
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    o, h = F.hvp(lambda x: (x**4).sum(), x, torch.ones(2), create_graph=True)
    note(o, h)
    h.sum().backward()
    note(x.grad)


def hvp_v_requires_grad(torch, note):
    F = torch.autograd.functional
    v = torch.ones(2, requires_grad=True)
    o, h = F.hvp(lambda x: (x**4).sum(), torch.ones(2), v, create_graph=True)
    note(o, h)
    h.sum().backward()
    note(v.grad)


def vjp_v_requires_grad(torch, note):
    F = torch.autograd.functional
    v = torch.ones(2, requires_grad=True)
    o, h = F.vjp(lambda x: x**4, torch.ones(2), v, create_graph=True)
    note(o, h)
    h.sum().backward()
    note(v.grad)

"""Operations that have no derivative."""


def no_derivative_floor_division(torch, note):
    x = torch.tensor([1.5, -2.5], requires_grad=True)
    y = x // 2
    note(y, type(y.grad_fn).__name__)
    y.sum().backward()


def no_derivative_floor_division_by_what_needs_none(torch, note):
    x = torch.tensor([1.5, -2.5], requires_grad=True)
    y = x * 1
    y //= 2
    note(y)
    y.sum().backward()


def no_derivative_floor_division_of_integers(torch, note):
    note(torch.tensor([5, -5]) // 2, (torch.tensor([5, -5]) // 2).requires_grad)


def no_derivative_floor_division_not_on_the_way(torch, note):
    x = torch.tensor([1.5, -2.5], requires_grad=True)
    y = (x // 2).detach() * x
    y.sum().backward()
    note(x.grad)


def no_derivative_heaviside(torch, note):
    x = torch.tensor([1.5, -2.5], requires_grad=True)
    y = torch.heaviside(x, torch.tensor([0.5]))
    note(y)
    y.sum().backward()


def no_derivative_heaviside_in_place(torch, note):
    x = torch.tensor([1.5, -2.5], requires_grad=True)
    y = (x * 1).heaviside_(torch.tensor([0.5]))
    y.sum().backward()


def no_derivative_unique(torch, note):
    x = torch.tensor([1.5, -2.5, 1.5], requires_grad=True)
    y, i, n = torch.unique(x, return_inverse=True, return_counts=True)
    note(y, i, n, type(y.grad_fn).__name__)
    y.sum().backward()


def no_derivative_unique_along(torch, note):
    x = torch.ones(2, 3, requires_grad=True)
    y = torch.unique(x, dim=0)
    note(y, type(y.grad_fn).__name__)
    y.sum().backward()


def no_derivative_unique_consecutive(torch, note):
    x = torch.tensor([1.5, 1.5, 2.0], requires_grad=True)
    y = torch.unique_consecutive(x)
    note(y, type(y.grad_fn).__name__)
    y.sum().backward()


def no_derivative_histogram(torch, note):
    x = torch.tensor([1.5, 1.5, 2.0], requires_grad=True)
    y = torch.histogram(x, 2).hist
    note(y)
    y.sum().backward()


def no_derivative_bincount(torch, note):
    x = torch.tensor([1.5, 1.5, 2.0], requires_grad=True)
    y = torch.bincount(torch.tensor([0, 1, 1]), x)
    note(y)
    y.sum().backward()


def no_derivative_geqrf(torch, note):
    x = torch.tensor([[1.5, 1.5], [2.0, 1.0]], requires_grad=True)
    y = torch.geqrf(x)[0]
    note(y.requires_grad, type(y.grad_fn).__name__)
    y.sum().backward()


def no_derivative_ldl(torch, note):
    x = torch.tensor([[1.5, 1.5], [1.5, 1.0]], requires_grad=True)
    y = torch.linalg.ldl_factor(x).LD
    note(y.requires_grad, type(y.grad_fn).__name__)
    y.sum().backward()


def no_derivative_igamma(torch, note):
    x = torch.tensor([1.5, 1.0], requires_grad=True)
    y = torch.igamma(x, x)
    note(y)
    note(torch.igamma(x.detach(), x))
    y.sum().backward()


def no_derivative_zeta(torch, note):
    x = torch.tensor([1.5, 2.0], requires_grad=True)
    y = torch.special.zeta(x, x)
    note(y)
    y.sum().backward()


def no_derivative_of_one_of_two(torch, note):
    x = torch.tensor([1.5, 2.0], requires_grad=True)
    w = torch.tensor([1.5, 2.0], requires_grad=True)
    note(torch.autograd.grad(torch.igamma(x, w).sum(), w))
    torch.autograd.grad(torch.igamma(x, w).sum(), x)


def no_derivative_remainder_has_one(torch, note):
    x = torch.tensor([1.5, -2.5], requires_grad=True)
    w = torch.tensor([0.4, 0.7], requires_grad=True)
    g = torch.autograd.grad((x % w).sum(), [x, w], create_graph=True)
    note(g)
    note(torch.autograd.grad((g[1] * w).sum(), [w]))

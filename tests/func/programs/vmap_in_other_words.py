"""``vmap``, where the errors have words of their own."""


def in_place_on_what_is_outside(torch, note):
    s = torch.zeros(3)
    torch.vmap(lambda a: s.add_(a))(torch.ones(2, 3))


def in_place_on_an_argument_that_is_whole(torch, note):
    torch.vmap(lambda a, b: b.add_(a), in_dims=(0, None))(torch.ones(2, 3), torch.zeros(3))


def in_place_on_what_is_outside_by_an_item(torch, note):
    s = torch.zeros(3)

    def f(a):
        s[0] = a[0]
        return a

    torch.vmap(f)(torch.ones(2, 3))


def in_place_on_a_view_of_what_is_outside(torch, note):
    s = torch.zeros(3)
    torch.vmap(lambda a: s[1:].add_(a[1:]))(torch.ones(2, 3))


def in_place_on_what_is_outside_detached(torch, note):
    s = torch.zeros(3)
    torch.vmap(lambda a: s.detach().add_(a))(torch.ones(2, 3))


def in_place_on_what_is_outside_inside(torch, note):
    torch.vmap(lambda a: torch.vmap(lambda b: a.add_(b), in_dims=0)(torch.ones(4, 3)))(
        torch.ones(2, 3)
    )


def running_statistics(torch, note):
    m = torch.nn.BatchNorm1d(3)
    torch.vmap(lambda a: m(a))(torch.ones(2, 4, 3))


def running_statistics_of_a_function(torch, note):
    s = (torch.zeros(3), torch.ones(3))
    torch.vmap(lambda a: torch.nn.functional.batch_norm(a, *s, training=True))(torch.ones(2, 4, 3))


def in_place_on_what_is_differentiated_and_requires_grad(torch, note):
    torch.func.grad(lambda x: x.mul_(2).sum())(torch.ones(2, requires_grad=True))


def in_place_on_what_is_differentiated_inside(torch, note):
    F = torch.func
    F.grad(lambda y: F.grad(lambda x: (x.mul_(2) ** 2).sum())(y).sum())(torch.ones(2))


def in_place_on_a_view_of_what_is_differentiated(torch, note):
    torch.func.grad(lambda x: x[0].mul_(2))(torch.ones(2, requires_grad=True))


def grad_of_integers(torch, note):
    torch.func.grad(lambda x: (x * 2.0).sum())(torch.tensor([1, 2]))


def dynamic_shape(torch, note):
    torch.vmap(lambda a: a.nonzero())(torch.arange(6.0).reshape(2, 3))


def vmap_out_dims_beyond(torch, note):
    torch.vmap(lambda a: a * 2, out_dims=5)(torch.ones(2))

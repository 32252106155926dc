"""Gradients that are constant, dead ends, and values that are copied over."""


def flat_relu_alone(torch, note):
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    (g,) = torch.autograd.grad(torch.relu(x).sum(), x, create_graph=True)
    note(g)
    g.sum().backward()
    note(x.grad)


def flat_relu_and_a_factor(torch, note):
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    w = torch.tensor([3.0, 4.0], requires_grad=True)
    (g,) = torch.autograd.grad((torch.relu(x) * w).sum(), x, create_graph=True)
    note(g)
    note(torch.autograd.grad(g.sum(), [x, w]))


def flat_activations(torch, note):
    x = torch.tensor([-1.2, 0.3, 0.7, 2.0], requires_grad=True)
    F = torch.nn.functional
    for f in (
        F.leaky_relu,
        F.hardtanh,
        F.relu6,
        lambda v: F.threshold(v, 0.1, 0.0),
        F.hardshrink,
        F.softshrink,
        F.rrelu,
        lambda v: F.prelu(v, torch.tensor([0.2])),
    ):
        (g,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
        note(g)
        note(torch.autograd.grad(g.sum(), x))


def flat_in_place(torch, note):
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    (g,) = torch.autograd.grad((x * 2).relu_().sum(), x, create_graph=True)
    note(g)
    g.sum().backward()
    note(x.grad)


def flat_network(torch, note):
    torch.manual_seed(0)
    m = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    (g,) = torch.autograd.grad(m(x).sum(), x, create_graph=True)
    note(torch.autograd.grad(g.sum(), x, retain_graph=True))
    (g.norm() - 1).pow(2).backward()
    note([q.grad for q in m.parameters()], x.grad)


def flat_third_derivative(torch, note):
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    y = (torch.relu(x) ** 3).sum()
    for i in range(3):
        (y,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        note(y)


def flat_to_any_order(torch, note):
    F = torch.nn.functional
    for f in (
        torch.relu,
        lambda v: torch.relu(v) * v,
        lambda v: (v * 2).relu_(),
        F.leaky_relu,
        F.relu6,
    ):
        x = torch.tensor([-1.0, 2.0], requires_grad=True)
        y = f(x)
        for i in range(5):
            if y.requires_grad:
                (y,) = torch.autograd.grad(y.sum(), x, create_graph=True)
                note(y, y.requires_grad)


def flat_not_of_clamp(torch, note):
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    (g,) = torch.autograd.grad(x.clamp(0, 1).sum(), x, create_graph=True)
    note(g)


def flat_average_pooling(torch, note):
    F = torch.nn.functional
    # In float64: float32 rounds sums of about 100 in the digits that are compared.
    x = torch.arange(16.0, dtype=torch.float64).reshape(1, 1, 4, 4).requires_grad_()
    for f in (
        lambda v: F.avg_pool2d(v, 2),
        lambda v: F.avg_pool2d(v, 3, 1, 1, count_include_pad=False),
        lambda v: F.adaptive_avg_pool2d(v, 2),
        lambda v: F.adaptive_avg_pool2d(v, 3),
        lambda v: F.avg_pool1d(v[0], 2),
        lambda v: F.avg_pool3d(v, (1, 2, 2)),
        lambda v: F.pad(v, (1, 1, 1, 1), mode="reflect"),
        lambda v: F.pad(v, (1, 1, 1, 1), mode="replicate"),
    ):
        (g,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
        note(g)
        note(torch.autograd.grad(g.sum(), x))
        (g,) = torch.autograd.grad((f(x) ** 2).sum(), x, create_graph=True)
        note(g)
        note(torch.autograd.grad((g * g).sum(), x))


def flat_nll_loss(torch, note):
    F = torch.nn.functional
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    t = torch.tensor([0, 2])
    for r in ("mean", "sum", "none"):
        (g,) = torch.autograd.grad(F.nll_loss(x, t, reduction=r).sum(), x, create_graph=True)
        note(g)
        note(torch.autograd.grad(g.sum(), x))
    w = torch.tensor([1.0, 2.0, 3.0])
    (g,) = torch.autograd.grad(F.nll_loss(x, t, w), x, create_graph=True)
    note(g)
    note(torch.autograd.grad(g.sum(), x))


def flat_where_the_branches_of_a_loss_meet(torch, note):
    F = torch.nn.functional
    x = torch.tensor([0.0, 1.0, 2.0, -1.0, 0.5, -0.5, float("nan")], requires_grad=True)
    y = torch.zeros(7, requires_grad=True)
    for f in (
        F.huber_loss,
        F.smooth_l1_loss,
        lambda a, b, **k: F.huber_loss(a, b, delta=0.5, **k),
        lambda a, b, **k: F.smooth_l1_loss(a, b, beta=0.5, **k),
    ):
        g = torch.autograd.grad(f(x, y, reduction="sum"), (x, y), create_graph=True)
        note(g)
        note(torch.autograd.grad(g[0].sum(), (x, y)))


def flat_penalty_through_pooling(torch, note):
    F = torch.nn.functional
    torch.manual_seed(0)
    c = torch.nn.Conv2d(1, 2, 3)
    x = torch.arange(36.0).reshape(1, 1, 6, 6)
    x = (x / 36).requires_grad_()
    y = F.avg_pool2d(F.relu(c(x)), 2).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    (g.norm() - 1).pow(2).backward()
    note(c.weight.grad, x.grad)


def flat_penalty_through_the_loss(torch, note):
    F = torch.nn.functional
    torch.manual_seed(0)
    m = torch.nn.Linear(3, 4)
    x = torch.arange(6.0).reshape(2, 3) / 6
    x.requires_grad_()
    y = F.nll_loss(F.log_softmax(m(x), 1), torch.tensor([1, 3]))
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    (g.norm() - 1).pow(2).backward()
    note(m.weight.grad, m.bias.grad, x.grad)


def discarding_node(torch, note):
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    with torch.no_grad():
        v = y.view(3)
    note(v.requires_grad, v.is_leaf, v.grad_fn)
    z = (v * 2).sum()
    note(z.requires_grad)
    (z + y.sum()).backward()
    note(v.grad, x.grad)


def dead_end_alone(torch, note):
    x = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        v = x.view(3)
    z = (v * 2).sum()
    z.backward()
    note(v.grad, x.grad)


def dead_end_made_a_leaf(torch, note):
    x = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        v = x.view(3)
    v.requires_grad_()
    z = (v * 2).sum()
    z.backward()
    note(v.grad, x.grad)


def dead_end_views(torch, note):
    x = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        v = x.view(3)
    w = v[1:]
    note(w.requires_grad, w.is_leaf)
    w.sum().backward()
    note(x.grad, v.grad)


def dead_end_detached(torch, note):
    x = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        v = x.view(3)
    note(v.detach().requires_grad, v.clone().requires_grad, v.is_leaf)


def copied_over_a_saved_result(torch, note):
    x = torch.ones(2, requires_grad=True)
    z = x.exp()
    z.copy_(torch.ones(2))
    z.sum().backward()
    note(x.grad)


def copied_over_a_saved_result_by_what_requires_grad(torch, note):
    x = torch.ones(2, requires_grad=True)
    z = x.exp()
    z.copy_(x * 3)
    z.sum().backward()
    note(x.grad)


def copied_over_the_old_value_has_a_gradient_of_zeros(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.copy_(torch.ones(2))
    y.sum().backward()
    note(x.grad)


def copied_over_a_row_of_the_old_value(torch, note):
    x = torch.ones(2, 2, requires_grad=True)
    y = x * 2
    y[0].copy_(torch.ones(2))
    y.sum().backward()
    note(x.grad)


def copied_over_both_have_a_gradient(torch, note):
    x = torch.ones(2, requires_grad=True)
    w = torch.ones(2, requires_grad=True)
    y = w * 2
    y.copy_(x * 3)
    note([n.name().split(":")[-1] for n, _ in y.grad_fn.next_functions])
    y.sum().backward()
    note(x.grad, w.grad)


def copied_over_a_factor(torch, note):
    x = torch.ones(2, requires_grad=True)
    a = x * 1
    y = a * a
    a.copy_(torch.ones(2))
    y.sum().backward()
    note(x.grad)


def copied_over_a_summand(torch, note):
    x = torch.ones(2, requires_grad=True)
    a = x * 1
    y = a + a
    a.copy_(torch.ones(2))
    y.sum().backward()
    note(x.grad)


def copied_over_a_state_that_is_kept(torch, note):
    x = torch.ones(2, requires_grad=True)
    h = torch.zeros(2)
    h.copy_(x.exp())
    h.sum().backward()
    note(x.grad)
    h.copy_(x * 2)
    h.sum().backward()


def copied_over_a_state_that_is_kept_without_its_history(torch, note):
    x = torch.ones(2, requires_grad=True)
    h = torch.zeros(2)
    h.copy_(x.exp())
    h.sum().backward()
    h.detach_()
    h.copy_(x * 2)
    h.sum().backward()
    note(x.grad)


def compared_in_place_the_old_value_has_a_gradient_of_zeros(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.gt_(3.0)
    y.sum().backward()
    note(x.grad)


def twice_what_else_is_kept_for_a_gradient(torch, note):
    for f in (
        torch.nn.functional.tanhshrink,
        torch.special.ndtr,
        torch.erfinv,
        lambda x: torch.ldexp(x, x),
    ):
        x = torch.tensor([0.3, -0.2, 0.1], requires_grad=True)
        y = f(x)
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        (h,) = torch.autograd.grad((g * g).sum(), x, create_graph=True)
        (h * h).sum().backward()
        note(g, h, x.grad)


def flat_padding_that_adds_nothing(torch, note):
    x = torch.arange(12.0).reshape(1, 3, 4).requires_grad_()
    for mode in ("reflect", "replicate"):
        for n in ((0, 0), (-1, -1), (-1, 0)):
            y = torch.nn.functional.pad(x, n, mode=mode)
            (g,) = torch.autograd.grad((y * 2).sum(), x, create_graph=True)
            note(g, torch.autograd.grad(g.sum(), x))


def flat_pooling_to_the_same_size(torch, note):
    x = torch.arange(32.0).reshape(1, 2, 4, 4).requires_grad_()
    F = torch.nn.functional
    for f, n in (
        (F.adaptive_avg_pool2d, 4),
        (F.adaptive_avg_pool2d, (None, 4)),
        (F.adaptive_max_pool2d, 3),
    ):
        y = f(x, n)
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        note(y, g, torch.autograd.grad(g.sum(), x))


def flat_fractional_pooling(torch, note):
    x = torch.arange(32.0).reshape(1, 2, 4, 4).requires_grad_()
    u = torch.full((1, 2, 2), 0.4)
    y = torch.nn.functional.fractional_max_pool2d(x, 2, output_size=2, _random_samples=u)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    note(g, torch.autograd.grad(g.sum(), x))


def flat_randomised_slopes(torch, note):
    x = torch.tensor([1.0, -2.0, 4.0], requires_grad=True)
    y = torch.nn.functional.rrelu(x, 0.5, 0.5, training=True)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    note(g, torch.autograd.grad(g.sum(), x))
    x = torch.tensor([1.0, -2.0, 4.0], requires_grad=True)
    y = torch.rrelu_(x * 1, 0.5, 0.5, training=True)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    note(g, torch.autograd.grad(g.sum(), x))


def flat_product_of_one_number_and_size_of_a_number(torch, note):
    x = torch.tensor([3.0], requires_grad=True)
    (g,) = torch.autograd.grad(x.prod(), x, create_graph=True)
    note(g, torch.autograd.grad(g.sum(), x))
    y = torch.polar(x, torch.ones(1)).real
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    note(g, torch.autograd.grad(g.sum(), x))

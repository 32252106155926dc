"""Views that may not be changed in place, and bases of views."""


def several_views_unbind(torch, note):
    x = torch.ones(3, requires_grad=True) * 1
    a, b, c = x.unbind()
    a.mul_(2)


def several_views_unbind_constant(torch, note):
    x = torch.ones(3)
    a, b, c = x.unbind()
    a.mul_(2)
    note(x)


def several_views_split(torch, note):
    x = torch.ones(4, requires_grad=True) * 1
    a, b = x.split(2)
    b.mul_(2)


def several_views_split_list(torch, note):
    x = torch.ones(4, requires_grad=True) * 1
    a, b = x.split([1, 3])
    b.mul_(2)


def several_views_chunk(torch, note):
    x = torch.ones(4, requires_grad=True) * 1
    a, b = x.chunk(2)
    b[0] = 3


def several_views_tensor_split(torch, note):
    x = torch.ones(4, requires_grad=True) * 1
    a, b = x.tensor_split(2)
    b.mul_(2)


def several_views_hsplit(torch, note):
    x = torch.ones(4, requires_grad=True) * 1
    a, b = torch.hsplit(x, 2)
    b.mul_(2)


def several_views_unsafe(torch, note):
    x = torch.ones(4, requires_grad=True) * 1
    a, b = x.unsafe_split(2)
    b.mul_(2)
    note(b)


def several_views_nograd_inplace(torch, note):
    x = torch.ones(4, requires_grad=True) * 1
    a, b = x.split(2)
    with torch.no_grad():
        b.mul_(2)
    note(x)


def several_views_view_of_output(torch, note):
    x = torch.ones(4, requires_grad=True) * 1
    a, b = x.split(2)
    b.view(2).mul_(2)


def several_views_view_of_output_2(torch, note):
    x = torch.ones(4, requires_grad=True) * 1
    a, b = x.split(2)
    b[0:1].mul_(2)


def several_views_leaf_split(torch, note):
    x = torch.ones(4, requires_grad=True)
    a, b = x.split(2)
    b.mul_(2)


def several_views_iteration(torch, note):
    x = torch.ones(4, requires_grad=True) * 1
    for t in x:
        t.mul_(2)


def several_views_base_change_then_outputs(torch, note):
    x = torch.ones(4, requires_grad=True) * 1
    a, b = x.split(2)
    x.mul_(2)
    note(b.requires_grad)
    note(a.grad_fn is None)


def itself_what_has_its_shape_already(torch, note):
    x = torch.arange(4.0, requires_grad=True)
    y = torch.arange(6.0).reshape(2, 3)
    note(
        x.flatten() is x,
        y.flatten(1) is y,
        y.flatten(1, 1) is y,
        y.flatten() is y,
        torch.flatten(x) is x,
    )
    note(
        [t is s for t, s in zip(torch.broadcast_tensors(y, y[0]), (y, y[0]))],
        torch.broadcast_tensors(x)[0] is x,
    )
    note(
        x.sum_to_size(4) is x,
        y.sum_to_size(1, 3) is y,
        torch.einsum("ij->ij", y) is y,
        x.view(4) is x,
    )
    note(x.expand(4) is x, x.reshape(4) is x, x.ravel() is x, torch.chain_matmul(y) is y)
    note(torch.nn.Flatten()(y) is y, torch.tensor(1.0).flatten().shape, x.flatten().is_leaf)


def itself_or_a_view_written_to(torch, note):
    y = torch.arange(9.0).reshape(3, 3)
    torch.einsum("ii->i", y).fill_(7.0)
    note(y)
    torch.einsum("ij->ij", y)[0, 0] = 5.0
    note(y)
    z = torch.arange(8.0).reshape(1, 4, 2)
    for g in (1, 2, 4):
        torch.nn.functional.channel_shuffle(z, g).zero_()
        note(z)
    x = torch.ones(3, 3, requires_grad=True)
    y = x * 2
    torch.einsum("ii->i", y).mul_(3)
    y.sum().backward()
    note(x.grad)
    x = torch.arange(8.0).reshape(2, 2, 2).requires_grad_()
    y = torch.einsum("iji->ji", x * x)
    y.sum().backward()
    note(y, x.grad)


def expanding_the_last_dimension_that_does_not_fit_is_told_of(torch, note):
    for s, t in (
        ((2, 3), (4, 5)),
        ((2, 3, 4), (5, 6, 7)),
        ((2, 3), (-1, 4, 3)),
        ((2, 3), (0, 0)),
        ((3, 2), (3, -2)),
    ):
        try:
            torch.ones(s).expand(t)
        except RuntimeError as error:
            note(str(error).split("Target")[0])


def viewed_solutions_of_a_column_that_lay_otherwise(torch, note):
    a = torch.eye(3).expand(2, 3, 3) + torch.ones(3, 3).triu()
    b = torch.arange(6.0).reshape(1, 3, 2).permute(2, 1, 0)
    note(
        torch.linalg.solve_triangular(a, b, upper=True).view(-1),
        torch.linalg.solve(a, b).reshape(-1),
    )
    note(torch.linalg.solve_triangular(a, b.mT, upper=True, left=False).view(-1))


def several_views_unflatten_etc(torch, note):
    x = torch.ones(2, 2, requires_grad=True) * 1
    r = torch.view_as_real(torch.view_as_complex(x))
    r.mul_(2)
    note(x)


def one_chunk(torch, note):
    x = torch.ones(4, requires_grad=True) * 1
    (a,) = x.split(4)
    a.mul_(2)
    note(x)


def copy__into_nograd_view(torch, note):
    x = torch.ones(3, requires_grad=True) * 1
    with torch.no_grad():
        v = x[0:2]
    v.copy_(torch.zeros(2))
    note(x)


def detach_view_inplace(torch, note):
    x = torch.ones(3, requires_grad=True) * 1
    d = x.detach()
    d.mul_(3)
    note(x, x._version)
    (x * 2).sum().backward()


def function_output_view(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, q):
            return q.view(-1)

        @staticmethod
        def backward(ctx, g):
            return g.view(3)

    x = torch.ones(3, requires_grad=True) * 1
    y = F.apply(x)
    note(y)
    y.mul_(2)


def function_two_views(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, q):
            return (q[0:1], q[1:])

        @staticmethod
        def backward(ctx, g, h):
            return torch.cat([g, h])

    x = torch.ones(3, requires_grad=True) * 1
    y, z = F.apply(x)
    note(y)
    y.mul_(2)


def parts_of_bits_shown_as_ints(torch, note):
    x = torch.ones(2, dtype=torch.float64, requires_grad=True) * 2
    v = x.view(torch.int64)
    a, b = v.split(1)
    note(v.requires_grad, a.requires_grad, v.unbind()[0].requires_grad, (b * 2.0).requires_grad)
    a.mul_(2)
    note(a, (a + 1).requires_grad)


def base_detach__views(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    v = y[:1]
    y.detach_()
    note(y.requires_grad, v.requires_grad, v.grad_fn is None, y.is_leaf, v.is_leaf, v._base is None)
    v.sum().backward()
    note(x.grad)


def base_detach__view_written_later(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    v = y[:1]
    y.detach_()
    y.mul_(3)
    note(v, v.requires_grad)
    v.sum().backward()
    note(x.grad)


def base_detach__view_of_view(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    v = y[:1]
    w = v.view(1, 1)
    y.detach_()
    note(w.requires_grad)
    w.sum().backward()
    note(x.grad)


def base_detach__view_written_in_place(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    v = y[:1]
    y.detach_()
    v.mul_(3)
    note(v, v.requires_grad, y.requires_grad)
    v.sum().backward()
    note(x.grad)


def leaf_detach(torch, note):
    y = torch.ones(2, requires_grad=True)
    v = y[:1]
    y.detach_()
    note(y.requires_grad, v.requires_grad, v.grad_fn is None)
    v.sum().backward()
    note(y.grad)


def detach__then_requires_grad(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    v = y[:1]
    y.detach_().requires_grad_()
    (y * v).sum().backward()
    note(x.grad, y.grad)


def detach__of_what_retains_its_gradient(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    v = y[:1]
    y.detach_()
    v.sum().backward()
    note(x.grad, y.grad)


def leaf_no_longer_requiring(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    x.requires_grad_(False)
    y.sum().backward()
    note(x.grad)


def leaf_no_longer_requiring_again(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    x.requires_grad_(False)
    x.requires_grad_()
    y.sum().backward()
    note(x.grad)


def leaf_no_longer_requiring_hook(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda g: note(g))
    x.register_post_accumulate_grad_hook(lambda t: note("post"))
    y = x * 2
    x.requires_grad_(False)
    y.sum().backward()
    note(x.grad)


def base_detach__and_both_written(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    v = y[:1]
    y.detach_()
    y.mul_(3)
    v.mul_(2)


def base_detach__and_a_history_anew(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    v = y[:1]
    y.detach_()
    y.mul_(x)
    (v * 1).sum().backward()
    note(x.grad)


def base_detach__and_a_later_view_written(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    v = y[:1]
    y.detach_()
    w = y[1:]
    w.mul_(x[:1])
    note(y.requires_grad, w.requires_grad, v.requires_grad)
    y.sum().backward()
    note(x.grad)


def base_detach__twice(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    v = y[:1]
    y.detach_()
    y.mul_(x)
    w = y[:1]
    y.detach_()
    note(v.requires_grad, w.requires_grad)
    w.sum().backward()
    note(x.grad)


def views_made_again_are_named_as_if_they_were_made_by_their_strides(torch, note):
    x = torch.ones(2, 2, requires_grad=True)
    y = x.clone()
    v = y[0]
    w = y.t()
    u = y.view(-1)[1:3]
    d = y.diagonal()
    y.mul_(2)
    note(v, w, u, d)
    v.add_(1)
    note(v, w, u, d, v.grad_fn.name())


def views_of_complex_numbers_made_again(torch, note):
    x = torch.ones(2, dtype=torch.complex64, requires_grad=True)
    y = x.clone()
    v = y.real
    w = torch.view_as_real(y)
    u = y[:1]
    y.mul_(2)
    note(v, w, u)


def one_of_several_views_is_shown_though_its_base_has_changed(torch, note):
    x = torch.ones(2, 2, requires_grad=True)
    y = x.clone()
    v, w = y.split(1)
    y.mul_(2)
    note(v)


def view_of_a_base_that_is_asked_for_gradients_later(torch, note):
    a = torch.ones(2, 3)
    b = a[:]
    c = b[0]
    a.requires_grad = True
    note(
        b.requires_grad,
        b.is_leaf,
        b.grad_fn,
        c.requires_grad,
        (c * 2).requires_grad,
        b.detach().requires_grad,
    )
    (b * 2).sum().backward()
    note(a.grad, b.grad)
    for f in (
        lambda: b.add_(5),
        lambda: c.zero_(),
        lambda: b.__setitem__(0, 1.0),
        lambda: a.add_(1),
    ):
        try:
            f()
            note("taken")
        except RuntimeError as e:
            note(str(e)[:60])
    a.requires_grad = False
    note(b.requires_grad, b.add_(1))


def view_asked_for_gradients_after_its_base(torch, note):
    a = torch.ones(2, 3)
    b = a[0]
    a.requires_grad = True
    b.requires_grad_()
    (b * 2).sum().backward()
    note(b.grad, a.grad)


def retained_gradients_of_views_that_change_in_place(torch, note):
    base = torch.tensor([1.0], requires_grad=True).clone()
    v = base[:]
    w = base[:]
    v.retain_grad()
    w.retain_grad()
    base.retain_grad()
    v.mul_(2)
    (v + 3 * w).sum().backward()
    note(v.grad, w.grad, base.grad)


def retained_gradient_of_a_view_whose_base_changes(torch, note):
    base = torch.tensor([1.0, 2.0], requires_grad=True).clone()
    v = base[:1]
    v.retain_grad()
    base.mul_(2)
    (v * 5).sum().backward()
    note(v.grad)


def set__has_no_derivative(torch, note):
    def fresh():
        return torch.ones(3, requires_grad=True).clone()

    x = fresh()
    x.set_(x * 2)
    note(x, x.is_leaf, type(x.grad_fn).__name__)
    try:
        x.sum().backward()
    except RuntimeError as e:
        note(str(e)[:40])
    x = fresh()
    x.set_(torch.zeros(2))
    note(x, type(x.grad_fn).__name__)
    x = fresh()
    x.set_()
    note(x.shape, x.requires_grad)
    x = torch.ones(3)
    x.set_(fresh())
    note(x.requires_grad)
    x = torch.ones(3)
    x.set_(torch.zeros(3))
    note(x.requires_grad)
    x = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        x.set_(torch.zeros(3))
    note(x, x.is_leaf)
    (x * 2).sum().backward()
    note(x.grad)
    x = fresh()
    with torch.no_grad():
        x.set_(torch.zeros(3))
    note(type(x.grad_fn).__name__)

"""Views whose memory was modified: what they require, what they lead to, what is refused."""


def base_that_requires_grad_after_a_view_was_written(torch, note):
    b = torch.ones(4)
    v, w = b[:2], b[2:]
    v.mul_(2)
    b.requires_grad_()
    note(v.requires_grad, v.is_leaf, w.requires_grad, w.is_leaf, type(v.grad_fn).__name__)
    (v * v + w).sum().backward()
    note(b.grad)


def base_that_requires_grad_after_it_was_written(torch, note):
    b = torch.ones(2, 2)
    v, w = b.t()[0], b.view(-1)[1:3]
    b.mul_(2)
    b.requires_grad_()
    (v * w).sum().backward()
    note(b.grad, v, w)


def base_that_requires_grad_after_an_unwritten_view(torch, note):
    b = torch.ones(4)
    v = b[:2]
    b.requires_grad_()
    note(v.requires_grad, v.is_leaf, v.grad_fn)
    (v * b[:2]).sum().backward()
    note(b.grad)


def base_that_stops_requiring_grad(torch, note):
    b = torch.ones(2, requires_grad=True)
    v = b[:1]
    b.requires_grad_(False)
    b.mul_(2)
    note(v.requires_grad, type(v.grad_fn).__name__, v.grad_fn.next_functions)
    v.mul_(2)


def leaf_that_is_a_view__part_written(torch, note):
    w = torch.tensor([1.0, 2, 3, 4]).reshape(2, 2).requires_grad_()
    w[0] *= 2


def leaf_that_is_a_view__written(torch, note):
    w = torch.tensor([1.0, 2, 3, 4]).reshape(2, 2).requires_grad_()
    w.add_(1)


def leaf_that_is_a_view__its_view_written(torch, note):
    w = torch.tensor([1.0, 2, 3, 4]).view(2, 2).requires_grad_()
    w.t().mul_(2)


def leaf_that_is_a_view__its_base_written(torch, note):
    b = torch.tensor([1.0, 2, 3, 4])
    w = b.reshape(2, 2).requires_grad_()
    b.mul_(2)
    note(w.is_leaf, w, b.requires_grad)
    w.sum().backward()
    note(w.grad)


def shape_changed_under_views(torch, note):
    x = torch.arange(6.0).reshape(2, 3).clone().requires_grad_()
    b = x * 1
    v, w = b[0], b[:, 1]
    b.t_()
    b.unsqueeze_(0)
    u = b[0, 2]
    v.mul_(2)
    w.add_(x[:, 0])
    u.mul_(x[:, 2])
    b.transpose_(0, 2)
    v.exp_()
    note(v, w, u, b, b._is_view(), b._version)
    (b * b).sum().backward()
    note(x.grad)


def shape_changed_under_views__detach_(torch, note):
    x = torch.ones(2, 3, requires_grad=True)
    b = x * 1
    v = b[0]
    b.t_()
    b.detach_()
    note(b.requires_grad, b.is_leaf, v.requires_grad)
    v.sum().backward()
    note(x.grad)


def shape_changed_under_views_of_parts_of_numbers(torch, note):
    z = torch.tensor([[1 + 2j, 3 - 1j], [4 + 1j, 2 + 5j]], requires_grad=True)
    y = z * 1
    r = y.real
    y.t_()
    r.mul_(torch.tensor([2.0, 3.0]))
    (y.abs() ** 2).sum().backward()
    note(y, r, z.grad)


def shape_changed_in_inference_mode(torch, note):
    x = torch.ones(3, 2, 1, requires_grad=True)
    y = x * 2
    v = y.view(6, 1)
    with torch.inference_mode():
        v.squeeze_()
    note(v, v.requires_grad, v._version)
    (v * v).sum().backward()
    note(x.grad)


def gradients_with_a_graph_are_added_to_and_written(torch, note):
    for loss in (
        lambda x, y: x.sum(),
        lambda x, y: (x + y).sum(),
        lambda x, y: (x**3).t().sum(),
        lambda x, y: x.expand(2, 3, 2).sum() + y[0].sum(),
    ):
        for x in (torch.ones(3, 2), torch.ones(2, 3).t(), torch.ones(3, 4)[:, ::2]):
            x.requires_grad_()
            y = torch.ones(3, 2, requires_grad=True)
            loss(x, y).backward(create_graph=True)
            first = x.grad
            note(first.stride(), first.is_leaf)
            (x * 2).sum().backward()
            torch.nn.utils.clip_grad_norm_([x], 1.0)
            note(x.grad, y.grad)
            torch.optim.SGD([x], 0.1).zero_grad(set_to_none=False)
            note(x.grad, x.grad is first, x.grad.requires_grad, y.grad)


def gradients_with_a_graph_where_none_is_recorded(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.grad = torch.ones(2)
    loss = (x**3).sum()
    with torch.no_grad():
        loss.backward(create_graph=True)
    note(x.grad, x.grad.requires_grad)


def results_that_are_no_views(torch, note):
    x = torch.tensor([[1.0, 5.0, 2.0], [7.0, 0.0, 3.0]], requires_grad=True)
    for call in (
        lambda: x.median(0),
        lambda: x.nanmedian(1),
        lambda: x.mode(0),
        lambda: x.kthvalue(2, 1),
        lambda: (x.quantile(0.5, 1),),
        lambda: (torch.kron(x, x),),
        lambda: torch.gradient(x[0]),
        lambda: (torch.combinations(x[0]),),
        lambda: (torch.nn.functional.group_norm(x, 3),),
    ):
        for out in call():
            note(out._is_view(), out.is_contiguous(), out, out.detach_())


def views_of_inference_tensors_are_detached_in_place(torch, note):
    with torch.inference_mode():
        z = torch.zeros(2, 3)
    v = z.movedim(0, -1)
    note(v._is_view(), v.detach_())


def stale_views_give_up_requiring_grad(torch, note):
    y = torch.ones(2, 2, requires_grad=True) * 1
    with torch.no_grad():
        v = y.t()
    y.mul_(2)
    v.requires_grad_(False)
    note(v.requires_grad)
    v.is_leaf


def casts_of_dropped_numbers(torch, note):
    for name in ("alpha_dropout", "feature_alpha_dropout", "dropout"):
        x = torch.ones(1, 3, 4, dtype=torch.bfloat16)
        note(getattr(torch.nn.functional, name)(x, training=True).dtype)

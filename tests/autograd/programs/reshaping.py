"""Tensors that change their own shape."""


def reshaped_in_place_part_seen_before(torch, note):
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 1
    v = y[1]
    y.t_()
    note(y.shape, v)
    (v * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    note(x.grad)


def reshaped_in_place_window_seen_before(torch, note):
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 1
    v = y.as_strided((2,), (1,))
    y.transpose_(0, -1)
    v.sum().backward()
    note(x.grad)


def reshaped_in_place_flat_view_seen_before(torch, note):
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 1
    v = y.view(-1)
    y.t_().mul_(2)
    note(v)
    (v * torch.arange(6.0)).sum().backward()
    note(x.grad)


def reshaped_in_place_view_changed_afterwards(torch, note):
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 1
    v = y[0]
    y.t_()
    v.mul_(3)
    note(y)
    (y * torch.arange(6.0).reshape(3, 2)).sum().backward()
    note(x.grad)


def reshaped_in_place_constant_with_a_view_that_gets_a_history(torch, note):
    x = torch.ones(3, requires_grad=True)
    z = torch.zeros(2, 3)
    v = z[0]
    z.t_()
    v.add_(x)
    note(z, z.requires_grad)
    (z * torch.arange(6.0).reshape(3, 2)).sum().backward()
    note(x.grad)


def reshaped_in_place_view_of_a_view(torch, note):
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 1
    v = y[1]
    y.unsqueeze_(0)
    w = v[1:]
    u = y[0, 0]
    y.mul_(2)
    note(w, u)
    (w.sum() + u.sum() * 3).backward()
    note(x.grad)


def reshaped_in_place_twice(torch, note):
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 1
    v = y[1]
    y.t_()
    u = y[1]
    y.unsqueeze_(0)
    y.mul_(2)
    note(v, u)
    (v.sum() + u.sum() * 3 + y.sum()).backward()
    note(x.grad)


def reshaped_in_place_squeezed(torch, note):
    x = torch.arange(3.0).reshape(1, 3).requires_grad_()
    y = x * 1
    v = y[0]
    y.squeeze_()
    y.mul_(2)
    note(v, y.shape)
    v.sum().backward()
    note(x.grad)


def reshaped_in_place_a_wrong_dimension_changes_nothing(torch, note):
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 1
    v = y[1]
    try:
        y.transpose_(0, 5)
    except IndexError:
        note("refused")
    y.mul_(2)
    v.sum().backward()
    note(y, x.grad)


def reshaped_in_place_then_a_leaf(torch, note):
    z = torch.zeros(2, 3)
    v = z[0]
    z.t_()
    z.requires_grad_()
    note(z.is_leaf, z.requires_grad)
    (z * 2).sum().backward()
    note(z.grad)


def reshaped_in_place_saved_before(torch, note):
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 1
    w = y**2
    y.t_().mul_(2)
    w.sum().backward()


def reshaped_in_place_saved_before_unchanged(torch, note):
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 1
    w = y**2
    y.t_()
    w.sum().backward()


def reshaped_in_place_view_of_a_leaf(torch, note):
    x = torch.ones(2, 3, requires_grad=True)
    x[0].unsqueeze_(0)


def reshaped_in_place_leaf(torch, note):
    x = torch.ones(2, 3, requires_grad=True)
    x.t_()

"""Views made where gradients are off."""


def no_grad_leaf_view_req(torch, note):
    x = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        v = x.view(3)
    note(v.requires_grad, v.grad_fn, v.is_leaf)


def no_grad_leaf_view_inplace_outside(torch, note):
    x = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        v = x.view(3)
    v.mul_(2)
    note(v, x)


def no_grad_nonleaf_view_req(torch, note):
    x = torch.ones(3, requires_grad=True) * 1
    with torch.no_grad():
        v = x.view(3)
    note(v.requires_grad, v.grad_fn)


def no_grad_nonleaf_view_inplace_outside(torch, note):
    x = torch.ones(3, requires_grad=True) * 1
    with torch.no_grad():
        v = x.view(3)
    v.mul_(2)
    note(v, x)


def no_grad_nonleaf_view_inplace_with_grad_value(torch, note):
    y = torch.ones(3, requires_grad=True)
    x = torch.ones(3, requires_grad=True) * 1
    with torch.no_grad():
        v = x.view(3)
    v.mul_(y)
    note(v, x)


def no_grad_leaf_view_inplace_with_grad_value(torch, note):
    y = torch.ones(3, requires_grad=True)
    x = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        v = x.view(3)
    v.mul_(y)
    note(v, x)


def no_grad_view_of_what_requires_no_grad_inplace_with_grad_value(torch, note):
    y = torch.ones(2, requires_grad=True)
    x = torch.ones(3)
    with torch.no_grad():
        v = x[:2]
    v.mul_(y)
    note(v, x)


def no_grad_view_of_what_requires_no_grad_inplace_with_a_number(torch, note):
    x = torch.ones(3)
    with torch.no_grad():
        v = x[:2]
    v.mul_(2)
    note(v, x, x.requires_grad)


def no_grad_part_of_what_requires_no_grad_inplace_with_grad_value(torch, note):
    y = torch.ones(2, requires_grad=True)
    x = torch.ones(4)
    with torch.no_grad():
        v, w = x.split(2)
    v.mul_(y)
    note(v, x)


def no_grad_view_that_was_made_a_leaf_and_modified(torch, note):
    x = torch.ones(3)
    with torch.no_grad():
        v = x[:2]
    v.requires_grad_()
    with torch.no_grad():
        v.mul_(2)
    (v * 3).sum().backward()
    note(v, v.grad, x.requires_grad)


def no_grad_nonleaf_base_modified_then_view_used(torch, note):
    x = torch.ones(3, requires_grad=True) * 1
    with torch.no_grad():
        v = x.view(3)
    x.mul_(2)
    note(v.requires_grad)


def no_grad_nonleaf_base_modified_then_view_used_2(torch, note):
    x = torch.ones(3, requires_grad=True) * 1
    with torch.no_grad():
        v = x.view(3)
    x.mul_(2)
    y = v * 2
    note(y)


def no_grad_view_then_modified_inside_then_outside(torch, note):
    x = torch.ones(3, requires_grad=True) * 1
    with torch.no_grad():
        v = x.view(3)
        v.mul_(3)
    note(v.requires_grad, x.requires_grad)
    y = v * 2
    note(y)


def no_grad_leaf_view_modified_inside_then_used(torch, note):
    x = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        v = x.view(3)
        v.mul_(3)
        note(v.requires_grad)
    y = v * 2
    note(y)


def no_grad_leaf_view_modified_base_inside_then_used(torch, note):
    x = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        v = x.view(3)
        x.mul_(3)
        note(v.requires_grad)
    y = v * 2
    note(y)


def no_grad_unbind(torch, note):
    x = torch.ones(3, requires_grad=True) * 1
    with torch.no_grad():
        a, b, c = x.unbind()
    a.mul_(2)


def no_grad_unbind_value(torch, note):
    x = torch.ones(3, requires_grad=True) * 1
    with torch.no_grad():
        a, b, c = x.unbind()
    a.mul_(x[0])


def no_grad_view_of_no_grad_view(torch, note):
    x = torch.ones(3, requires_grad=True) * 1
    with torch.no_grad():
        v = x.view(3)
    w = v[0:2]
    w.mul_(2)
    note(w.requires_grad)


def no_grad_view_of_no_grad_view_value(torch, note):
    x = torch.ones(3, requires_grad=True) * 1
    with torch.no_grad():
        v = x.view(3)
    w = v[0:2]
    w.mul_(x[0])


def no_grad_inside_again(torch, note):
    x = torch.ones(3, requires_grad=True) * 1
    with torch.no_grad():
        v = x.view(3)
    with torch.no_grad():
        v.mul_(3)
    note(v, x)


def no_grad_grad_value_to_detached_view(torch, note):
    x = torch.ones(3, requires_grad=True)
    y = x.detach()
    v = y.view(3)
    v.mul_(x)
    note(v, y)


def no_grad_view_of_constant_base_base_gets_grad(torch, note):
    x = torch.ones(3, requires_grad=True)
    c = torch.zeros(3)
    with torch.no_grad():
        v = c.view(3)
    c.add_(x)
    note(c.requires_grad)
    note(v.requires_grad)


def no_grad_view_of_changed_base_is_reshaped_without_grad(torch, note):
    base = torch.ones(2, 3)
    with torch.no_grad():
        v = base[:]
    base.mul_(torch.ones(2, 3, requires_grad=True))
    with torch.no_grad():
        note(v.transpose_(0, 1).shape, v.unsqueeze_(0).shape, v.squeeze_().shape, v.t_().shape)
    note(v._version, v.requires_grad)
    v * 2


def unbound_view_of_changed_base_is_cast_to_integers(torch, note):
    y = torch.ones(2, 3, requires_grad=True) * 1.5
    v = y.unbind()[0]
    y.mul_(2)
    note(v.long(), v.to(torch.int8), v.bool(), v > 1)
    v.double()

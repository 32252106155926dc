"""Leaves, their data and their gradients."""


def grad_assign_none(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.sum().backward()
    x.grad = None
    note(x.grad)


def numpy_of_what_requires_grad_recorded_or_not(torch, note):
    x = torch.ones(2, requires_grad=True)
    for mode in (torch.enable_grad, torch.no_grad, torch.inference_mode):
        with mode():
            for out in (lambda: x.numpy(), lambda: x.numpy(force=True)):
                try:
                    note(out())
                except RuntimeError as e:
                    note(str(e))


def grad_assign_ok_then_accumulate(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.grad = torch.ones(2) * 3
    x.sum().backward()
    note(x.grad)


def grad_assign_on_non_requires(torch, note):
    x = torch.ones(2)
    x.grad = torch.ones(2)
    note(x.grad)


def grad_accumulates_in_place_into_same_tensor(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.sum().backward()
    g = x.grad
    x.sum().backward()
    note(g, x.grad is g)


def grad_requires_grad(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.grad = torch.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    note(x.grad)


def data_set_wrong_type(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.data = 3


def data_set_other_shape(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.data = torch.ones(3)
    note(x, x.requires_grad)


def data_set_other_dtype(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.data = torch.ones(2, dtype=torch.float64)
    note(x)


def data_set_int_on_requires_grad(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.data = torch.ones(2, dtype=torch.int64)
    note(x.dtype)


def data_keeps_version(torch, note):
    x = torch.ones(2)
    v = x._version
    x.data = torch.zeros(2)
    note(x, x._version - v)


def data_modify_invisible(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * x
    x.data.mul_(3)
    y.sum().backward()
    note(x.grad)


def data_set_on_view(torch, note):
    x = torch.ones(2, 2)
    v = x[0]
    v.data = torch.zeros(5)
    note(x, v)


def data_shares(torch, note):
    x = torch.ones(2)
    d = x.data
    d[0] = 5
    note(x, d.requires_grad)


def detach_modify_seen(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * x
    x.detach().mul_(3)
    y.sum().backward()


def requires_grad__on_int(torch, note):
    x = torch.ones(2, dtype=torch.int64).requires_grad_()


def requires_grad_set_nonleaf_false(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.requires_grad = False


def requires_grad_set_nonleaf_true(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.requires_grad = True
    note(y.requires_grad)


def requires_grad__nonleaf_false_method(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.requires_grad_(False)


def requires_grad_in_no_grad_view(torch, note):
    x = torch.ones(2, 2)
    with torch.no_grad():
        v = x[0]
    v.requires_grad_()
    note(v.requires_grad, x.requires_grad)
    (v * 3).sum().backward()
    note(v.grad)


def no_grad_view_in_place_in_no_grad(torch, note):
    x = torch.ones(2, 2, requires_grad=True)
    with torch.no_grad():
        v = x[0]
        v.mul_(2)
    note(x, x._version)


def view_of_leaf_inplace(torch, note):
    x = torch.ones(2, 2, requires_grad=True)
    x[0].mul_(2)


def leaf_inplace(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.add_(1)


def leaf_inplace_setitem(torch, note):
    x = torch.ones(2, requires_grad=True)
    x[0] = 3


def leaf_inplace_no_grad(torch, note):
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        x.add_(1)
    note(x, x.is_leaf)


def int16_tensor_grad(torch, note):
    torch.tensor([1], dtype=torch.int16, requires_grad=True)


def Variable(torch, note):
    x = torch.autograd.Variable(torch.ones(2), requires_grad=True)
    note(x.requires_grad)


def is_leaf_kinds(torch, note):
    x = torch.ones(2, requires_grad=True)
    note(
        x.is_leaf,
        (x + 1).is_leaf,
        x.detach().is_leaf,
        torch.ones(1).is_leaf,
        (torch.ones(1) + 1).is_leaf,
    )


def leaf_from_data_swap_shares_with_optimizer(torch, note):
    x = torch.nn.Parameter(torch.ones(2))
    x.data.copy_(torch.zeros(2))
    x.data = x.data + 1
    note(x)


def parameter_ops(torch, note):
    x = torch.nn.Parameter(torch.ones(2))
    note(
        x.requires_grad,
        x.is_leaf,
        type(x * 2).__name__,
        type(x.data).__name__,
        type(x.detach()).__name__,
    )


def requires_grad__numbers(torch, note):
    x = torch.ones(2).requires_grad_(False)
    note(x.requires_grad)


def autograd_variable_is_a_tensor(torch, note):
    x = torch.autograd.Variable(torch.ones(2))
    note(isinstance(x, torch.autograd.Variable), x.requires_grad)


def grad_assign_wrong_shape(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.grad = torch.ones(3)


def grad_assign_wrong_dtype(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.grad = torch.ones(2, dtype=torch.float64)


def grad_assign_not_tensor(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.grad = [1.0, 2.0]


def grad_assign_self(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.grad = x


def grad_del(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.sum().backward()
    del x.grad
    note(x.grad)


def swap_grad_to_other_device_none(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.grad = torch.ones(2, 1)


def view_that_no_longer_requires_grad(torch, note):
    x = torch.ones(3)
    v = x[:2]
    v.requires_grad_()
    a = v.requires_grad
    v.requires_grad_(False)
    note(a, v.requires_grad, v.is_leaf)
    v.add_(1)
    note(x, v)


def requires_grad__of_what_is_no_bool(torch, note):
    torch.ones(2).requires_grad_(1)


def requires_grad_set_to_what_is_no_bool(torch, note):
    x = torch.ones(2)
    x.requires_grad = 1

"""Tensors that change in place, are copied, or switch gradients on and off."""

import copy


def set_(torch, note):
    x = torch.ones(2)
    x.set_(torch.zeros(3))
    note(x)


def set__on_requires(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 1
    y.set_(torch.zeros(3))
    note(y)


def detach(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.detach_()
    note(y.requires_grad, y.is_leaf, y.grad_fn)


def detach__view(torch, note):
    x = torch.ones(2, 2, requires_grad=True)
    y = (x * 1)[0]
    y.detach_()


def detach_view_base(torch, note):
    x = torch.ones(2, 2)
    v = x.detach()
    v[0] = 3
    note(x, v.requires_grad, v._is_view())


def expand_inplace(torch, note):
    x = torch.ones(1, 3).expand(2, 3)
    x.add_(1)


def unbind_inplace(torch, note):
    x = torch.ones(2, 2, requires_grad=True)
    a, b = (x * 1).unbind()
    a.mul_(2)


def chunk_inplace(torch, note):
    x = torch.ones(2, 2, requires_grad=True)
    a, b = (x * 1).chunk(2)
    a.mul_(2)


def inplace_relu(torch, note):
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    y = (x * 2).relu_()
    y.sum().backward()
    note(x.grad)


def inplace_copy(torch, note):
    x = torch.ones(2, requires_grad=True)
    z = torch.zeros(3, 2)
    z[1].copy_(x * 2)
    note(z.requires_grad)
    (z * z).sum().backward()
    note(x.grad)


def setitem_grad_value(torch, note):
    x = torch.ones(2, requires_grad=True)
    z = torch.zeros(4)
    z[1:3] = x * 3
    (z * z).sum().backward()
    note(x.grad)


def setitem_mask(torch, note):
    x = torch.arange(4.0).requires_grad_()
    y = x * 1
    y[y > 1] = 0.0
    (y * y).sum().backward()
    note(x.grad)


def masked_index_grad(torch, note):
    x = torch.arange(4.0).requires_grad_()
    x[x > 1].pow(2).sum().backward()
    note(x.grad)


def iadd_closure(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 1
    y += x
    y *= 2
    y -= 1
    y /= 4
    y.sum().backward()
    note(x.grad)


def set_grad_enabled(torch, note):
    with torch.set_grad_enabled(False):
        y = torch.ones(2, requires_grad=True) * 2
    note(y.requires_grad)
    torch.set_grad_enabled(False)
    note(torch.is_grad_enabled())
    torch.set_grad_enabled(True)


def no_grad_decorator(torch, note):
    @torch.no_grad()
    def f(x):
        return x * 2

    note(f(torch.ones(2, requires_grad=True)).requires_grad)


def enable_inside_no_grad(torch, note):
    with torch.no_grad():
        with torch.enable_grad():
            y = torch.ones(2, requires_grad=True) * 2
    note(y.requires_grad)


def no_grad_as_decorator_without_parens(torch, note):
    @torch.no_grad
    def f(x):
        return x * 2

    note(f(torch.ones(2, requires_grad=True)).requires_grad)


def clone(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x.clone()
    note(y.requires_grad, y.is_leaf)
    y.sum().backward()
    note(x.grad)


def to_dtype_grad(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.double().sum().backward()
    note(x.grad.dtype)


def deepcopy_nonleaf(torch, note):
    x = torch.ones(2, requires_grad=True) * 2
    copy.deepcopy(x)


def deepcopy_shared_memory(torch, note):
    a = torch.arange(6.0)
    c, d, e = copy.deepcopy((a, a.view(2, 3), a[4:]))
    d[0, 1] = 9.0
    e.zero_()
    note(c, d, e, a)
    note(
        c.data_ptr() == d.data_ptr(), e.storage_offset(), e.untyped_storage().nbytes(), d._is_view()
    )
    c, d = copy.deepcopy([a[1::2], a[:4].view(2, 2).T])
    c.zero_()
    note(c, d, c.stride(), d.stride())
    c = copy.deepcopy({"s": a.untyped_storage(), "a": a})
    note(c["s"].data_ptr() == c["a"].data_ptr())
    c = copy.deepcopy(a[:1].expand(3))
    note(c, c.stride())
    note(copy.deepcopy(torch.ones(2, 0)).shape)
    w = torch.nn.Parameter(torch.ones(2))
    c, d = copy.deepcopy((w, w.data))
    note(c.data_ptr() == d.data_ptr())


def deepcopy_leaf(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.sum().backward()
    y = copy.deepcopy(x)
    note(y, y.grad, y.requires_grad)


def copy_leaf(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = copy.copy(x)
    note(y, y.requires_grad)


def numpy_on_requires_grad(torch, note):
    torch.ones(2, requires_grad=True).numpy()


def item(torch, note):
    note(torch.ones(1, requires_grad=True).item())
    torch.ones(2).item()


def bool_many(torch, note):
    bool(torch.ones(2))


def anomaly(torch, note):
    x = torch.tensor([0.0], requires_grad=True)
    with torch.autograd.detect_anomaly():
        (x.sqrt() * 0).sum().backward()


def set_detect_anomaly(torch, note):
    torch.autograd.set_detect_anomaly(True)
    note(torch.is_anomaly_enabled())
    torch.autograd.set_detect_anomaly(False)


def output_nr(torch, note):
    x = torch.ones(2, 2, requires_grad=True)
    a, b = x.unbind()
    note(a.output_nr, b.output_nr)


def resize__with_grad(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.resize_(3)


def resize(torch, note):
    x = torch.ones(2)
    x.resize_(1)
    note(x)


def zero__grad(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.sum().backward()
    x.grad.zero_()
    note(x.grad)


def retain_graph_create(torch, note):
    x = torch.tensor(2.0, requires_grad=True)
    y = x**2
    y.backward(create_graph=True)
    note(x.grad.requires_grad)
    x.grad.sum().backward()
    note(x.grad)


def nograd_out_of_inplace_mult(torch, note):
    x = torch.ones(3, requires_grad=True)
    w = x.clone()
    w[0] *= 4
    w.sum().backward()
    note(x.grad)


def pow_scalar_exponent_tensor_grads(torch, note):
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    e = torch.tensor(2.0, requires_grad=True)
    (x**e).sum().backward()
    note(x.grad, e.grad)


def broadcast_grads(torch, note):
    a = torch.ones(3, 1, requires_grad=True)
    b = torch.ones(1, 4, requires_grad=True)
    (a * b).sum().backward()
    note(a.grad, b.grad)


def matmul_batch_grads(torch, note):
    a = torch.ones(2, 3, requires_grad=True)
    b = torch.ones(5, 3, 4, requires_grad=True)
    (a @ b).sum().backward()
    note(a.grad, b.grad.shape)


def add_out_with_grad(torch, note):
    x = torch.ones(2, requires_grad=True)
    torch.add(x, x, out=torch.zeros(2))


def index_put_accumulate(torch, note):
    x = torch.ones(3, requires_grad=True)
    y = torch.zeros(2).index_put((torch.tensor([0, 0, 1]),), x, accumulate=True)
    (y * y).sum().backward()
    note(x.grad)


def detached_view_version(torch, note):
    x = torch.ones(2)
    v = x.view(1, 2)
    x.add_(1)
    note(x._version, v._version, v._base is x)


def real_view_write(torch, note):
    x = torch.zeros(2, dtype=torch.complex64)
    x.real.fill_(3.0)
    x.imag[0] = 1
    note(x)


def diag_view_write(torch, note):
    x = torch.zeros(2, 2)
    x.diagonal().fill_(3.0)
    note(x)
    x.T[0, 1] = 7
    note(x)


def as_strided_grad(torch, note):
    x = torch.arange(4.0).requires_grad_()
    y = x.as_strided((2, 2), (1, 1))
    (y * y).sum().backward()
    note(x.grad)


def cumsum_etc(torch, note):
    x = torch.arange(1.0, 4.0).requires_grad_()
    (x.cumprod(0) * x.cumsum(0)).sum().backward()
    note(x.grad)


def scatter(torch, note):
    x = torch.arange(1.0, 4.0).requires_grad_()
    torch.zeros(3).scatter_add(0, torch.tensor([0, 0, 1]), x * x).pow(2).sum().backward()
    note(x.grad)


def set__changes_shape_and_keeps_history(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.set_(torch.zeros(3))
    note(y.shape, y.requires_grad)


def set__wrong_dtype(torch, note):
    torch.ones(2).set_(torch.zeros(3, dtype=torch.int64))


def setitem_of_view_in_nograd(torch, note):
    x = torch.ones(3, requires_grad=True) * 1
    with torch.no_grad():
        v = x[0:2]
    v[0] = 3

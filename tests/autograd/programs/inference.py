"""Inference mode."""

import copy
import pickle


def inference_basic(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
        b = a * 2
        c = b[0:2]
        note(torch.is_inference_mode_enabled())
    note(a.is_inference(), b.is_inference(), c.is_inference(), a.view(3).is_inference())
    note((a + 1).is_inference(), a.clone().is_inference(), a.detach().is_inference())
    note(a.data.is_inference(), torch.is_inference(a), a.unbind()[0].is_inference())
    note(
        torch.ones(2).is_inference(),
        a.requires_grad,
        a.is_leaf,
        a.grad_fn,
        torch.is_inference(torch.ones(1)),
    )


def inference_inplace(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
        a.add_(1)
        a[0] = 5
        note(a)
    a.add_(1)


def inference_setitem(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
    a[0] = 1


def inference_copy(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
    a.copy_(torch.zeros(3))


def inference_zero(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
    a.zero_()


def inference_fill(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
    a.fill_(3)


def inference_uniform(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
    a.uniform_()


def inference_relu(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
    a.relu_()


def inference_iadd(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
    a += 1


def inference_view_inplace(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
    a[0:2].mul_(2)


def inference_out(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
    torch.add(torch.ones(3), torch.ones(3), out=a)


def inference_t(torch, note):
    with torch.inference_mode():
        a = torch.ones(3, 2)
    a.t_()


def inference_resize(torch, note):
    with torch.inference_mode():
        a = torch.ones(3, 2)
    a.unsqueeze_(0)
    note(a.shape)


def inference_index_put(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
    a[a > 0] = 2


def inference_index_add(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
    a.index_add_(0, torch.tensor([0]), torch.ones(1))


def inference_version(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
    a._version


def inference_version_inside(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
        a._version


def inference_normal_version_inside(torch, note):
    n = torch.ones(3)
    with torch.inference_mode():
        n.add_(1)
        n.add_(1)
    note(n._version, n.is_inference(), n)


def inference_saved_mul(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
    x = torch.ones(3, requires_grad=True)
    a * x


def inference_saved_mul_2(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
    x = torch.ones(3, requires_grad=True)
    x * a


def inference_saved_matmul(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
    x = torch.ones(3, requires_grad=True)
    a @ x


def inference_saved_linear(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
    l = torch.nn.Linear(3, 3)
    l(a)


def inference_saved_conv(torch, note):
    with torch.inference_mode():
        a = torch.ones(1, 1, 5, 5)
    l = torch.nn.Conv2d(1, 1, 3)
    l(a)


def inference_saved_linear_nograd(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
    l = torch.nn.Linear(3, 3)
    with torch.no_grad():
        note(l(a).shape, l(a).is_inference())


def inference_not_saved(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
    x = torch.ones(3, requires_grad=True)
    y = a + x
    y.sum().backward()
    note(x.grad, y.is_inference())


def inference_not_saved_cat(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
    x = torch.ones(3, requires_grad=True)
    y = torch.cat([a, x, x * 2])
    y.sum().backward()
    note(x.grad)


def inference_where(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
    x = torch.ones(3, requires_grad=True)
    y = torch.where(a > 0, x, a)
    y.sum().backward()
    note(x.grad)


def inference_saved_mask(torch, note):
    with torch.inference_mode():
        m = torch.ones(3) > 0
    x = torch.ones(3, requires_grad=True)
    y = torch.where(m, x, 0.0)


def inference_embedding(torch, note):
    with torch.inference_mode():
        m = torch.tensor([0, 1])
    e = torch.nn.Embedding(3, 2)
    e(m)


def inference_cross_entropy_target(torch, note):
    with torch.inference_mode():
        m = torch.tensor([0, 1])
    x = torch.ones(2, 2, requires_grad=True)
    torch.nn.functional.cross_entropy(x, m)


def inference_gather(torch, note):
    with torch.inference_mode():
        m = torch.tensor([0, 1])
    x = torch.ones(3, requires_grad=True)
    y = x.gather(0, m)


def inference_clone_then_use(torch, note):
    with torch.inference_mode():
        a = torch.ones(3) * 3
    x = torch.ones(3, requires_grad=True)
    (x * a.clone()).sum().backward()
    note(x.grad)


def inference_requires_grad(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
    a.requires_grad_()


def inference_requires_grad_set(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
    a.requires_grad = True


def inference_requires_grad_inside(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
        a.requires_grad_()
        note(a.requires_grad, (a * 2).requires_grad)
        note(torch.ones(2, requires_grad=True).is_inference())


def inference_requires_grad_False(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
    a.requires_grad_(False)
    note(a.requires_grad)


def inference_Parameter(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
    torch.nn.Parameter(a)


def inference_Parameter_nograd(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
    q = torch.nn.Parameter(a, requires_grad=False)
    note(q.is_inference())


def inference_views_of_normal(torch, note):
    n = torch.ones(3)
    with torch.inference_mode():
        v = n.view(3)
        note(v.is_inference(), v._version)
        v.add_(1)
        note(n, n._version)
    v.add_(1)
    note(n, v.is_inference(), v._version, n._version)


def inference_view_of_leaf_inplace_inside(torch, note):
    x = torch.ones(3, requires_grad=True)
    with torch.inference_mode():
        v = x.view(3)
        v.mul_(2)
        note(x, v.is_inference(), v.grad_fn)


def inference_view_of_leaf_inplace_outside(torch, note):
    x = torch.ones(3, requires_grad=True)
    with torch.inference_mode():
        v = x.view(3)
    v.mul_(2)


def inference_view_of_nonleaf_inplace_outside(torch, note):
    x = torch.ones(3, requires_grad=True) * 1
    with torch.inference_mode():
        v = x.view(3)
    v.mul_(2)


def inference_many_views_of_nonleaf_inplace_outside(torch, note):
    x = torch.ones(3, requires_grad=True) * 1
    with torch.inference_mode():
        v = x.unbind()
    v[0].mul_(2)


def inference_leaf_in_inference(torch, note):
    x = torch.ones(3, requires_grad=True)
    with torch.inference_mode():
        x.add_(1)
        note(x, x.is_inference(), x.requires_grad, x.is_leaf)
    x.sum().backward()
    note(x.grad)


def inference_optimizer_in_inference(torch, note):
    x = torch.ones(3, requires_grad=True)
    x.sum().backward()
    o = torch.optim.SGD([x], lr=0.1)
    with torch.inference_mode():
        o.step()
        note(x)


def inference_detach_of_normal(torch, note):
    x = torch.ones(3)
    with torch.inference_mode():
        note(x.detach().is_inference(), x.data.is_inference(), x.clone().is_inference())
        note(x.to(torch.float64).is_inference(), x.to(torch.float32).is_inference())
        note(x.contiguous().is_inference(), x.reshape(3).is_inference(), x.T.is_inference())


def inference_nested_false(torch, note):
    with torch.inference_mode():
        with torch.inference_mode(False):
            a = torch.ones(2)
            note(a.is_inference(), torch.is_grad_enabled())
            x = torch.ones(2, requires_grad=True)
            note((x * a).requires_grad)
        note(torch.ones(2).is_inference())


def inference_nested_false_modifies(torch, note):
    with torch.inference_mode():
        a = torch.ones(2)
        with torch.inference_mode(False):
            a.add_(1)


def inference_decorator(torch, note):
    @torch.inference_mode()
    def f(x):
        return x * 2

    note(f(torch.ones(2)).is_inference(), torch.ones(2).is_inference())


def inference_set_data(torch, note):
    with torch.inference_mode():
        a = torch.ones(2)
    n = torch.ones(2)
    n.data = a
    note(n.is_inference())
    a.data = torch.ones(2)
    note(a.is_inference())


def inference_deepcopy_pickle(torch, note):
    with torch.inference_mode():
        a = torch.ones(2)
    note(copy.deepcopy(a).is_inference(), pickle.loads(pickle.dumps(a)).is_inference())


def inference_grad_assign(torch, note):
    with torch.inference_mode():
        a = torch.ones(2)
    x = torch.ones(2, requires_grad=True)
    x.grad = a
    x.sum().backward()


def inference_function_save(torch, note):
    with torch.inference_mode():
        a = torch.ones(2)

    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, q, r):
            ctx.save_for_backward(q, r)
            return q * r

        @staticmethod
        def backward(ctx, g):
            return (g, g)

    F.apply(torch.ones(2, requires_grad=True), a)


def inference_backward(torch, note):
    with torch.inference_mode():
        a = torch.ones(2).sum()
    a.backward()


def inference_batchnorm_buffer(torch, note):
    with torch.inference_mode():
        b = torch.nn.BatchNorm1d(2)
    b.weight = None
    b.bias = None
    b(torch.ones(3, 2))


def inference_numpy_and_item(torch, note):
    with torch.inference_mode():
        a = torch.ones(2)
    note(a.numpy().tolist(), a.sum().item(), a.tolist(), repr(a))


def inference_normal_add_inference(torch, note):
    with torch.inference_mode():
        a = torch.ones(2)
    n = torch.ones(2)
    n.add_(a)
    n[0] = a[0]
    note(n, n.is_inference(), n._version)


def inference_relu_of_saved_out(torch, note):
    with torch.inference_mode():
        a = torch.ones(2)
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        y = x.exp()
        note(y.requires_grad, y.is_inference())
    y2 = y + x
    note(y2)


def inference_generator(torch, note):
    @torch.inference_mode()
    def g():
        yield torch.ones(1)
        yield torch.ones(1)

    i = g()
    a = next(i)
    b = torch.ones(1)
    c = next(i)
    note(a.is_inference(), b.is_inference(), c.is_inference())


def inference_view_of_what_requires_grad(torch, note):
    with torch.inference_mode():
        c = torch.ones(1, 2, requires_grad=True)
        note(c.requires_grad, c.view(-1).requires_grad, c[0].requires_grad, (c * 2).requires_grad)
    note(c.view(-1).requires_grad, c[0].view(-1).requires_grad, c.t().is_inference())


def inference_view_of_a_normal_tensor(torch, note):
    a = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        v = a[:1]
    note(v.requires_grad, v.is_inference())


def inference_increment_version(torch, note):
    with torch.inference_mode():
        a = torch.ones(3)
    torch.autograd.graph.increment_version(a)
    b = torch.ones(2)
    torch.autograd.graph.increment_version([a, b])
    note(b._version)

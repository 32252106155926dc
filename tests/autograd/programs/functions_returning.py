"""Return values of `autograd.Function`s that users write."""


def function_wrong_count(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, k):
            return x * k

        @staticmethod
        def backward(ctx, g):
            return g

    x = torch.ones(2, requires_grad=True)
    F.apply(x, 3).sum().backward()


def function_too_many_grads_none(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return (g * 2, None, None)

    x = torch.ones(2, requires_grad=True)
    F.apply(x).sum().backward()
    note(x.grad)


def function_too_many_grads(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return (g * 2, g)

    x = torch.ones(2, requires_grad=True)
    F.apply(x).sum().backward()
    note(x.grad)


def function_wrong_shape(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.sum()

        @staticmethod
        def backward(ctx, g):
            return torch.ones(3)

    x = torch.ones(2, requires_grad=True)
    F.apply(x).backward()


def function_expand_grad(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return torch.ones(5, 2)

    x = torch.ones(2, requires_grad=True)
    F.apply(x).sum().backward()
    note(x.grad)


def function_wrong_dtype_grad(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g.double()

    x = torch.ones(2, requires_grad=True)
    F.apply(x).sum().backward()
    note(x.grad.dtype)


def function_returns_non_tensor_grad(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return 3.0

    x = torch.ones(2, requires_grad=True)
    F.apply(x).sum().backward()


def function_nondiff(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            m, i = x.max(0)
            j = x * 2
            ctx.mark_non_differentiable(i, j)
            return (m, i, j)

        @staticmethod
        def backward(ctx, g, gi, gj):
            note(gi, gj)
            return torch.ones(2) * g

    x = torch.ones(2, requires_grad=True)
    m, i, j = F.apply(x)
    note(m.requires_grad, i.requires_grad, j.requires_grad)
    m.backward()
    note(x.grad)


def function_mark_dirty(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = torch.ones(2, requires_grad=True)
    y = x * 1
    z = F.apply(y)
    note(z is y, z)
    z.sum().backward()
    note(x.grad)


def function_mark_dirty_leaf(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = torch.ones(2, requires_grad=True)
    z = F.apply(x)


def function_mark_dirty_not_returned(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = torch.ones(2, requires_grad=True)
    y = x * 1
    z = F.apply(y)


def function_mark_dirty_view(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = torch.ones(2, 2, requires_grad=True)
    y = x * 1
    z = F.apply(y[0])
    y.sum().backward()
    note(x.grad)


def function_return_input(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 7

    x = torch.ones(2, requires_grad=True)
    y = F.apply(x)
    note(y is x)
    y.sum().backward()
    note(x.grad)


def function_return_view(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view(4)

        @staticmethod
        def backward(ctx, g):
            return g.view(2, 2) * 7

    x = torch.ones(2, 2, requires_grad=True)
    y = F.apply(x)
    y.sum().backward()
    note(x.grad)


def function_return_view_then_inplace(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view(4)

        @staticmethod
        def backward(ctx, g):
            return g.view(2, 2) * 7

    x = torch.ones(2, 2, requires_grad=True)
    y = F.apply(x * 1)
    y.mul_(2)


def gradcheck_of_a_backward_that_is_never_the_same(torch, note):
    class F(torch.autograd.Function):
        count = 0

        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            F.count += 1
            return g * (2 + F.count * 1e-09)

    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    note(torch.autograd.gradcheck(F.apply, (x,), nondet_tol=1e-06, check_undefined_grad=False))
    note(torch.autograd.gradcheck(F.apply, (x,), raise_exception=False))


def gradcheck_of_an_unknown_option(torch, note):
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    note(torch.autograd.gradcheck(torch.sin, (x,), masked=False))
    torch.autograd.gradcheck(torch.sin, (x,), exact=True)


def an_input_returned_as_it_is_and_marked_as_not_differentiable(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, k):
            ctx.mark_non_differentiable(k)
            return (x * 2, k)

        @staticmethod
        def backward(ctx, g, h):
            return (g * 2, None)

    x = torch.ones(2, requires_grad=True)
    k = torch.ones(2)
    y, j = F.apply(x, k)
    note(j, j is k, j.requires_grad)
    j.add_(1)
    y.sum().backward()
    note(x.grad, k)


def the_only_input_returned_as_it_is_and_marked_as_not_differentiable(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_non_differentiable(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g

    x = torch.ones(2, requires_grad=True) * 1
    y = F.apply(x)
    note(y, y is x, y.requires_grad, x.requires_grad)

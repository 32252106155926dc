"""Functions users write."""


def function_with_methods_of_its_own_names(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def _forward(x):
            return x * 3

        @staticmethod
        def _backward(g):
            return g * 3

        @staticmethod
        def _identity(x):
            return x

        @staticmethod
        def forward(ctx, x):
            return F._identity(F._forward(x))

        @staticmethod
        def backward(ctx, g):
            return F._backward(g)

    x = torch.ones(2, requires_grad=True)
    y = F.apply(x)
    y.sum().backward()
    note(y)
    note(x.grad)


def function_grad_for_nondiff(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, k):
            return x * k

        @staticmethod
        def backward(ctx, g):
            return (g, g)

    x = torch.ones(2, requires_grad=True)
    F.apply(x, 3).sum().backward()
    note(x.grad)


def function_multi_out(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return (x * 2, x * 3)

        @staticmethod
        def backward(ctx, a, b):
            note(a, b)
            return a * 2 + b * 3

    x = torch.ones(2, requires_grad=True)
    a, b = F.apply(x)
    note(a.grad_fn is b.grad_fn)
    a.sum().backward()
    note(x.grad)


def function_no_materialize(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return (x * 2, x * 3)

        @staticmethod
        def backward(ctx, a, b):
            note(a, b)
            return a * 2

    x = torch.ones(2, requires_grad=True)
    a, b = F.apply(x)
    a.sum().backward()
    note(x.grad)


def function_nograd_needs(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            note(ctx.needs_input_grad)
            return x * w

        @staticmethod
        def backward(ctx, g):
            return (g, g)

    F.apply(torch.ones(2), torch.ones(2))
    F.apply(torch.ones(2), torch.ones(2, requires_grad=True))
    with torch.no_grad():
        F.apply(torch.ones(2), torch.ones(2, requires_grad=True))


def function_once_diff(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 2 * x

    x = torch.ones(2, requires_grad=True)
    (g,) = torch.autograd.grad(F.apply(x).sum(), x, create_graph=True)
    note(g)
    g.sum().backward()


def function_save_output(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            return g * y

    x = torch.tensor(1.0, requires_grad=True)
    y = F.apply(x)
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    (g2,) = torch.autograd.grad(g, x, create_graph=True)
    note(g, g2)


def function_save_nontensor(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(3)
            return x

        @staticmethod
        def backward(ctx, g):
            return g

    F.apply(torch.ones(2, requires_grad=True))


def function_saved_modified(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 2 * x

    x = torch.ones(2, requires_grad=True)
    y = x * 1
    z = F.apply(y)
    y.mul_(2)
    z.sum().backward()


def function_kwargs(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, k=1):
            return x * k

        @staticmethod
        def backward(ctx, g):
            return (g, None)

    F.apply(torch.ones(2, requires_grad=True), k=2)


def function_setup_context(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(x, k):
            return x * k

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, k = inputs
            ctx.k = k
            note(output)

        @staticmethod
        def backward(ctx, g):
            return (g * ctx.k, None)

    x = torch.ones(2, requires_grad=True)
    F.apply(x, 4.0).sum().backward()
    note(x.grad)


def function_list_arg(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, xs, k):
            return xs[0] * k

        @staticmethod
        def backward(ctx, g):
            return (None, g)

    x = torch.ones(2, requires_grad=True)
    k = torch.ones(2, requires_grad=True)
    F.apply([x, x], k).sum().backward()
    note(x.grad, k.grad)


def function_none_output(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return (x * 2, None, 5)

        @staticmethod
        def backward(ctx, g, a, b):
            note(a, b)
            return g * 2

    x = torch.ones(2, requires_grad=True)
    y, n, k = F.apply(x)
    note(n, k)
    y.sum().backward()
    note(x.grad)


def function_list_output(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return [x * 2, x * 3]

        @staticmethod
        def backward(ctx, *g):
            return g[0] * 2

    x = torch.ones(2, requires_grad=True)
    y = F.apply(x)
    note(type(y).__name__)


def function_instance_call(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    F()(torch.ones(2))


def function_no_forward(torch, note):
    class F(torch.autograd.Function):
        pass

    F.apply(torch.ones(2, requires_grad=True))


def function_no_backward(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    x = torch.ones(2, requires_grad=True)
    F.apply(x).sum().backward()


def function_int_output(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return (x * 2).long()

        @staticmethod
        def backward(ctx, g):
            return g

    x = torch.ones(2, requires_grad=True)
    y = F.apply(x)
    note(y.requires_grad)


def function_backward_in_graph_double(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            note(torch.is_grad_enabled())
            return g * 3 * x**2

    x = torch.tensor(2.0, requires_grad=True)
    (g,) = torch.autograd.grad(F.apply(x), x, create_graph=True)
    g.backward()
    note(g, x.grad)


def function_subclass_same_input_twice(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a * b

        @staticmethod
        def backward(ctx, g):
            return (g, g * 2)

    x = torch.ones(2, requires_grad=True)
    F.apply(x, x).sum().backward()
    note(x.grad)


def function_nonleaf_unused_None(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a * b

        @staticmethod
        def backward(ctx, g):
            return (None, g)

    x = torch.ones(2, requires_grad=True)
    w = torch.ones(2, requires_grad=True)
    F.apply(x, w).sum().backward()
    note(x.grad, w.grad)


def function_saved_after_free(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 2 * x

    x = torch.ones(2, requires_grad=True)
    z = F.apply(x)
    z.sum().backward()
    z.grad_fn.saved_tensors


def function_saved_via_grad_fn(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 2 * x

    x = torch.ones(2, requires_grad=True)
    z = F.apply(x)
    note(z.grad_fn.saved_tensors)


def function_saves_an_output_behind_one_that_is_no_tensor(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 3
            ctx.save_for_backward(y)
            return (5, y)

        @staticmethod
        def backward(ctx, a, g):
            (y,) = ctx.saved_tensors
            return g * y

    x = torch.ones(2, requires_grad=True)
    k, y = F.apply(x)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    note(k, g, torch.autograd.grad(g.sum(), x))


def defaults_in_setup_context(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(x, k=3, b=None):
            return x * k if b is None else x * k + b

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, k, b = inputs
            ctx.k = k
            note(len(inputs), k, b)

        @staticmethod
        def backward(ctx, g):
            return (g * ctx.k, None, None)

    x = torch.ones(2, requires_grad=True)
    F.apply(x).sum().backward()
    note(x.grad)
    F.apply(x, 2)
    F.apply(x, 4, torch.ones(2)).sum().backward()
    note(x.grad)

"""Functions users write, among others in a graph."""


def fn_two_outputs_one_unused(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return (a * 2, a * 3)

        @staticmethod
        def backward(ctx, g, h):
            note(g, h)
            return g * 2 + h * 3

    x = torch.ones(2, requires_grad=True)
    y, z = F.apply(x)
    y.sum().backward()
    note(x.grad, y.grad_fn is z.grad_fn, y.output_nr, z.output_nr)


def fn_no_materialize(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.set_materialize_grads(False)
            return (a * 2, a * 3)

        @staticmethod
        def backward(ctx, g, h):
            note(g, h)
            return g * 2

    x = torch.ones(2, requires_grad=True)
    y, z = F.apply(x)
    y.sum().backward()
    note(x.grad)


def fn_nondiff_output_among_several(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            i = a.argmax()
            m = a * 1.0
            ctx.mark_non_differentiable(i, m)
            return (a * 2, i, m)

        @staticmethod
        def backward(ctx, g, h, k):
            note(g, h, k)
            return g * 2

    x = torch.tensor([1.0, 5.0], requires_grad=True)
    y, i, m = F.apply(x)
    note(i.requires_grad, m.requires_grad)
    y.sum().backward()
    note(x.grad)


def fn_mark_dirty_and_other_output(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            a.mul_(2)
            ctx.mark_dirty(a)
            return (a, a * 3)

        @staticmethod
        def backward(ctx, g, h):
            return g * 2 + h * 6

    x = torch.ones(2, requires_grad=True)
    a = x * 1
    y, z = F.apply(a)
    note(y is a, a._version)
    (y + z).sum().backward()
    note(x.grad)


def fn_setup_context_with_several(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(a, b, k):
            return (a * b, a + k)

        @staticmethod
        def setup_context(ctx, inputs, output):
            a, b, k = inputs
            ctx.save_for_backward(a, b)
            ctx.k = k
            note(output)

        @staticmethod
        def backward(ctx, g, h):
            a, b = ctx.saved_tensors
            note(ctx.needs_input_grad)
            return (g * b + h, g * a, None)

    x = torch.ones(2, requires_grad=True)
    y, z = F.apply(x, torch.ones(2) * 2, 5)
    (y + z).sum().backward()
    note(x.grad)


def fn_none_grads(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, g):
            return (None, g)

    x = torch.ones(2, requires_grad=True)
    w = torch.ones(2, requires_grad=True)
    F.apply(x, w).sum().backward()
    note(x.grad, w.grad)


def fn_all_none(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 1

        @staticmethod
        def backward(ctx, g):
            return None

    x = torch.ones(2, requires_grad=True)
    F.apply(x * 2).sum().backward()
    note(x.grad)


def fn_double_backward(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a**3

        @staticmethod
        def backward(ctx, g):
            (a,) = ctx.saved_tensors
            return g * 3 * a * a

    x = torch.tensor([2.0], requires_grad=True)
    (g,) = torch.autograd.grad(F.apply(x), x, create_graph=True)
    note(g)
    note(torch.autograd.grad(g, x))


def fn_double_backward_through_saved_output(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            r = a.exp()
            ctx.save_for_backward(r)
            return r

        @staticmethod
        def backward(ctx, g):
            (r,) = ctx.saved_tensors
            return g * r

    x = torch.tensor([2.0], requires_grad=True)
    (g,) = torch.autograd.grad(F.apply(x), x, create_graph=True)
    (h,) = torch.autograd.grad(g, x, create_graph=True)
    note(g, h, torch.autograd.grad(h, x))


def fn_once_differentiable_double(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 2

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, g):
            return g * 2

    x = torch.ones(1, requires_grad=True)
    y = F.apply(x * x)
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    note(g)
    g.backward()


def fn_saved_input_modified(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a * 2

        @staticmethod
        def backward(ctx, g):
            (a,) = ctx.saved_tensors
            return g * 2

    x = torch.ones(1, requires_grad=True) * 1
    y = F.apply(x)
    x.add_(1)
    y.backward()


def fn_attribute_on_ctx_not_tensor_saved(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.t = a
            return a * 2

        @staticmethod
        def backward(ctx, g):
            return g * ctx.t

    x = torch.ones(1, requires_grad=True) * 1
    y = F.apply(x)
    x.add_(1)
    y.backward()


def fn_saves_none(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, None, b)
            return a * 2

        @staticmethod
        def backward(ctx, g):
            note([t is None for t in ctx.saved_tensors])
            return (g * 2, None)

    x = torch.ones(1, requires_grad=True)
    F.apply(x, None).backward()
    note(x.grad)


def fn_in_no_grad(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            note(torch.is_grad_enabled(), ctx.needs_input_grad)
            return a * 2

        @staticmethod
        def backward(ctx, g):
            return g

    with torch.no_grad():
        note(F.apply(torch.ones(1, requires_grad=True)))


def fn_enable_grad_inside(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            with torch.enable_grad():
                b = a.detach().requires_grad_()
                c = (b * b).sum()
            ctx.b, ctx.c = (b, c)
            return c.detach()

        @staticmethod
        def backward(ctx, g):
            note(torch.is_grad_enabled())
            return torch.autograd.grad(ctx.c, ctx.b, g)[0]

    x = torch.tensor([1.0, 3.0], requires_grad=True)
    (F.apply(x) * 2).backward()
    note(x.grad)


def fn_input_returned(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return (a, b)

        @staticmethod
        def backward(ctx, g, h):
            return (g * 2, h * 3)

    x = torch.ones(1, requires_grad=True)
    w = torch.ones(1)
    y, z = F.apply(x, w)
    note(y is x, z is w, z.requires_grad, y)
    (y + z).backward()
    note(x.grad)


def fn_input_returned_in_place(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = torch.ones(1, requires_grad=True) * 1
    y = F.apply(x)
    y.add_(1)


def fn_wrong_grad_shape(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 1

        @staticmethod
        def backward(ctx, g):
            return torch.ones(7)

    x = torch.ones(3, requires_grad=True)
    F.apply(x).sum().backward()


def fn_grad_to_be_reduced(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a * b

        @staticmethod
        def backward(ctx, g):
            return (g, g)

    x = torch.ones(3, requires_grad=True)
    w = torch.ones(2, 3, requires_grad=True)
    F.apply(x, w).sum().backward()
    note(x.grad, w.grad)


def fn_hooks_around(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return (a * 1, a * 2)

        @staticmethod
        def backward(ctx, g, h):
            return g + h

    x = torch.ones(2, requires_grad=True)
    y, z = F.apply(x)
    y.register_hook(lambda g: g * 10)
    z.retain_grad()
    y.grad_fn.register_hook(lambda a, b: note(a, b))
    y.grad_fn.register_prehook(lambda b: (b[0] + 1, b[1]))
    (y + z).sum().backward()
    note(x.grad, z.grad)


def fn_dict_of_results(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return {"a": a * 1}

        @staticmethod
        def backward(ctx, g):
            return g

    x = torch.ones(2, requires_grad=True)
    y = F.apply(x)
    note(type(y).__name__, y["a"].requires_grad)


def fn_vjp_spelling(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 2

        @staticmethod
        def vjp(ctx, g):
            return g * 2

    x = torch.ones(2, requires_grad=True)
    F.apply(x).sum().backward()
    note(x.grad)


def fn_both_spellings(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 2

        @staticmethod
        def vjp(ctx, g):
            return g * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    F.apply(torch.ones(2, requires_grad=True)).sum().backward()

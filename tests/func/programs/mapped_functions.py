"""``vmap`` over a ``Function`` that has a rule for it."""


def vmap_rule(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(x, k):
            return x.clone() * k

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.k = inputs[1]

        @staticmethod
        def backward(ctx, g):
            return (g * ctx.k, None)

        @staticmethod
        def vmap(info, in_dims, x, k):
            note("vmap", info.batch_size, info.randomness, in_dims, x.shape, k)
            return (F.apply(x, k) + 100, in_dims[0])

    x = torch.arange(6.0).reshape(2, 3)
    note(torch.vmap(F.apply, in_dims=(0, None))(x, 3))
    note(torch.vmap(lambda x: F.apply(x, 2) * 2 + 1)(x))
    note(torch.vmap(torch.vmap(lambda x: F.apply(x, 2)))(x))
    note(torch.vmap(lambda x: F.apply(x, 2))(torch.arange(3.0)))
    note(torch.func.grad(lambda x: torch.vmap(lambda x: F.apply(x, 2))(x).pow(2).sum())(x))
    note(torch.func.jacrev(lambda x: torch.vmap(lambda x: F.apply(x, 2))(x).pow(2).sum(1))(x))


def vmap_rule_over_two(torch, note):
    class Mul(torch.autograd.Function):
        @staticmethod
        def forward(x, y):
            return (x * y, x + y)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g, h):
            x, y = ctx.saved_tensors
            return (g * y + h, g * x + h)

        @staticmethod
        def vmap(info, in_dims, x, y):
            note("vmap", in_dims)
            x = x.movedim(in_dims[0], 0) if in_dims[0] is not None else x
            y = y.movedim(in_dims[1], 0) if in_dims[1] is not None else y
            return (Mul.apply(x, y), (0, 0))

    x = torch.arange(6.0).reshape(2, 3)
    y = torch.arange(3.0) + 1
    note(torch.vmap(Mul.apply, (0, None))(x, y))
    note(torch.vmap(Mul.apply, (None, 0))(y, x))
    note(torch.vmap(Mul.apply)(x, x))
    note(torch.vmap(lambda a: Mul.apply(a, y)[0])(x))
    note(torch.vmap(Mul.apply, out_dims=(1, 0))(x, x))
    r = torch.arange(6.0).reshape(2, 3).requires_grad_()
    a, b = torch.vmap(Mul.apply, (0, None))(r, y)
    (a * b).sum().backward()
    note(r.grad)
    note(torch.vmap(lambda a: Mul.apply(y, y)[0] * a)(x))


def generated_rule(torch, note):
    class G(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x.exp()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            return g * y * 2

    x = torch.arange(6.0).reshape(2, 3)
    note(torch.vmap(G.apply)(x))
    note(torch.vmap(torch.vmap(G.apply))(x))
    note(torch.vmap(torch.func.grad(lambda x: G.apply(x).sum()))(x))
    note(torch.func.grad(lambda x: torch.vmap(G.apply, 1)(x).sum())(x))
    note(G.generate_vmap_rule, torch.autograd.Function.generate_vmap_rule)


def both_rules(torch, note):
    class G(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x.exp()

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def vmap(info, in_dims, x):
            return (x, 0)

    torch.vmap(G.apply)(torch.ones(2, 2))


def error_in_rule(torch, note):
    class G(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x.exp()

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def vmap(info, in_dims, x):
            raise ValueError("mine")

    torch.vmap(G.apply)(torch.ones(2, 2))


def one_return(torch, note):
    class G(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x.exp()

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def vmap(info, in_dims, x):
            return x

    torch.vmap(G.apply)(torch.ones(2, 2))


def wrong_out_dims(torch, note):
    class G(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x.exp()

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def vmap(info, in_dims, x):
            return ((x, x), (0, 0, 0))

    torch.vmap(G.apply)(torch.ones(2, 2))


def no_rule_of_the_base(torch, note):
    torch.autograd.Function.vmap(None, None)


def function_in_dims_1(torch, note):
    class G(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x.exp()

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def vmap(info, in_dims, x):
            return (x.sum(1 - in_dims[0]), 0)

    note(torch.vmap(G.apply, 1)(torch.arange(6.0).reshape(2, 3)))
    note(torch.vmap(G.apply, -1, out_dims=-1)(torch.arange(6.0).reshape(2, 3)))


def function_out_dim_None(torch, note):
    class G(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x.exp()

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def vmap(info, in_dims, x):
            return (x.sum(), None)

    note(torch.vmap(G.apply)(torch.ones(2, 2)))


def vmap_over_grad(torch, note):
    class G(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x**2

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return H.apply(x, g)

        @staticmethod
        def vmap(info, in_dims, x):
            return (G.apply(x), in_dims[0])

    class H(torch.autograd.Function):
        @staticmethod
        def forward(x, g):
            return g * 2 * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, h):
            x, g = ctx.saved_tensors
            return (h * 2 * g, h * 2 * x)

        @staticmethod
        def vmap(info, in_dims, x, g):
            x = x.movedim(in_dims[0], 0) if in_dims[0] is not None else x
            g = g.movedim(in_dims[1], 0) if in_dims[1] is not None else g
            return (H.apply(x, g), 0)

    x = torch.arange(6.0).reshape(2, 3)
    note(torch.vmap(torch.func.grad(lambda x: G.apply(x).sum()))(x))
    note(
        torch.func.grad(
            lambda x: torch.vmap(torch.func.grad(lambda x: G.apply(x).sum()))(x).pow(2).sum()
        )(x)
    )

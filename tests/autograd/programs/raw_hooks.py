"""Hooks of what is saved."""


def raw_hooks(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    r = y.grad_fn._raw_saved_result
    r.register_hooks(lambda t: note("pack", t) or t * 2, lambda t: note("unpack", t) or t)
    note(y.grad_fn._saved_result)
    y.sum().backward()
    note(x.grad)


def raw_hooks_of_a_factor(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * x
    y.grad_fn._raw_saved_self.register_hooks(lambda t: 3 * t.detach(), lambda t: t)
    y.sum().backward()
    note(x.grad)


def raw_hooks_sin(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x.sin()
    y.grad_fn._raw_saved_self.register_hooks(lambda t: t.detach().clone(), lambda t: t)
    y.sum().backward()
    note(x.grad)


def raw_hooks_twice(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    r = y.grad_fn._raw_saved_result
    r.register_hooks(lambda t: t, lambda t: t)
    r.register_hooks(lambda t: t, lambda t: t)


def raw_hooks_wrong_type(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda t: t, lambda t: 3)
    y.sum().backward()


def raw_hooks_freed(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    r = y.grad_fn._raw_saved_result
    y.sum().backward()
    r.register_hooks(lambda t: t, lambda t: t)


def raw_of_a_function(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * x

    x = torch.ones(2, requires_grad=True)
    y = F.apply(x)
    r = y.grad_fn._raw_saved_tensors
    note(len(r), type(r).__name__)
    r[0].register_hooks(lambda t: t.detach() * 5, lambda t: t)
    y.sum().backward()
    note(x.grad)


def raw_hooks_of_both_factors(torch, note):
    x = torch.ones(2, requires_grad=True)
    z = torch.ones(2, requires_grad=True) * 3
    y = x * z
    f = y.grad_fn
    f._raw_saved_self.register_hooks(lambda t: t.detach() * 2, lambda t: t)
    f._raw_saved_other.register_hooks(lambda t: t.detach() * 5, lambda t: t)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    note(g)


def raw_under_hooks(torch, note):
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda t: t, lambda t: t)


def raw_double_backward(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x.sin()
    y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    note(torch.autograd.grad(g.sum(), x))


def raw_hooks_of_an_argument(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = torch.atan2(x, x * 2)
    y.grad_fn._raw_saved_other.register_hooks(lambda t: t.detach() * 1, lambda t: note("u") or t)
    y.sum().backward()
    note(x.grad)


def raw_pack_in_place(torch, note):
    x = torch.ones(2, requires_grad=True) * 1
    y = x.sin()
    y.grad_fn._raw_saved_self.register_hooks(lambda t: t.add_(1), lambda t: t)


def raw_backward_twice(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda t: t * 2, lambda t: t)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    note(x.grad)
    y.sum().backward()


def allow_mutation_inside_another(torch, note):
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        try:
            with torch.autograd.graph.allow_mutation_on_saved_tensors():
                note("taken")
        except RuntimeError as e:
            note(str(e))
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        note("again")

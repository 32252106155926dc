"""Nodes, edges and what is saved."""


def pack_values_and_grad(torch, note):
    S = torch.autograd.graph.saved_tensors_hooks
    seen = []

    def pack(t):
        seen.append(t.tolist())
        return t.numpy(force=True).copy()

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with S(pack, torch.tensor):
        y = (x * x).exp().sum()
    note(len(seen))
    y.backward()
    note(x.grad)


def pack_what_pack_is_given(torch, note):
    S = torch.autograd.graph.saved_tensors_hooks
    seen = []
    x = torch.ones(2, requires_grad=True)

    def pack(t):
        note(t.requires_grad, t is x, torch.is_grad_enabled())
        return t

    with S(pack, lambda t: t):
        y = (x * x).exp()


def pack_grad_mode_of_unpack(torch, note):
    S = torch.autograd.graph.saved_tensors_hooks
    x = torch.ones(2, requires_grad=True)

    def un(t):
        note(torch.is_grad_enabled())
        return t

    with S(lambda t: t, un):
        y = x.exp().sum()
    y.backward(retain_graph=True)
    y.backward(create_graph=True)
    note(x.grad.requires_grad)


def pack_second_derivative(torch, note):
    S = torch.autograd.graph.saved_tensors_hooks
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with S(lambda t: t.clone(), lambda t: t.clone()):
        y = (x**3 * x.sin()).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    note(g, h)


def pack_innermost_counts(torch, note):
    S = torch.autograd.graph.saved_tensors_hooks
    x = torch.ones(2, requires_grad=True)
    with S(lambda t: 1, lambda t: x):
        with S(lambda t: 2, lambda q: torch.full((2,), 5.0)):
            y = x * x
        z = x * x
    (y + z).sum().backward()
    note(x.grad)


def pack_in_place(torch, note):
    S = torch.autograd.graph.saved_tensors_hooks
    x = torch.ones(2, requires_grad=True) * 1
    with S(lambda t: t.add_(1), lambda t: t):
        x.exp() * x


def pack_bad_unpack(torch, note):
    S = torch.autograd.graph.saved_tensors_hooks
    x = torch.ones(2, requires_grad=True)
    with S(lambda t: t, lambda t: 3):
        y = x * x
    y.sum().backward()


def pack_not_callable(torch, note):
    with torch.autograd.graph.saved_tensors_hooks(1, 2):
        pass


def pack_disabled(torch, note):
    with torch.autograd.graph.disable_saved_tensors_hooks("no no"):
        with torch.autograd.graph.saved_tensors_hooks(id, id):
            pass


def pack_disabled_inside(torch, note):
    with torch.autograd.graph.saved_tensors_hooks(id, id):
        with torch.autograd.graph.disable_saved_tensors_hooks("no no"):
            pass


def pack_modified_afterwards(torch, note):
    S = torch.autograd.graph.saved_tensors_hooks
    x = torch.ones(2, requires_grad=True)
    with S(lambda t: t.clone(), lambda t: t):
        y = x * x
    with torch.no_grad():
        x.add_(1)
    y.sum().backward()
    note(x.grad)


def pack_function(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, q):
            r = q * 2
            ctx.save_for_backward(q, r)
            return r

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            note(a, b)
            return g * a * b

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    n = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: n.append(t.tolist()) or t.clone(), lambda t: t * 1
    ):
        y = F.apply(x)
    y.sum().backward()
    note(n, x.grad)


def pack_freed(torch, note):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        y = x.exp().sum()
    y.backward()
    y.backward()


def pack_error_in_pack(torch, note):
    x = torch.tensor([1.0, 2.0], requires_grad=True)

    def bad(t):
        raise ValueError("bad")

    with torch.autograd.graph.saved_tensors_hooks(bad, lambda t: t):
        y = x.exp().sum()


def pack_error_leaves_no_hooks(torch, note):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    n = []
    try:
        with torch.autograd.graph.saved_tensors_hooks(lambda t: n.append(1), lambda t: t):
            1 / 0
    except ZeroDivisionError:
        pass
    x.exp().sum().backward()
    note(n, x.grad)


def pack_several_results_and_inplace(torch, note):
    x = torch.tensor([[1.0, 2.0], [3.0, 1.0]], requires_grad=True)
    n = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        h = x * 1
        h.mul_(x)
        v, i = h.max(1)
        c = torch.cat([v, v * v])
        s = torch.linalg.norm(c)
    s.backward()
    note(x.grad)


def pack_module(torch, note):
    l = torch.nn.Linear(2, 3)
    n = []
    with torch.no_grad():
        l.weight.fill_(0.5)
        l.bias.fill_(0.1)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        y = torch.nn.functional.softmax(l(torch.ones(4, 2)), 1).log().sum()
    y.backward()
    note(l.weight.grad, l.bias.grad)


def save_on_cpu(torch, note):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.save_on_cpu():
        y = (x * x).sum()
    y.backward()
    note(x.grad)


def mutation_allowed(torch, note):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        y = x.clone()
        z = (y**2).sum()
        y.sin_()
        z.backward()
    note(x.grad)


def multi_hook(torch, note):
    a = torch.ones(2, requires_grad=True)
    b = torch.ones(2, requires_grad=True)
    c = torch.ones(2, requires_grad=True)
    h = torch.autograd.graph.register_multi_grad_hook((a, b, c), lambda gs: note(*gs))
    (a * b * 2).sum().backward()
    (a * 2).sum().backward()
    (a * b * c).sum().backward()
    h.remove()
    (a * b * c).sum().backward()
    note(len(a._backward_hooks or {}))


def multi_hook_nonleaf(torch, note):
    a = torch.ones(2, requires_grad=True)
    b = a * 2
    c = a * 3
    d = b * c
    u = d.split(1)
    h = torch.autograd.graph.register_multi_grad_hook((b, c, u[1]), lambda gs: note(*gs))
    u[0].sum().backward(retain_graph=True)
    (u[1] + u[0]).sum().backward(retain_graph=True)
    torch.autograd.grad(d.sum(), b)


def multi_hook_any(torch, note):
    a = torch.ones(2, requires_grad=True)
    b = torch.ones(2, requires_grad=True)
    h = torch.autograd.graph.register_multi_grad_hook((a, b), lambda g: note(g), mode="any")
    (a * b * 2).sum().backward()
    (a * b * 2).sum().backward()
    b.sum().backward()


def multi_hook_mode(torch, note):
    torch.autograd.graph.register_multi_grad_hook(
        (torch.ones(1, requires_grad=True),), print, mode="x"
    )


def increment_version(torch, note):
    a = torch.ones(2)
    torch.autograd.graph.increment_version(a)
    note(a._version)
    torch.autograd.graph.increment_version([a, a])
    note(a._version)


def increment_version_of_a_saved_one(torch, note):
    a = torch.ones(2, requires_grad=True)
    y = a * a
    torch.autograd.graph.increment_version(a)
    y.sum().backward()


def gradient_edge(torch, note):
    a = torch.ones(2, requires_grad=True)
    q = a * 2
    e = torch.autograd.graph.get_gradient_edge(q)
    s = (q * 3).sum()
    note(e.output_nr, e.node is q.grad_fn, e.node.name())
    note(torch.autograd.grad(s, e))
    note(torch.autograd.grad(e, a, torch.ones(2)))


def gradient_edge_of_a_leaf(torch, note):
    a = torch.ones(2, requires_grad=True)
    e = torch.autograd.graph.get_gradient_edge(a)
    s = (a * 3).sum()
    note(e.node.variable is a)
    note(torch.autograd.grad(s, e, retain_graph=True))
    torch.autograd.backward(s, inputs=[e])
    note(a.grad)


def gradient_edge_of_one_of_several(torch, note):
    a = torch.ones(4, requires_grad=True)
    u, v = a.split(2)
    e = torch.autograd.graph.get_gradient_edge(v)
    note(e.output_nr)
    s = (v * 3).sum() + u.sum()
    note(torch.autograd.grad(s, e, retain_graph=True), torch.autograd.grad(e, a, torch.ones(2)))


def gradient_edge_backward(torch, note):
    a = torch.ones(2, requires_grad=True)
    q = a * 2
    e = torch.autograd.graph.get_gradient_edge(q)
    torch.autograd.backward(e, torch.ones(2))
    note(a.grad)


def gradient_edge_by_hand(torch, note):
    a = torch.ones(2, requires_grad=True)
    q = a * 2
    e = torch.autograd.graph.GradientEdge(q.grad_fn, 0)
    note(torch.autograd.grad(e, a, torch.ones(2)))


def gradient_edge_scalar(torch, note):
    a = torch.ones(2, requires_grad=True)
    e = torch.autograd.graph.get_gradient_edge((a * 2).sum())
    note(torch.autograd.grad(e, a))


def gradient_edge_none(torch, note):
    torch.autograd.graph.get_gradient_edge(torch.ones(1))


def node_types(torch, note):
    a = torch.ones(2, requires_grad=True)
    y = a * 2
    note(
        type(y.grad_fn).__name__,
        isinstance(y.grad_fn, torch.autograd.graph.Node),
        y.grad_fn is y.grad_fn,
        hash(y.grad_fn) == hash(y.grad_fn),
    )
    note(
        y.grad_fn.next_functions[0][0] is y.grad_fn.next_functions[0][0],
        type(y.grad_fn.next_functions[0][0]).__name__,
        y.grad_fn.next_functions[0][0].variable is a,
        y.grad_fn.next_functions[1],
    )
    z = y.exp()
    note(
        z.grad_fn.next_functions[0][0] is y.grad_fn,
        z.grad_fn._saved_result,
        z.grad_fn.requires_grad,
    )
    y.grad_fn.metadata["k"] = 1
    note(y.grad_fn.metadata)


def node_saved(torch, note):
    a = torch.ones(2, requires_grad=True)
    y = a * a
    note(y.grad_fn._saved_self, y.grad_fn._saved_self is a, y.grad_fn._saved_other)
    y.sum().backward()
    y.grad_fn._saved_self


def node_unknown_attribute(torch, note):
    a = torch.ones(2, requires_grad=True)
    y = a * a
    note(hasattr(y.grad_fn, "foo"))
    try:
        y.grad_fn.foo = 3
    except AttributeError:
        note("refused")


def node_function_attributes(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, q):
            ctx.k = 7
            ctx.save_for_backward(q)
            return q * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    a = torch.ones(2, requires_grad=True)
    y = F.apply(a)
    note(
        y.grad_fn.k,
        type(y.grad_fn).__name__,
        y.grad_fn.name(),
        y.grad_fn.saved_tensors,
        y.grad_fn.needs_input_grad,
        y.grad_fn.next_functions[0][0].variable is a,
    )


def accumulate_hooks(torch, note):
    a = torch.ones(2, requires_grad=True)
    n = (a * 1).grad_fn.next_functions[0][0]
    n.register_prehook(lambda g: note("pre", g) or (g[0] * 2,))
    n.register_hook(lambda gi, go: note("post", gi, go, a.grad))
    h = a.register_post_accumulate_grad_hook(lambda t: note("acc", t.grad))
    (a * 3).sum().backward()
    note(a.grad)


def accumulate_order(torch, note):
    a = torch.ones(2, requires_grad=True)
    n = (a * 1).grad_fn.next_functions[0][0]
    a.register_hook(lambda g: note("tensor"))
    n.register_prehook(lambda g: note("pre"))
    (a * 3).sum().backward()


def post_accumulate_steps(torch, note):
    a = torch.ones(2, requires_grad=True)

    def step(t):
        t.sub_(t.grad * 0.5)
        t.grad = None
        note(torch.is_grad_enabled())

    a.register_post_accumulate_grad_hook(step)
    (a * 3).sum().backward()
    note(a, a.grad)


def node_hook_remove(torch, note):
    a = torch.ones(2, requires_grad=True)
    y = a * 2
    h = y.grad_fn.register_hook(lambda *g: note(*g))
    y.sum().backward(retain_graph=True)
    h.remove()
    y.sum().backward()


def node_prehook_none(torch, note):
    a = torch.ones(2, requires_grad=True)
    y = a * 2
    y.grad_fn.register_prehook(lambda g: (g[0] * 5,))
    y.grad_fn.register_hook(lambda gi, go: (gi[0] + 1, None))
    y.sum().backward()
    note(a.grad)

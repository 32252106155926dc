"""Hooks of tensors and nodes, and gradients that are retained."""


def view_inplace_gradient(torch, note):
    x = torch.ones(2, 2, requires_grad=True)
    y = x * 1
    y[0].mul_(3)
    y.sum().backward()
    note(x.grad)


def view_before_base_change(torch, note):
    x = torch.ones(2, 2, requires_grad=True)
    y = x * 1
    v = y[0]
    y.mul_(2)
    note(type(v.grad_fn).__name__ != "NoneType")
    v.sum().backward()
    note(x.grad)


def saved_changed_error(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    y.mul_(2)
    y.sum().backward()


def saved_changed_ok(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x + 1
    y.mul_(2)
    y.sum().backward()
    note(x.grad)


def retain_grad(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    (y * y).sum().backward()
    note(y.grad, y.retains_grad)


def retain_grad_twice(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    z = (y * y).sum()
    z.backward(retain_graph=True)
    z.backward()
    note(y.grad, x.grad)


def retain_grad_leaf(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.retain_grad()
    x.sum().backward()
    note(x.grad, x.retains_grad)


def retain_grad_none(torch, note):
    x = torch.ones(2)
    x.retain_grad()


def retain_grad_after_inplace(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    y.sum().backward()
    note(y.grad, x.grad)


def nonleaf_grad(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.sum().backward()
    note(y.grad)


def hook_changes(torch, note):
    x = torch.ones(2, requires_grad=True)
    h = x.register_hook(lambda g: g * 3)
    x.sum().backward()
    note(x.grad)
    h.remove()
    x.grad = None
    x.sum().backward()
    note(x.grad)


def hook_order(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: note("y1", g))
    y.register_hook(lambda g: g + 1)
    y.register_hook(lambda g: note("y3", g))
    y.sum().backward()
    note(x.grad)


def hook_before_retain(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 10)
    y.sum().backward()
    note(y.grad, x.grad)


def hook_on_no_grad(torch, note):
    torch.ones(2).register_hook(lambda g: g)


def hook_on_accumulated_only_once(torch, note):
    x = torch.ones(2, requires_grad=True)
    c = []
    x.register_hook(lambda g: c.append(1))
    (x * 2 + x * 3).sum().backward()
    note(len(c), x.grad)


def post_accumulate_hook(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda t: note(t.grad))
    (x * 2).sum().backward()


def post_acc_on_nonleaf(torch, note):
    x = torch.ones(2, requires_grad=True)
    (x * 2).register_post_accumulate_grad_hook(lambda t: None)


def hook_with_create_graph(torch, note):
    x = torch.tensor(2.0, requires_grad=True)
    y = x**3
    y.register_hook(lambda g: note(g.requires_grad))
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    note(g)
    g.backward()
    note(x.grad)


def node_hooks(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.grad_fn.register_hook(lambda gi, go: note(len(gi), len(go)))
    y.sum().backward()


def node_prehook(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.grad_fn.register_prehook(lambda go: tuple(g * 2 for g in go))
    y.sum().backward()
    note(x.grad)


def grad_fn_name(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = (x * 2).sum()
    note(y.grad_fn.name(), [f[0].name() for f in y.grad_fn.next_functions])


def tensor_hook_remove_during_with(torch, note):
    x = torch.ones(2, requires_grad=True)
    with x.register_hook(lambda g: g * 5):
        x.sum().backward()
    note(x.grad)
    x.grad = None
    x.sum().backward()
    note(x.grad)


def hook_with_remove_inside(torch, note):
    x = torch.ones(2, requires_grad=True)
    h = [None]

    def f(g):
        h[0].remove()
        return g * 2

    h[0] = x.register_hook(f)
    x.sum().backward()
    note(x.grad)
    x.sum().backward()
    note(x.grad)


def hook_bad_return(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda g: 3)
    x.sum().backward()


def hook_bad_shape(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda g: torch.ones(3))
    x.sum().backward()


def hook_bad_dtype(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda g: g.double())
    x.sum().backward()

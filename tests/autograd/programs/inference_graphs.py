"""Inference tensors in graphs."""


def inference_index(torch, note):
    with torch.inference_mode():
        i = torch.tensor([0, 1])
    x = torch.ones(3, requires_grad=True)
    y = x[i]
    note(y)
    y.sum().backward()
    note(x.grad)


def inference_index_without_gradient(torch, note):
    with torch.inference_mode():
        i = torch.tensor([0, 1])
    x = torch.ones(3)
    note(x[i], x.is_inference())


def inference_mask(torch, note):
    with torch.inference_mode():
        i = torch.tensor([True, False, True])
    x = torch.ones(3, requires_grad=True)
    y = x[i]
    note(y)
    y.sum().backward()
    note(x.grad)


def inference_index_select(torch, note):
    with torch.inference_mode():
        i = torch.tensor([0, 1])
    x = torch.ones(3, requires_grad=True)
    torch.index_select(x, 0, i)


def inference_gather(torch, note):
    with torch.inference_mode():
        i = torch.tensor([0, 1])
    x = torch.ones(3, requires_grad=True)
    torch.gather(x, 0, i)


def inference_masked_fill(torch, note):
    with torch.inference_mode():
        i = torch.tensor([True, False, True])
    x = torch.ones(3, requires_grad=True)
    x.masked_fill(i, 0.0)


def inference_where(torch, note):
    with torch.inference_mode():
        i = torch.tensor([True, False, True])
    x = torch.ones(3, requires_grad=True)
    torch.where(i, x, 0.0)


def inference_masked_select(torch, note):
    with torch.inference_mode():
        i = torch.tensor([True, False, True])
    x = torch.ones(3, requires_grad=True)
    torch.masked_select(x, i)


def inference_take(torch, note):
    with torch.inference_mode():
        i = torch.tensor([0, 1])
    x = torch.ones(3, requires_grad=True)
    torch.take(x, i)


def inference_embedding(torch, note):
    with torch.inference_mode():
        i = torch.tensor([0, 1])
    x = torch.ones(3, 2, requires_grad=True)
    torch.nn.functional.embedding(i, x)


def inference_0_d_index(torch, note):
    with torch.inference_mode():
        i = torch.tensor(1)
    x = torch.ones(3, requires_grad=True)
    y = x[i]
    y.backward()
    note(x.grad)


def inference_index_among_slices(torch, note):
    with torch.inference_mode():
        i = torch.tensor([0, 1])
    x = torch.ones(3, 3, requires_grad=True)
    x[1:, i]


def inference_target(torch, note):
    with torch.inference_mode():
        i = torch.tensor([0, 1])
    x = torch.ones(2, 3, requires_grad=True)
    torch.nn.functional.cross_entropy(x, i)


def inference_nll_target(torch, note):
    with torch.inference_mode():
        i = torch.tensor([0, 1])
    x = torch.ones(2, 3, requires_grad=True)
    torch.nn.functional.nll_loss(x, i)


def inference_scatter_index(torch, note):
    with torch.inference_mode():
        i = torch.tensor([0, 1])
    x = torch.ones(3, requires_grad=True)
    x.scatter(0, i, 2.0)


def inference_index_add(torch, note):
    with torch.inference_mode():
        i = torch.tensor([0, 1])
    x = torch.ones(3, requires_grad=True)
    note(x.index_add(0, i, torch.ones(2)))


def inference_set_item(torch, note):
    with torch.inference_mode():
        i = torch.tensor([0, 1])
    x = torch.ones(3, requires_grad=True) * 1
    x[i] = 2.0
    note(x)


def inference_set_item_with_a_value_of_it(torch, note):
    with torch.inference_mode():
        i = torch.ones(2)
    x = torch.ones(3, requires_grad=True) * 1
    x[:2] = i
    note(x)
    x.sum().backward()


def inference_enable_grad_inside(torch, note):
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        with torch.enable_grad():
            y = x * 2
            note(torch.is_grad_enabled(), torch.is_inference_mode_enabled())
    note(y.requires_grad, y.is_inference(), y.grad_fn)


def inference_set_grad_enabled_inside(torch, note):
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        with torch.set_grad_enabled(True):
            y = (x * 2).sum()
            note(torch.is_grad_enabled())
    note(y.requires_grad, y.is_inference())


def inference_backward_inside_with_enable_grad(torch, note):
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        with torch.enable_grad():
            y = (x * 2).sum()
            y.backward()


def inference_grad_enabled_leaf_made_inside(torch, note):
    with torch.inference_mode():
        with torch.enable_grad():
            x = torch.ones(2, requires_grad=True)
            y = x * 2
            note(y.requires_grad, x.requires_grad)
    note(y.requires_grad, y.is_leaf)


def inference_view_with_enable_grad_inside(torch, note):
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        with torch.enable_grad():
            y = x[0]
            z = x.view(2, 1)
    note(y.requires_grad, y.is_inference(), z.requires_grad, z.grad_fn)


def inference_in_place_with_enable_grad_inside(torch, note):
    x = torch.ones(2, requires_grad=True) * 1
    with torch.inference_mode():
        with torch.enable_grad():
            x.mul_(2)
    note(x, x.requires_grad, x._version, type(x.grad_fn).__name__)


def inference_leaf_in_place_with_enable_grad_inside(torch, note):
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        with torch.enable_grad():
            x.mul_(2)
    note(x)


def inference_module_with_enable_grad_inside(torch, note):
    m = torch.nn.Linear(2, 2)
    with torch.inference_mode():
        with torch.enable_grad():
            y = m(torch.ones(1, 2))
    note(y.requires_grad, y.is_inference())


def inference_normal_mode_inside(torch, note):
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        with torch.inference_mode(False):
            y = x * 2
            note(torch.is_grad_enabled())
    note(y.requires_grad, y.is_inference())
    y.sum().backward()
    note(x.grad)


def inference_no_grad_inside_normal_mode_inside(torch, note):
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        with torch.inference_mode(False):
            with torch.no_grad():
                y = x * 2
    note(y.requires_grad, y.is_inference())


def inference_set_grad_enabled_call_inside(torch, note):
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        torch.set_grad_enabled(True)
        y = x * 2
    note(y.requires_grad, torch.is_grad_enabled())


def inference_requires_grad__inside(torch, note):
    with torch.inference_mode():
        x = torch.ones(2)
        x.requires_grad_()
        y = x * 2
        note(x.requires_grad, y.requires_grad)


def inference_several_results(torch, note):
    x = torch.ones(2, 3, requires_grad=True)
    with torch.inference_mode():
        with torch.enable_grad():
            a, b = x.max(1)
            c = x.split(1)
            d = torch.linalg.svd(x)
    note(a.requires_grad, c[0].requires_grad, d[0].requires_grad)


def inference_checkpoint(torch, note):
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        with torch.enable_grad():
            y = torch.utils.checkpoint.checkpoint(torch.exp, x, use_reentrant=False)
    note(y.requires_grad)

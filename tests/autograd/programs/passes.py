"""Inputs of passes, passes twice, and what is written in place between."""

import warnings


def backward_twice_what_is_written_in_place(torch, note):
    x = torch.ones(3, requires_grad=True)
    y = x.clone()
    y[0] = 2
    z = y.sum()
    z.backward()
    z.backward()


def backward_twice_in_place_through_a_view(torch, note):
    x = torch.ones(3, requires_grad=True)
    y = x.clone()
    y[1:].add_(2)
    z = y.sum()
    z.backward()
    z.backward()


def backward_twice_by_an_index_and_by_a_slice(torch, note):
    x = torch.ones(3, requires_grad=True)
    y = x[1:].sum() + x[0]
    y.backward()
    y.backward()
    note(x.grad)
    y = x[[0, 1]].sum()
    y.backward()
    note(x.grad)
    y.backward()


def backward_twice_copied(torch, note):
    x = torch.ones(3, requires_grad=True)
    y = torch.zeros(3)
    y.copy_(x)
    z = y.sum()
    z.backward()
    z.backward()
    note(x.grad)


def backward_twice_lerp_in_place_by_a_number(torch, note):
    x = torch.ones(3, requires_grad=True)
    y = x.clone().lerp_(torch.zeros(3), 0.3).sum()
    y.backward()
    y.backward()
    note(x.grad)


def in_place_by_a_number_where_no_node_saves_the_old_value(torch, note):
    x = torch.ones(3, requires_grad=True)
    y = x.clone()
    z = y.mul_(2).add_(1)
    (z * 3).sum().backward()
    note(x.grad)


def inputs_a_non_leaf_keeps_its_gradient_from_then_on(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    z = y * 3
    note(y.retains_grad)
    z.sum().backward(inputs=[y], retain_graph=True)
    note(y.retains_grad, z.retains_grad, x.retains_grad)
    note(y.grad, x.grad)
    z.sum().backward()
    note(y.grad, x.grad)


def inputs_a_non_leaf_that_keeps_its_gradient_already(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    z = y * 3
    z.sum().backward(inputs=[y, x], retain_graph=True)
    note(y.grad, x.grad)
    z.sum().backward()
    note(y.grad, x.grad, y.retains_grad)


def inputs_a_non_leaf_whose_hooks_change_its_gradient(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: g * 2)
    z = y * 3
    z.sum().backward(inputs=[y, x])
    note(y.grad, x.grad)


def inputs_a_non_leaf_twice(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    z = y * 3
    z.sum().backward(inputs=[y, y])
    note(y.grad, x.grad)


def inputs_a_non_leaf_that_nothing_was_computed_from(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    z = x * 3
    z.sum().backward(inputs=[y])
    note(y.grad, x.grad)
    note(y.retains_grad)


def inputs_what_requires_no_gradient(torch, note):
    x = torch.ones(2, requires_grad=True)
    (x * 2).sum().backward(inputs=[torch.ones(2)])


def nearest_pixels_the_gradient_of_a_grid(torch, note):
    F = torch.nn.functional
    for same in (True, False):
        x = torch.arange(4.0).reshape(1, 1, 2, 2).requires_grad_(same)
        g = torch.tensor([[[[0.3, -0.4], [7.0, float("nan")]]]], requires_grad=True)
        y = F.grid_sample(x, g, mode="nearest", align_corners=False)
        note(y)
        y.sum().backward()
        note(g.grad, x.grad)


def grad_materialized_and_recorded(torch, note):
    x = torch.tensor(0.5, requires_grad=True)
    a = torch.tensor(1.0, requires_grad=True)
    g = torch.autograd.grad(x * a, x, create_graph=True)
    h = torch.autograd.grad(g, x, create_graph=True, materialize_grads=True)
    note(h)
    note(torch.autograd.grad(h, x, materialize_grads=True))


def grad_of_an_edge_that_is_not_reached(torch, note):
    x = torch.ones(2, requires_grad=True)
    e = torch.autograd.graph.get_gradient_edge(x * 2)
    note(torch.autograd.grad((x * 3).sum(), e, allow_unused=True))
    try:
        torch.autograd.grad((x * 3).sum(), e, materialize_grads=True)
    except RuntimeError as error:
        note(str(error))


def backward_into_edges(torch, note):
    e = torch.autograd.graph.get_gradient_edge
    l = torch.ones(2, requires_grad=True)
    x = l.clone()
    y = l.clone()
    y.retain_grad()
    torch.autograd.backward((x * 2 + y * 3).sum(), inputs=(e(x), e(y)))
    note(x.grad, y.grad, l.grad)
    torch.autograd.backward((l * 5).sum(), inputs=(e(l),))
    note(l.grad)


def grad_modes_decorate_a_class(torch, note):
    for mode in (
        torch.no_grad(),
        torch.no_grad,
        torch.enable_grad(),
        torch.inference_mode(),
        torch.set_grad_enabled(False),
    ):
        torch.set_grad_enabled(True)
        with warnings.catch_warnings(record=True) as w:
            warnings.simplefilter("always")

            @mode
            class A:
                def __init__(self):
                    self.on = (torch.is_grad_enabled(), torch.is_inference_mode_enabled())

                def now(self):
                    return torch.is_grad_enabled()

        note(A().on, A().now(), [(i.category.__name__, str(i.message)) for i in w])


def grad_of_a_batch_of_the_wrong_shape(torch, note):
    x = torch.ones(3, requires_grad=True)
    note(torch.autograd.grad(x * x, x, torch.eye(3), is_grads_batched=True))
    for g in (torch.eye(2), torch.ones(3), torch.ones(2, 3, 1)):
        try:
            torch.autograd.grad(x * x, x, g, is_grads_batched=True)
        except RuntimeError as e:
            note(str(e)[:90])


def variables_of_all_kinds(torch, note):
    V = torch.autograd.Variable
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter("always")
        for make in (
            lambda: V([1, 2]),
            lambda: V(3),
            lambda: V(),
            lambda: V(None),
            lambda: V(torch.ones(2), volatile=True),
            lambda: V(torch.ones(2), volatile=False),
            lambda: V(torch.ones(2), True),
            lambda: V(torch.ones(2, requires_grad=True) * 2),
        ):
            try:
                note(make())
            except TypeError as e:
                note(str(e))
    note([str(i.message)[:40] for i in w])

"""Marks that a ``Function`` sets on its inputs and outputs, such as ``mark_dirty``."""

import warnings


def function_returns_an_input_as_it_is_and_saves_it_with_setup_context(torch, note):
    for save in ("save_for_backward", "save_for_forward"):
        for at in (0, 1):

            class F(torch.autograd.Function):
                @staticmethod
                def forward(x):
                    return x

                @staticmethod
                def setup_context(ctx, inputs, output):
                    getattr(ctx, save)((inputs[0], output)[at])

                @staticmethod
                def backward(ctx, g):
                    return g

            for grad in (True, False):
                try:
                    note(F.apply(torch.ones(2, requires_grad=grad).clone()))
                except RuntimeError as e:
                    note(str(e)[:75])


def function_returns_an_input_as_it_is_saves_it_and_changed_it_in_place(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x.mul_(2)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.mark_dirty(inputs[0])
            ctx.save_for_backward(output)

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    x = torch.ones(2, requires_grad=True)
    F.apply(x.clone()).sum().backward()
    note(x.grad)


def function_changes_a_view_and_returns_several(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return (x.mul_(2), x * 1)

        @staticmethod
        def backward(ctx, g, h):
            return g + h

    for grad in (False, True):
        try:
            note(F.apply(torch.ones(2, requires_grad=grad).clone()[0])[0])
        except RuntimeError as e:
            note(str(e)[:150])


def function_marks_what_is_no_input_as_changed(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.mark_dirty(y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g * 2

    for grad in (False, True):
        with warnings.catch_warnings(record=True) as w:
            warnings.simplefilter("always")
            y = F.apply(torch.ones(2, requires_grad=grad))
            note(y, y._version, [str(i.message)[:60] for i in w])


def function_marks_a_number_as_changed(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(3)
            return x

    F.apply(torch.ones(2))


def function_marks_a_number_as_not_differentiable(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_non_differentiable(3)
            return x * 2

    F.apply(torch.ones(2))


def function_marks_as_changed_what_it_does_not_return_recorded_or_not(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g

    for grad in (False, True):
        try:
            note(F.apply(torch.ones(2, requires_grad=grad).clone()))
        except RuntimeError as e:
            note(str(e)[:80])


def function_changes_in_place_what_is_not_differentiable(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            ctx.mark_non_differentiable(x)
            return x.add_(1)

        @staticmethod
        def backward(ctx, g):
            return g

    for grad in (False, True):
        x = torch.ones(2, requires_grad=grad).clone()
        y = F.apply(x)
        note(x, y, x._version, y.grad_fn is None)


def function_saves_what_is_no_tensor_recorded_or_not(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, 3)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g

    for grad in (False, True):
        try:
            note(F.apply(torch.ones(2, requires_grad=grad)))
        except TypeError as e:
            note(str(e))


def function_asks_for_its_tensors_by_their_former_name(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return 2 * g * ctx.saved_variables[0]

    x = torch.ones(2, requires_grad=True)
    y = F.apply(x)
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter("always")
        y.sum().backward()
    note(x.grad, [(i.category.__name__, str(i.message)) for i in w])


def function_gives_a_complex_gradient_of_a_real_input(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 1j

    x = torch.ones(2, requires_grad=True)
    F.apply(x).sum().backward()


def function_gives_a_real_gradient_of_a_complex_input(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.real * 2

        @staticmethod
        def backward(ctx, g):
            return g * 3

    x = torch.ones(2, dtype=torch.complex64, requires_grad=True)
    F.apply(x).sum().backward()
    note(x.grad.real)


def function_that_notes_whether_it_works_in_place(torch, note):
    class F(torch.autograd.function.InplaceFunction):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.add_(1)

        @staticmethod
        def backward(ctx, g):
            return g

    x = torch.ones(2, requires_grad=True)
    F.apply(x.clone()).sum().backward()
    note(x.grad)
    note(F(True).inplace, F().inplace)


def node_of_a_function_takes_attributes(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.k = 3
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * ctx.k

    x = torch.ones(2, requires_grad=True)
    y = F.apply(x)
    n = y.grad_fn
    note(n.k)
    n.k = 5
    n.note = "seen"
    note(y.grad_fn.note)
    y.sum().backward()
    note(x.grad)
    try:
        (x * 2).grad_fn.note = 1
    except Exception as e:
        note(type(e).__name__)
    try:
        (x * 2).grad_fn.next_functions[0][0].note = 1
    except Exception as e:
        note(type(e).__name__)

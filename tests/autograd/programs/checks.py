"""``gradcheck`` and what it refuses."""

import importlib


def gradcheck_of_a_wrong_jvp(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

        @staticmethod
        def jvp(ctx, t):
            return t * 3

    x = torch.tensor([0.3, 0.7], dtype=torch.float64, requires_grad=True)
    note(torch.autograd.gradcheck(F.apply, x))
    note(torch.autograd.gradcheck(F.apply, x, check_forward_ad=True, raise_exception=False))
    torch.autograd.gradcheck(F.apply, x, check_forward_ad=True, check_backward_ad=False)


def gradcheck_of_a_function_with_jvp_alone(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def jvp(ctx, t):
            return t * 2

    x = torch.tensor([0.3, 0.7], dtype=torch.float64, requires_grad=True)
    note(torch.autograd.gradcheck(F.apply, x, check_forward_ad=True, check_backward_ad=False))


def gradcheck_of_tangents_real_and_complex(torch, note):
    x = torch.tensor([0.3, 0.7], dtype=torch.float64, requires_grad=True)
    z = torch.tensor([0.3 + 0.2j, 0.7 - 1j], dtype=torch.complex128, requires_grad=True)
    for f in (
        lambda x, z: x * z.sin(),
        lambda x, z: (z.abs() * x, z.conj() * x),
        lambda x, z: torch.view_as_real(z) * x,
    ):
        note(torch.autograd.gradcheck(f, (x, z), check_forward_ad=True))
    note(torch.autograd.gradcheck(lambda x: torch.complex(x, x * x), x, check_forward_ad=True))
    note(torch.autograd.gradgradcheck(lambda z: z.sin() * z, z, check_fwd_over_rev=True))


def gradcheck_of_nothing(torch, note):
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    f = lambda x: x * x
    g = torch.autograd
    for check in (
        lambda: g.gradcheck(f, x, check_backward_ad=False),
        lambda: g.gradcheck(
            f, x, check_forward_ad=True, check_backward_ad=False, check_batched_grad=True
        ),
        lambda: g.gradcheck(f, x, check_batched_forward_grad=True),
        lambda: g.gradgradcheck(f, x, check_rev_over_rev=False),
    ):
        try:
            check()
        except AssertionError as e:
            note(str(e))


def gradcheck_of_an_input_in_another_order(torch, note):
    x = torch.arange(6.0, dtype=torch.float64).reshape(2, 3).t().requires_grad_()
    note(torch.autograd.gradcheck(lambda x: x * x, x), x)


def gradcheck_of_an_input_that_overlaps_itself(torch, note):
    try:
        torch.autograd.gradcheck(
            lambda x: x * x, torch.ones(1, dtype=torch.float64).expand(3).requires_grad_()
        )
    except RuntimeError as e:
        note(str(e))


def gradcheck_of_a_gradient_that_takes_no_account_of_what_comes_in(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.sum() * 2

        @staticmethod
        def backward(ctx, g):
            return torch.full((2,), 2.0, dtype=torch.float64)

    try:
        torch.autograd.gradcheck(F.apply, torch.ones(2, dtype=torch.float64, requires_grad=True))
    except RuntimeError as e:
        note(type(e).__name__, str(e))


def gradcheck_of_a_result_that_changes_its_shape(torch, note):
    calls = [0]

    def f(x):
        calls[0] += 1
        return x.repeat(calls[0])

    try:
        torch.autograd.gradcheck(f, torch.ones(2, dtype=torch.float64, requires_grad=True))
    except AssertionError as e:
        note(str(e)[:79])


def gradcheck_of_a_function_with_a_hook(torch, note):
    def f(x):
        y = x * 1
        y.register_hook(lambda g: g + 0.01)
        return y

    torch.autograd.gradcheck(f, torch.ones(2, dtype=torch.float64, requires_grad=True))


def gradcheck_of_a_function_that_asks_what_requires_grad(torch, note):
    def f(x):
        assert x.requires_grad and torch.is_grad_enabled()
        return x * x

    note(torch.autograd.gradcheck(f, torch.ones(2, dtype=torch.float64, requires_grad=True)))


def jvp_of_another_number_of_tangents_and_of_what_is_not_differentiable(torch, note):
    fw = importlib.import_module(torch.__name__ + ".autograd.forward_ad")

    def function(jvp):

        class F(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                y = x * 3
                ctx.mark_non_differentiable(y)
                return (x * 2, y)

            @staticmethod
            def backward(ctx, g, h):
                return g * 2

        F.jvp = staticmethod(jvp)
        return F.apply

    for jvp in (
        lambda c, t: t * 2,
        lambda c, t: (t * 2, t),
        lambda c, t: (t * 2, None),
        lambda c, t: (t, None, t),
    ):
        with fw.dual_level():
            try:
                made = function(jvp)(fw.make_dual(torch.ones(2), torch.tensor([3.0, 4.0])))
                note([fw.unpack_dual(m).tangent for m in made])
            except RuntimeError as e:
                note(" ".join(str(e).split())[:110])


def gradcheck_of_a_result_that_changes_its_dtype(torch, note):
    def f(x):
        calls[0] += 1
        return x.to([torch.float32, torch.float64][calls[0] % 2])

    calls = [0]
    try:
        torch.autograd.gradcheck(f, torch.ones(2, dtype=torch.float64, requires_grad=True))
    except AssertionError as e:
        note(str(e)[:79])


def gradcheck_empty_outputs(torch, note):
    x = torch.ones(0, dtype=torch.float64, requires_grad=True)
    note(
        torch.autograd.gradcheck(lambda x: x * 2, (x,)),
        torch.autograd.gradgradcheck(lambda x: x * 2, (x,)),
    )


def gradcheck_empty_output_nonempty_input(torch, note):
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    note(torch.autograd.gradcheck(lambda x: x[:0] * 2, (x,)))
    note(torch.autograd.gradgradcheck(lambda x: x[:0] * 2, (x,)))
    note(
        torch.autograd.gradgradcheck(
            lambda x: x * x, (x,), check_fwd_over_rev=True, check_rev_over_rev=True
        )
    )


def gradgradcheck_empty_plus_other(torch, note):
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    note(torch.autograd.gradgradcheck(lambda x: (x[:0] ** 2, x**3), (x,)))


def gradcheck_fail_return(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 3

    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    note(torch.autograd.gradcheck(F.apply, (x,), raise_exception=False))


def gradcheck_passes_over_outputs_without_history(torch, note):
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    note(torch.autograd.gradcheck(lambda x: (x * 2, x.detach() * 3), (x,)))
    note(torch.autograd.gradcheck(lambda x: torch.ones(2, dtype=torch.float64), (x,)))


def gradcheck_without_any_history(torch, note):
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    torch.autograd.gradcheck(lambda x: x.detach() * 3, (x,))


def gradcheck_no_inputs(torch, note):
    torch.autograd.gradcheck(lambda x: x, (torch.ones(2, dtype=torch.float64),))

"""Short programs for ``test_short_programs``: what a ``Function`` says of tensors it is given.

Each begins with its name behind a ``#``; ``p`` notes values.
"""

PROGRAMS = r"""
# function returns an input as it is and saves it, with setup_context
for save in ("save_for_backward","save_for_forward"):
    for at in (0,1):
        class F(L.autograd.Function):
            @staticmethod
            def forward(x): return x
            @staticmethod
            def setup_context(ctx,inputs,output): getattr(ctx,save)((inputs[0],output)[at])
            @staticmethod
            def backward(ctx,g): return g
        for grad in (True,False):
            try: p(F.apply(L.ones(2,requires_grad=grad).clone()))
            except RuntimeError as e: p(str(e)[:75])
# function returns an input as it is, saves it and changed it in place
class F(L.autograd.Function):
    @staticmethod
    def forward(x): return x.mul_(2)
    @staticmethod
    def setup_context(ctx,inputs,output): ctx.mark_dirty(inputs[0]); ctx.save_for_backward(output)
    @staticmethod
    def backward(ctx,g): return g*ctx.saved_tensors[0]
x=L.ones(2,requires_grad=True); F.apply(x.clone()).sum().backward(); p(x.grad)
# function changes a view and returns several
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): ctx.mark_dirty(x); return x.mul_(2), x*1
    @staticmethod
    def backward(ctx,g,h): return g+h
for grad in (False,True):
    try: p(F.apply(L.ones(2,requires_grad=grad).clone()[0])[0])
    except RuntimeError as e: p(str(e)[:150])
# function marks what is no input as changed
import warnings
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): y=x*2; ctx.mark_dirty(y); return y
    @staticmethod
    def backward(ctx,g): return g*2
for grad in (False,True):
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter("always")
        y=F.apply(L.ones(2,requires_grad=grad)); p(y,y._version,[str(i.message)[:60] for i in w])
# function marks a number as changed
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): ctx.mark_dirty(3); return x
F.apply(L.ones(2))
# function marks a number as not differentiable
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): ctx.mark_non_differentiable(3); return x*2
F.apply(L.ones(2))
# function marks as changed what it does not return, recorded or not
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): ctx.mark_dirty(x); return x*2
    @staticmethod
    def backward(ctx,g): return g
for grad in (False,True):
    try: p(F.apply(L.ones(2,requires_grad=grad).clone()))
    except RuntimeError as e: p(str(e)[:80])
# function changes in place what is not differentiable
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): ctx.mark_dirty(x); ctx.mark_non_differentiable(x); return x.add_(1)
    @staticmethod
    def backward(ctx,g): return g
for grad in (False,True):
    x=L.ones(2,requires_grad=grad).clone(); y=F.apply(x); p(x,y,x._version,y.grad_fn is None)
# function saves what is no tensor, recorded or not
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): ctx.save_for_backward(x,3); return x*2
    @staticmethod
    def backward(ctx,g): return g
for grad in (False,True):
    try: p(F.apply(L.ones(2,requires_grad=grad)))
    except TypeError as e: p(str(e))
# function asks for its tensors by their former name
import warnings
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): ctx.save_for_backward(x); return x*x
    @staticmethod
    def backward(ctx,g): return 2*g*ctx.saved_variables[0]
x=L.ones(2,requires_grad=True); y=F.apply(x)
with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter("always"); y.sum().backward()
p(x.grad,[(i.category.__name__,str(i.message)) for i in w])
# function gives a complex gradient of a real input
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): return x*2
    @staticmethod
    def backward(ctx,g): return g*1j
x=L.ones(2,requires_grad=True); F.apply(x).sum().backward()
# function gives a real gradient of a complex input
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): return x.real*2
    @staticmethod
    def backward(ctx,g): return g*3
x=L.ones(2,dtype=L.complex64,requires_grad=True); F.apply(x).sum().backward(); p(x.grad.real)
# function that notes whether it works in place
class F(L.autograd.function.InplaceFunction):
    @staticmethod
    def forward(ctx,x): ctx.mark_dirty(x); return x.add_(1)
    @staticmethod
    def backward(ctx,g): return g
x=L.ones(2,requires_grad=True); F.apply(x.clone()).sum().backward(); p(x.grad)
p(F(True).inplace,F().inplace)
# node of a function takes attributes
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): ctx.k=3; return x*2
    @staticmethod
    def backward(ctx,g): return g*ctx.k
x=L.ones(2,requires_grad=True); y=F.apply(x)
n=y.grad_fn; p(n.k); n.k=5; n.note="seen"; p(y.grad_fn.note)
y.sum().backward(); p(x.grad)
try: (x*2).grad_fn.note=1
except Exception as e: p(type(e).__name__)
try: (x*2).grad_fn.next_functions[0][0].note=1
except Exception as e: p(type(e).__name__)
"""

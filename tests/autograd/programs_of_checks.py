"""Short programs for ``test_short_programs``: ``gradcheck`` and what it refuses.

Each begins with its name behind a ``#``; ``p`` notes values.
"""

PROGRAMS = r"""
# gradcheck of a wrong jvp
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): return x*2
    @staticmethod
    def backward(ctx,g): return g*2
    @staticmethod
    def jvp(ctx,t): return t*3
x=L.tensor([0.3,0.7],dtype=L.float64,requires_grad=True); p(L.autograd.gradcheck(F.apply,x))
p(L.autograd.gradcheck(F.apply,x,check_forward_ad=True,raise_exception=False))
L.autograd.gradcheck(F.apply,x,check_forward_ad=True,check_backward_ad=False)
# gradcheck of a function with jvp alone
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): return x*2
    @staticmethod
    def jvp(ctx,t): return t*2
x=L.tensor([0.3,0.7],dtype=L.float64,requires_grad=True)
p(L.autograd.gradcheck(F.apply,x,check_forward_ad=True,check_backward_ad=False))
# gradcheck of tangents, real and complex
x=L.tensor([0.3,0.7],dtype=L.float64,requires_grad=True)
z=L.tensor([0.3+0.2j,0.7-1j],dtype=L.complex128,requires_grad=True)
for f in (lambda x,z: x*z.sin(), lambda x,z: (z.abs()*x,z.conj()*x),
          lambda x,z: L.view_as_real(z)*x):
    p(L.autograd.gradcheck(f,(x,z),check_forward_ad=True))
p(L.autograd.gradcheck(lambda x: L.complex(x,x*x),x,check_forward_ad=True))
p(L.autograd.gradgradcheck(lambda z: z.sin()*z,z,check_fwd_over_rev=True))
# gradcheck of nothing
x=L.ones(2,dtype=L.float64,requires_grad=True); f=lambda x: x*x; g=L.autograd
for check in (lambda: g.gradcheck(f,x,check_backward_ad=False),
              lambda: g.gradcheck(f,x,check_forward_ad=True,check_backward_ad=False,
                                  check_batched_grad=True),
              lambda: g.gradcheck(f,x,check_batched_forward_grad=True),
              lambda: g.gradgradcheck(f,x,check_rev_over_rev=False)):
    try: check()
    except AssertionError as e: p(str(e))
# gradcheck of an input in another order
x=L.arange(6.,dtype=L.float64).reshape(2,3).t().requires_grad_()
p(L.autograd.gradcheck(lambda x: x*x,x),x)
# gradcheck of an input that overlaps itself
try: L.autograd.gradcheck(lambda x: x*x,L.ones(1,dtype=L.float64).expand(3).requires_grad_())
except RuntimeError as e: p(str(e))
# gradcheck of a gradient that takes no account of what comes in
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): return x.sum()*2
    @staticmethod
    def backward(ctx,g): return L.full((2,),2.,dtype=L.float64)
try: L.autograd.gradcheck(F.apply,L.ones(2,dtype=L.float64,requires_grad=True))
except RuntimeError as e: p(type(e).__name__,str(e))
# gradcheck of a result that changes its shape
calls=[0]
def f(x): calls[0]+=1; return x.repeat(calls[0])
try: L.autograd.gradcheck(f,L.ones(2,dtype=L.float64,requires_grad=True))
except AssertionError as e: p(str(e)[:79])
# gradcheck of a function with a hook
def f(x):
    y=x*1; y.register_hook(lambda g: g+1e-2); return y
L.autograd.gradcheck(f,L.ones(2,dtype=L.float64,requires_grad=True))
# gradcheck of a function that asks what requires grad
def f(x):
    assert x.requires_grad and L.is_grad_enabled()
    return x*x
p(L.autograd.gradcheck(f,L.ones(2,dtype=L.float64,requires_grad=True)))
# jvp of another number of tangents, and of what is not differentiable
import importlib
fw=importlib.import_module(L.__name__+".autograd.forward_ad")
def function(jvp):
    class F(L.autograd.Function):
        @staticmethod
        def forward(ctx,x):
            y=x*3; ctx.mark_non_differentiable(y); return x*2,y
        @staticmethod
        def backward(ctx,g,h): return g*2
    F.jvp=staticmethod(jvp); return F.apply
for jvp in (lambda c,t: t*2, lambda c,t: (t*2,t), lambda c,t: (t*2,None), lambda c,t: (t,None,t)):
    with fw.dual_level():
        try:
            made=function(jvp)(fw.make_dual(L.ones(2),L.tensor([3.,4.])))
            p([fw.unpack_dual(m).tangent for m in made])
        except RuntimeError as e: p(" ".join(str(e).split())[:110])
# gradcheck of a result that changes its dtype
def f(x): calls[0]+=1; return x.to([L.float32,L.float64][calls[0]%2])
calls=[0]
try: L.autograd.gradcheck(f,L.ones(2,dtype=L.float64,requires_grad=True))
except AssertionError as e: p(str(e)[:79])
"""

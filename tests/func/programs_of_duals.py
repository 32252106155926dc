"""Short programs for ``test_programs``: dual tensors, ``autograd.forward_ad``, under ``L``.

Their errors have PyTorch's words.
"""

PROGRAMS = r"""
# dual through functions
import importlib; A=importlib.import_module(L.__name__+'.autograd.forward_ad')
x=L.tensor([0.3,2.]); v=L.tensor([1.,-2.])
with A.dual_level():
    d=A.make_dual(x,v)
    p(*A.unpack_dual((d.sin()*d).exp())); p(*A.unpack_dual(L.cat([d,x])[1:]))
    p(*A.unpack_dual(d.sum())); p(*A.unpack_dual(d)); p(A.unpack_dual(x*2)); p(A.unpack_dual(d>1))
    p(*A.unpack_dual(d.reshape(2,1)@d.reshape(1,2))); p(A.unpack_dual(d.detach()))
    r=A.unpack_dual(d*2); p(r.primal, r.tangent, r.primal.requires_grad, r.tangent.requires_grad)
# two duals
import importlib; A=importlib.import_module(L.__name__+'.autograd.forward_ad')
x=L.tensor([0.3,2.]); v=L.tensor([1.,-2.])
with A.dual_level():
    a=A.make_dual(x,v); b=A.make_dual(x*3,v+1)
    p(*A.unpack_dual(a*b)); p(*A.unpack_dual(a/b.sum())); p(*A.unpack_dual(b.cos()))
# dual of a layer
import importlib; A=importlib.import_module(L.__name__+'.autograd.forward_ad')
n=L.nn.Linear(2,3); w=L.arange(6.).reshape(3,2)/7; x=L.tensor([[1.,2.]])
with L.no_grad(): n.weight.copy_(w); n.bias.fill_(1.)
with A.dual_level():
    t={k: L.ones_like(q) for k,q in n.named_parameters()}
    for k,q in list(n.named_parameters()):
        delattr(n,k); setattr(n,k,A.make_dual(q,t[k]))
    o,g=A.unpack_dual(n(x).tanh()); p(o.detach(), g.detach())
# level over reverse
import importlib; A=importlib.import_module(L.__name__+'.autograd.forward_ad')
x=L.tensor([3.,4.],requires_grad=True); v=L.tensor([1.,0.5])
with A.dual_level():
    r=A.unpack_dual((A.make_dual(x,v)**3).sum())
    p(r.primal.detach(), r.tangent.detach(), r.primal.requires_grad, r.tangent.requires_grad)
    p(L.autograd.grad(r.tangent,x), L.autograd.grad(r.primal,x))
# a gradient of duals
import importlib; A=importlib.import_module(L.__name__+'.autograd.forward_ad')
x=L.tensor([3.,4.]); v=L.tensor([1.,0.5])
with A.dual_level():
    g=L.func.grad(lambda x: (x**3).sum())(A.make_dual(x,v)); r=A.unpack_dual(g); p(*r)
# dual of complex
import importlib; A=importlib.import_module(L.__name__+'.autograd.forward_ad')
x=L.tensor([1+2j,3-1j]); v=L.tensor([1j,2+0j])
with A.dual_level():
    d=A.make_dual(x,v); p(*A.unpack_dual(d*d)); p(*A.unpack_dual(d.abs()))
    p(*A.unpack_dual(d.conj()*2)); p(*A.unpack_dual(d.real))
# dual of no dimensions
import importlib; A=importlib.import_module(L.__name__+'.autograd.forward_ad')
with A.dual_level():
    d=A.make_dual(L.tensor(2.),L.tensor(3.)); p(*A.unpack_dual(d**3)); y=d*1; y.mul_(d)
    p(*A.unpack_dual(y))
# dual of doubles
import importlib; A=importlib.import_module(L.__name__+'.autograd.forward_ad')
x=L.tensor([0.3,2.],dtype=L.float64)
with A.dual_level():
    r=A.unpack_dual(A.make_dual(x,x+1).exp()); p(*r, r.tangent.dtype==L.float64)
# level under no_grad
import importlib; A=importlib.import_module(L.__name__+'.autograd.forward_ad')
with L.no_grad(), A.dual_level():
    d=A.make_dual(L.tensor([2.]),L.tensor([3.])); r=A.unpack_dual(d*d)
    p(*r, r.primal.requires_grad)
p(L.is_grad_enabled())
# level as a decorator
import importlib; A=importlib.import_module(L.__name__+'.autograd.forward_ad')
@A.dual_level()
def change(f,x): return A.unpack_dual(f(A.make_dual(x,L.ones_like(x)))).tangent
p(change(L.sin,L.zeros(2)), change(L.cos,L.zeros(2)))
# level after an error
import importlib; A=importlib.import_module(L.__name__+'.autograd.forward_ad')
try:
    with A.dual_level(): 1/0
except ZeroDivisionError: p('caught')
with A.dual_level() as n: p(n)
# levels by hand
import importlib; A=importlib.import_module(L.__name__+'.autograd.forward_ad')
x=L.tensor([2.]); p(A.enter_dual_level())
d=A.make_dual(x,x); p(*A.unpack_dual(d*d,level=0)); A.exit_dual_level(level=0)
p(A.unpack_dual(x)); p(A.unpack_dual(x,level=-1)); p(A.UnpackedDualTensor._fields)
p(A.unpack_dual(d).tangent)
# levels nested
import importlib; A=importlib.import_module(L.__name__+'.autograd.forward_ad')
with A.dual_level():
    A.enter_dual_level()
# no level to make in
import importlib; A=importlib.import_module(L.__name__+'.autograd.forward_ad')
A.make_dual(L.ones(2),L.ones(2))
# no level to exit
import importlib; A=importlib.import_module(L.__name__+'.autograd.forward_ad')
A.exit_dual_level()
# another level to exit
import importlib; A=importlib.import_module(L.__name__+'.autograd.forward_ad')
with A.dual_level():
    A.exit_dual_level(level=4)
# another level to unpack
import importlib; A=importlib.import_module(L.__name__+'.autograd.forward_ad')
with A.dual_level():
    A.unpack_dual(A.make_dual(L.ones(2),L.ones(2)),level=3)
# dual of integers
import importlib; A=importlib.import_module(L.__name__+'.autograd.forward_ad')
with A.dual_level():
    A.make_dual(L.ones(2,dtype=L.int64),L.ones(2))
# tangent of integers
import importlib; A=importlib.import_module(L.__name__+'.autograd.forward_ad')
with A.dual_level():
    A.make_dual(L.ones(2),L.ones(2,dtype=L.int64))
# tangent of another size
import importlib; A=importlib.import_module(L.__name__+'.autograd.forward_ad')
with A.dual_level():
    A.make_dual(L.ones(2),L.ones(3))
# duals written over
import importlib; A=importlib.import_module(L.__name__+'.autograd.forward_ad')
with A.dual_level():
    def dual(): return A.make_dual(L.tensor([0.3,-2.]),L.tensor([1.,-2.]))
    def see(*ds):
        for d in ds: p(*A.unpack_dual(d))
    x=L.tensor([0.3,-2.]); d=A.make_dual(x,L.tensor([1.,-2.])); d.mul_(2); see(d); p(x,x._version)
    d=dual(); d.sin_(); d*=3; d+=1; see(d)
    e=dual(); d.add_(e); see(d,e); d.copy_(L.ones(2)); see(d)
    d=dual(); d[0]=5.; see(d); d[0]=d[1]*3; see(d); d[1:].mul_(3); see(d); d.zero_(); see(d)
    d=dual(); d.masked_fill_(L.tensor([True,False]),0.); see(d)
    d.index_add_(0,L.tensor([0]),L.ones(1)); see(d)
    d=dual(); L.nn.functional.relu(d,inplace=True); see(d); d=dual(); d.uniform_(1.,1.); see(d)
    d=dual(); v=d[:1]; d.mul_(2); see(v); v.add_(v); see(d,v); d.unsqueeze_(0); d.t_(); see(d)
    y=L.ones(2); y.add_(dual()); see(y); y[1:]=dual()[:1]; see(y); y.copy_(dual()); see(y)
    d=dual(); d.mul_(2); see(L.func.grad(lambda x: (x**3).sum())(d))
# duals written over after they were needed
import importlib; A=importlib.import_module(L.__name__+'.autograd.forward_ad')
with A.dual_level(), L.autograd.graph.allow_mutation_on_saved_tensors():
    d=A.make_dual(L.tensor([0.3,-2.]),L.tensor([1.,-2.])); y=d*d; d.exp_(); d.mul_(d); d+=1
    p(*A.unpack_dual(y)); p(*A.unpack_dual(d))
# a part made dual and written over
import importlib; A=importlib.import_module(L.__name__+'.autograd.forward_ad')
with A.dual_level():
    y=L.tensor([0.3,2.])*1; d=A.make_dual(y[:1],L.ones(1)); d.mul_(3); p(*A.unpack_dual(d))
    p(y, A.unpack_dual(y).tangent)
# dual of what was made of a dual
import importlib; A=importlib.import_module(L.__name__+'.autograd.forward_ad')
with A.dual_level():
    A.make_dual(A.make_dual(L.ones(2),L.ones(2))*2,L.ones(2))
# jvp of what writes to its argument
def f(x): x[0]=5.; x.mul_(x[1:]+1); return x+1
x=L.tensor([0.3,2.]); p(L.func.jvp(f,(x,),(L.tensor([1.,-2.]),))); p(x)
x=L.tensor([0.3,2.]); p(L.func.jacfwd(lambda x: x.mul_(2).exp())(x)); p(x)
# dual of a dual
import importlib; A=importlib.import_module(L.__name__+'.autograd.forward_ad')
with A.dual_level():
    A.make_dual(A.make_dual(L.ones(2),L.ones(2)),L.ones(2))
# unpacked number
import importlib; A=importlib.import_module(L.__name__+'.autograd.forward_ad')
with A.dual_level():
    A.unpack_dual(3)
# the jvp of a function
import importlib; A=importlib.import_module(L.__name__+'.autograd.forward_ad')
class Ten(L.autograd.Function):
    @staticmethod
    def forward(ctx,a,k,b):
        ctx.save_for_forward(a,b); ctx.save_for_backward(a+1); ctx.k=k; return a*b*k, a-b
    @staticmethod
    def jvp(ctx,s,_,t):
        a,b=ctx.saved_tensors; return (s*b+t*a)*ctx.k*10, s-t
    @staticmethod
    def backward(ctx,g,h):
        a,=ctx.saved_tensors; return g*a, None, h
x=L.tensor([1.,2.]); v=L.tensor([.5,-1.]); w=L.tensor([2.,5.])
with A.dual_level():
    a=A.make_dual(x,v)
    for b in (w, A.make_dual(w,L.ones(2))):
        for r in Ten.apply(a,3,b): p(*A.unpack_dual(r*2))
x.requires_grad_(); sum(r.sum() for r in Ten.apply(x,3,w)).backward(); p(x.grad)
# jvp without a backward
import importlib; A=importlib.import_module(L.__name__+'.autograd.forward_ad')
class Exp(L.autograd.Function):
    @staticmethod
    def forward(ctx,x):
        ctx.y=x.exp(); return ctx.y
    @staticmethod
    def jvp(ctx,t): return t*ctx.y
with A.dual_level(): p(*A.unpack_dual(Exp.apply(A.make_dual(L.zeros(2),L.tensor([3.,4.])))))
Exp.apply(L.zeros(2,requires_grad=True)).sum().backward()
# jvp by func
class Cube(L.autograd.Function):
    @staticmethod
    def forward(x): return x**3
    @staticmethod
    def setup_context(ctx,inputs,output):
        ctx.save_for_backward(*inputs); ctx.save_for_forward(*inputs)
    @staticmethod
    def jvp(ctx,t): x,=ctx.saved_tensors; return t*3*x**2
    @staticmethod
    def backward(ctx,g): x,=ctx.saved_tensors; return g*3*x**2
p(*L.func.jvp(Cube.apply,(L.tensor([1.,2.]),),(L.tensor([.5,-1.]),)))
# functionalize
x=L.ones(2); p(L.func.functionalize(lambda x: x.clone().add_(1).view(2,1).mul_(3))(x), x)
L.func.functionalize(lambda x: x, remove='views')(x)
# dual tensors as text
import importlib; A=importlib.import_module(L.__name__+'.autograd.forward_ad')
with A.dual_level():
    d=A.make_dual(L.tensor([1.,2.]),L.tensor([3.,4.]))
    p(repr(d),str(d*2),repr(d>1),repr(L.ones(1)),repr(L.ones(1,requires_grad=True)))
    p(str(A.make_dual(L.tensor(1.),L.tensor(2.))),repr(d.double()*1))
    p(repr(A.make_dual(L.ones(2,2),L.arange(4.).reshape(2,2))))
p(repr(L.ones(2)))
"""

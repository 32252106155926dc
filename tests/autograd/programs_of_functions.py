"""Short programs for ``test_short_programs``: functions users write, under ``L``, either library.

Each begins with its name behind a ``#``; ``p`` notes values.
"""

PROGRAMS = r"""
# function with methods of its own names
class F(L.autograd.Function):
    @staticmethod
    def _forward(x): return x*3
    @staticmethod
    def _backward(g): return g*3
    @staticmethod
    def _called(x): return x
    @staticmethod
    def forward(ctx,x): return F._called(F._forward(x))
    @staticmethod
    def backward(ctx,g): return F._backward(g)
x=L.ones(2,requires_grad=True); y=F.apply(x); y.sum().backward(); p(y); p(x.grad)
# function wrong count
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x,k): return x*k
    @staticmethod
    def backward(ctx,g): return g
x=L.ones(2,requires_grad=True); F.apply(x,3).sum().backward()
# function too many grads none
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): return x*2
    @staticmethod
    def backward(ctx,g): return g*2,None,None
x=L.ones(2,requires_grad=True); F.apply(x).sum().backward(); p(x.grad)
# function too many grads
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): return x*2
    @staticmethod
    def backward(ctx,g): return g*2,g
x=L.ones(2,requires_grad=True); F.apply(x).sum().backward(); p(x.grad)
# function grad for nondiff
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x,k): return x*k
    @staticmethod
    def backward(ctx,g): return g,g
x=L.ones(2,requires_grad=True); F.apply(x,3).sum().backward(); p(x.grad)
# function wrong shape
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): return x.sum()
    @staticmethod
    def backward(ctx,g): return L.ones(3)
x=L.ones(2,requires_grad=True); F.apply(x).backward()
# function expand grad
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): return x*2
    @staticmethod
    def backward(ctx,g): return L.ones(5,2)
x=L.ones(2,requires_grad=True); F.apply(x).sum().backward(); p(x.grad)
# function wrong dtype grad
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): return x*2
    @staticmethod
    def backward(ctx,g): return g.double()
x=L.ones(2,requires_grad=True); F.apply(x).sum().backward(); p(x.grad.dtype)
# function returns non tensor grad
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): return x*2
    @staticmethod
    def backward(ctx,g): return 3.0
x=L.ones(2,requires_grad=True); F.apply(x).sum().backward()
# function multi out
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): return x*2,x*3
    @staticmethod
    def backward(ctx,a,b): p(a,b); return a*2+b*3
x=L.ones(2,requires_grad=True); a,b=F.apply(x); p(a.grad_fn is b.grad_fn)
a.sum().backward(); p(x.grad)
# function no materialize
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): ctx.set_materialize_grads(False); return x*2,x*3
    @staticmethod
    def backward(ctx,a,b): p(a,b); return a*2
x=L.ones(2,requires_grad=True); a,b=F.apply(x); a.sum().backward(); p(x.grad)
# function nondiff
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): m,i=x.max(0); j=x*2; ctx.mark_non_differentiable(i,j); return m,i,j
    @staticmethod
    def backward(ctx,g,gi,gj): p(gi,gj); return L.ones(2)*g
x=L.ones(2,requires_grad=True); m,i,j=F.apply(x)
p(m.requires_grad,i.requires_grad,j.requires_grad); m.backward(); p(x.grad)
# function mark dirty
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): x.mul_(2); ctx.mark_dirty(x); return x
    @staticmethod
    def backward(ctx,g): return g*2
x=L.ones(2,requires_grad=True); y=x*1; z=F.apply(y); p(z is y, z); z.sum().backward()
p(x.grad)
# function mark dirty leaf
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): x.mul_(2); ctx.mark_dirty(x); return x
    @staticmethod
    def backward(ctx,g): return g*2
x=L.ones(2,requires_grad=True); z=F.apply(x)
# function mark dirty not returned
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): x.mul_(2); ctx.mark_dirty(x); return x*1
    @staticmethod
    def backward(ctx,g): return g*2
x=L.ones(2,requires_grad=True); y=x*1; z=F.apply(y)
# function mark dirty view
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): x.mul_(2); ctx.mark_dirty(x); return x
    @staticmethod
    def backward(ctx,g): return g*2
x=L.ones(2,2,requires_grad=True); y=x*1; z=F.apply(y[0]); y.sum().backward(); p(x.grad)
# function return input
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): return x
    @staticmethod
    def backward(ctx,g): return g*7
x=L.ones(2,requires_grad=True); y=F.apply(x); p(y is x); y.sum().backward(); p(x.grad)
# function return view
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): return x.view(4)
    @staticmethod
    def backward(ctx,g): return g.view(2,2)*7
x=L.ones(2,2,requires_grad=True); y=F.apply(x); y.sum().backward(); p(x.grad)
# function return view then inplace
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): return x.view(4)
    @staticmethod
    def backward(ctx,g): return g.view(2,2)*7
x=L.ones(2,2,requires_grad=True); y=F.apply(x*1); y.mul_(2)
# function nograd needs
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x,w): p(ctx.needs_input_grad); return x*w
    @staticmethod
    def backward(ctx,g): return g,g
F.apply(L.ones(2),L.ones(2)); F.apply(L.ones(2),L.ones(2,requires_grad=True))
with L.no_grad(): F.apply(L.ones(2),L.ones(2,requires_grad=True))
# function once diff
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): ctx.save_for_backward(x); return x*x
    @staticmethod
    @L.autograd.function.once_differentiable
    def backward(ctx,g): x,=ctx.saved_tensors; return g*2*x
x=L.ones(2,requires_grad=True)
g,=L.autograd.grad(F.apply(x).sum(),x,create_graph=True); p(g); g.sum().backward()
# function save output
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): y=x.exp(); ctx.save_for_backward(y); return y
    @staticmethod
    def backward(ctx,g): y,=ctx.saved_tensors; return g*y
x=L.tensor(1.,requires_grad=True); y=F.apply(x)
g,=L.autograd.grad(y,x,create_graph=True); g2,=L.autograd.grad(g,x,create_graph=True)
p(g,g2)
# function save nontensor
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): ctx.save_for_backward(3); return x
    @staticmethod
    def backward(ctx,g): return g
F.apply(L.ones(2,requires_grad=True))
# function saved modified
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): ctx.save_for_backward(x); return x*x
    @staticmethod
    def backward(ctx,g): x,=ctx.saved_tensors; return g*2*x
x=L.ones(2,requires_grad=True); y=x*1; z=F.apply(y); y.mul_(2); z.sum().backward()
# function kwargs
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x,k=1): return x*k
    @staticmethod
    def backward(ctx,g): return g,None
F.apply(L.ones(2,requires_grad=True),k=2)
# function setup_context
class F(L.autograd.Function):
    @staticmethod
    def forward(x,k): return x*k
    @staticmethod
    def setup_context(ctx,inputs,output): x,k=inputs; ctx.k=k; p(output)
    @staticmethod
    def backward(ctx,g): return g*ctx.k,None
x=L.ones(2,requires_grad=True); F.apply(x,4.).sum().backward(); p(x.grad)
# function list arg
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,xs,k): return xs[0]*k
    @staticmethod
    def backward(ctx,g): return None,g
x=L.ones(2,requires_grad=True); k=L.ones(2,requires_grad=True)
F.apply([x,x],k).sum().backward(); p(x.grad,k.grad)
# function none output
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): return x*2,None,5
    @staticmethod
    def backward(ctx,g,a,b): p(a,b); return g*2
x=L.ones(2,requires_grad=True); y,n,k=F.apply(x); p(n,k); y.sum().backward(); p(x.grad)
# function list output
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): return [x*2,x*3]
    @staticmethod
    def backward(ctx,*g): return g[0]*2
x=L.ones(2,requires_grad=True); y=F.apply(x); p(type(y).__name__)
# function instance call
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): return x*2
    @staticmethod
    def backward(ctx,g): return g*2
F()(L.ones(2))
# function no forward
class F(L.autograd.Function): pass
F.apply(L.ones(2,requires_grad=True))
# function no backward
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): return x*2
x=L.ones(2,requires_grad=True); F.apply(x).sum().backward()
# function int output
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): return (x*2).long()
    @staticmethod
    def backward(ctx,g): return g
x=L.ones(2,requires_grad=True); y=F.apply(x); p(y.requires_grad)
# function backward in graph: double
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): ctx.save_for_backward(x); return x**3
    @staticmethod
    def backward(ctx,g): x,=ctx.saved_tensors; p(L.is_grad_enabled()); return g*3*x**2
x=L.tensor(2.,requires_grad=True); g,=L.autograd.grad(F.apply(x),x,create_graph=True)
g.backward(); p(g,x.grad)
# function subclass same input twice
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,a,b): return a*b
    @staticmethod
    def backward(ctx,g): return g,g*2
x=L.ones(2,requires_grad=True); F.apply(x,x).sum().backward(); p(x.grad)
# function nonleaf unused None
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,a,b): return a*b
    @staticmethod
    def backward(ctx,g): return None,g
x=L.ones(2,requires_grad=True); w=L.ones(2,requires_grad=True)
F.apply(x,w).sum().backward(); p(x.grad,w.grad)
# function saved after free
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): ctx.save_for_backward(x); return x*x
    @staticmethod
    def backward(ctx,g): x,=ctx.saved_tensors; return g*2*x
x=L.ones(2,requires_grad=True); z=F.apply(x); z.sum().backward()
z.grad_fn.saved_tensors
# function saved via grad_fn
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): ctx.save_for_backward(x); return x*x
    @staticmethod
    def backward(ctx,g): x,=ctx.saved_tensors; return g*2*x
x=L.ones(2,requires_grad=True); z=F.apply(x); p(z.grad_fn.saved_tensors)
# gradcheck of a backward that is never the same
class F(L.autograd.Function):
    count=0
    @staticmethod
    def forward(ctx,x): return x*2
    @staticmethod
    def backward(ctx,g): F.count+=1; return g*(2+F.count*1e-9)
x=L.tensor([1.,2.],dtype=L.float64,requires_grad=True)
p(L.autograd.gradcheck(F.apply,(x,),nondet_tol=1e-6,check_undefined_grad=False))
p(L.autograd.gradcheck(F.apply,(x,),raise_exception=False))
# gradcheck of an unknown option
x=L.ones(2,dtype=L.float64,requires_grad=True); p(L.autograd.gradcheck(L.sin,(x,),masked=False))
L.autograd.gradcheck(L.sin,(x,),exact=True)
# function saves an output behind one that is no tensor
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): y=x*3; ctx.save_for_backward(y); return 5,y
    @staticmethod
    def backward(ctx,a,g): y,=ctx.saved_tensors; return g*y
x=L.ones(2,requires_grad=True); k,y=F.apply(x)
g,=L.autograd.grad(y.sum(),x,create_graph=True); p(k,g,L.autograd.grad(g.sum(),x))
# defaults in setup_context
class F(L.autograd.Function):
    @staticmethod
    def forward(x,k=3,b=None): return x*k if b is None else x*k+b
    @staticmethod
    def setup_context(ctx,inputs,output): x,k,b=inputs; ctx.k=k; p(len(inputs),k,b)
    @staticmethod
    def backward(ctx,g): return g*ctx.k, None, None
x=L.ones(2,requires_grad=True); F.apply(x).sum().backward(); p(x.grad); F.apply(x,2)
F.apply(x,4,L.ones(2)).sum().backward(); p(x.grad)
# an input returned as it is and marked as not differentiable
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x,k): ctx.mark_non_differentiable(k); return x*2,k
    @staticmethod
    def backward(ctx,g,h): return g*2,None
x=L.ones(2,requires_grad=True); k=L.ones(2); y,j=F.apply(x,k); p(j,j is k,j.requires_grad)
j.add_(1); y.sum().backward(); p(x.grad,k)
# the only input returned as it is and marked as not differentiable
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): ctx.mark_non_differentiable(x); return x
    @staticmethod
    def backward(ctx,g): return g
x=L.ones(2,requires_grad=True)*1; y=F.apply(x); p(y,y is x,y.requires_grad,x.requires_grad)
"""

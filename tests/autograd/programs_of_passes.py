"""Short programs for ``test_short_programs``: custom functions, anomaly mode, backward passes."""

PROGRAMS = r"""
# slopes of powers down to 0
for power in (lambda x: x**2, lambda x: x**4, L.square, lambda x: 3*x**2+x, lambda x: x**-1):
    x=L.tensor(2.,requires_grad=True); y=power(x)
    try:
        for _ in range(7):
            y,=L.autograd.grad(y,x,create_graph=True); p(y.item(),y.requires_grad)
    except RuntimeError as e: p(str(e)[:40])
# fn: two outputs one unused
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,a): return a*2, a*3
    @staticmethod
    def backward(ctx,g,h): p(g,h); return g*2+h*3
x=L.ones(2,requires_grad=True); y,z=F.apply(x); y.sum().backward()
p(x.grad, y.grad_fn is z.grad_fn, y.output_nr, z.output_nr)
# fn: no materialize
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,a): ctx.set_materialize_grads(False); return a*2, a*3
    @staticmethod
    def backward(ctx,g,h): p(g,h); return g*2
x=L.ones(2,requires_grad=True); y,z=F.apply(x); y.sum().backward(); p(x.grad)
# fn: nondiff output among several
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,a): i=a.argmax(); m=a*1.; ctx.mark_non_differentiable(i,m); return a*2, i, m
    @staticmethod
    def backward(ctx,g,h,k): p(g,h,k); return g*2
x=L.tensor([1.,5.],requires_grad=True); y,i,m=F.apply(x); p(i.requires_grad,m.requires_grad)
y.sum().backward(); p(x.grad)
# fn: mark dirty and other output
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,a): a.mul_(2); ctx.mark_dirty(a); return a, a*3
    @staticmethod
    def backward(ctx,g,h): return g*2+h*6
x=L.ones(2,requires_grad=True); a=x*1; y,z=F.apply(a); p(y is a, a._version)
(y+z).sum().backward(); p(x.grad)
# fn: setup_context with several
class F(L.autograd.Function):
    @staticmethod
    def forward(a,b,k): return a*b, a+k
    @staticmethod
    def setup_context(ctx,inputs,output):
        a,b,k=inputs; ctx.save_for_backward(a,b); ctx.k=k; p(output)
    @staticmethod
    def backward(ctx,g,h):
        a,b=ctx.saved_tensors; p(ctx.needs_input_grad); return g*b+h, g*a, None
x=L.ones(2,requires_grad=True); y,z=F.apply(x,L.ones(2)*2,5); (y+z).sum().backward(); p(x.grad)
# fn: none grads
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,a,b): return a+b
    @staticmethod
    def backward(ctx,g): return None, g
x=L.ones(2,requires_grad=True); w=L.ones(2,requires_grad=True); F.apply(x,w).sum().backward()
p(x.grad,w.grad)
# fn: all none
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,a): return a*1
    @staticmethod
    def backward(ctx,g): return None
x=L.ones(2,requires_grad=True); F.apply(x*2).sum().backward(); p(x.grad)
# fn: double backward
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,a): ctx.save_for_backward(a); return a**3
    @staticmethod
    def backward(ctx,g): a,=ctx.saved_tensors; return g*3*a*a
x=L.tensor([2.],requires_grad=True); g,=L.autograd.grad(F.apply(x),x,create_graph=True); p(g)
p(L.autograd.grad(g,x))
# fn: double backward through saved output
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,a): r=a.exp(); ctx.save_for_backward(r); return r
    @staticmethod
    def backward(ctx,g): r,=ctx.saved_tensors; return g*r
x=L.tensor([2.],requires_grad=True); g,=L.autograd.grad(F.apply(x),x,create_graph=True)
h,=L.autograd.grad(g,x,create_graph=True); p(g,h,L.autograd.grad(h,x))
# fn: once differentiable double
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,a): return a*2
    @staticmethod
    @L.autograd.function.once_differentiable
    def backward(ctx,g): return g*2
x=L.ones(1,requires_grad=True); y=F.apply(x*x); g,=L.autograd.grad(y,x,create_graph=True); p(g)
g.backward()
# fn: saved input modified
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,a): ctx.save_for_backward(a); return a*2
    @staticmethod
    def backward(ctx,g): a,=ctx.saved_tensors; return g*2
x=L.ones(1,requires_grad=True)*1; y=F.apply(x); x.add_(1); y.backward()
# fn: attribute on ctx not tensor-saved
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,a): ctx.t=a; return a*2
    @staticmethod
    def backward(ctx,g): return g*ctx.t
x=L.ones(1,requires_grad=True)*1; y=F.apply(x); x.add_(1); y.backward()
# fn: saves none
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,a,b): ctx.save_for_backward(a,None,b); return a*2
    @staticmethod
    def backward(ctx,g): p([t is None for t in ctx.saved_tensors]); return g*2,None
x=L.ones(1,requires_grad=True); F.apply(x,None).backward(); p(x.grad)
# fn: in no_grad
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,a): p(L.is_grad_enabled(), ctx.needs_input_grad); return a*2
    @staticmethod
    def backward(ctx,g): return g
with L.no_grad(): p(F.apply(L.ones(1,requires_grad=True)))
# fn: enable grad inside
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,a):
        with L.enable_grad(): b=a.detach().requires_grad_(); c=(b*b).sum()
        ctx.b,ctx.c=b,c
        return c.detach()
    @staticmethod
    def backward(ctx,g): p(L.is_grad_enabled()); return L.autograd.grad(ctx.c,ctx.b,g)[0]
x=L.tensor([1.,3.],requires_grad=True); (F.apply(x)*2).backward(); p(x.grad)
# fn: input returned
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,a,b): return a,b
    @staticmethod
    def backward(ctx,g,h): return g*2,h*3
x=L.ones(1,requires_grad=True); w=L.ones(1); y,z=F.apply(x,w)
p(y is x, z is w, z.requires_grad, y); (y+z).backward(); p(x.grad)
# fn: input returned in place
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,a): return a
    @staticmethod
    def backward(ctx,g): return g*2
x=L.ones(1,requires_grad=True)*1; y=F.apply(x); y.add_(1)
# fn: wrong grad shape
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,a): return a*1
    @staticmethod
    def backward(ctx,g): return L.ones(7)
x=L.ones(3,requires_grad=True); F.apply(x).sum().backward()
# fn: grad to be reduced
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,a,b): return a*b
    @staticmethod
    def backward(ctx,g): return g, g
x=L.ones(3,requires_grad=True); w=L.ones(2,3,requires_grad=True); F.apply(x,w).sum().backward()
p(x.grad,w.grad)
# fn: hooks around
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,a): return a*1, a*2
    @staticmethod
    def backward(ctx,g,h): return g+h
x=L.ones(2,requires_grad=True); y,z=F.apply(x); y.register_hook(lambda g: g*10); z.retain_grad()
y.grad_fn.register_hook(lambda a,b: p(a,b))
y.grad_fn.register_prehook(lambda b: (b[0]+1,b[1])); (y+z).sum().backward(); p(x.grad,z.grad)
# fn: dict of results
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,a): return {'a':a*1}
    @staticmethod
    def backward(ctx,g): return g
x=L.ones(2,requires_grad=True); y=F.apply(x); p(type(y).__name__, y['a'].requires_grad)
# fn: vjp spelling
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,a): return a*2
    @staticmethod
    def vjp(ctx,g): return g*2
x=L.ones(2,requires_grad=True); F.apply(x).sum().backward(); p(x.grad)
# fn: both spellings
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,a): return a*2
    @staticmethod
    def vjp(ctx,g): return g*2
    @staticmethod
    def backward(ctx,g): return g*2
F.apply(L.ones(2,requires_grad=True)).sum().backward()
# anomaly: nan
x=L.tensor([0.],requires_grad=True)
with L.autograd.detect_anomaly(): y=(x.sqrt()*0).sum(); y.backward()
# anomaly: no nan check
x=L.tensor([0.],requires_grad=True)
with L.autograd.detect_anomaly(check_nan=False): y=(x.sqrt()*0).sum(); y.backward(); p(x.grad)
# anomaly: nested state
with L.autograd.detect_anomaly():
    with L.autograd.set_detect_anomaly(False): p(L.is_anomaly_enabled())
    p(L.is_anomaly_enabled())
p(L.is_anomaly_enabled())
# anomaly: metadata
with L.autograd.detect_anomaly(): y=L.ones(1,requires_grad=True)*2
p('traceback_' in y.grad_fn.metadata)
# grad: nonleaf accumulates nothing
x=L.ones(2,requires_grad=True); y=x*2; z=(y*y).sum(); p(L.autograd.grad(z,[y,x]))
p(x.grad,y.grad)
# grad: same tensor as output and input
x=L.ones(2,requires_grad=True); y=(x*2).sum()
p(L.autograd.grad(y,y), L.autograd.grad([y,y],[y]))
# grad: root leaf backward
x=L.tensor(2.,requires_grad=True); x.backward(); p(x.grad); x.backward(); p(x.grad)
# grad: backward of several roots
x=L.ones(2,requires_grad=True); L.autograd.backward([x.sum(),(x*x).sum()]); p(x.grad)
# grad: accumulate into shared
x=L.ones(2,requires_grad=True); g=L.zeros(2); x.grad=g; (x*3).sum().backward()
p(g, x.grad is g)
# grad: accumulate create graph
x=L.ones(2,requires_grad=True); x.grad=L.ones(2); g0=x.grad
(x*x).sum().backward(create_graph=True); p(x.grad, x.grad is g0, g0)
# grad: int root
L.ones(2,dtype=L.int64).sum().backward()
# grad: gradient dtype
x=L.ones(2,requires_grad=True); (x*2).backward(L.ones(2,dtype=L.float64)); p(x.grad)
# grad: allow_unused with materialize
x=L.ones(2,requires_grad=True); w=L.ones(3,requires_grad=True)
p(L.autograd.grad(x.sum(),[x,w],materialize_grads=True))
L.autograd.grad(x.sum(),[x,w],materialize_grads=True,allow_unused=False)
# grad: inputs leaf only
x=L.ones(2,requires_grad=True); w=L.ones(2,requires_grad=True)
(x*w).sum().backward(inputs=[x]); p(x.grad,w.grad)
# grad: inputs nonleaf
x=L.ones(2,requires_grad=True); y=x*2; (y*y).sum().backward(inputs=[y,x]); p(x.grad,y.grad)
# grad: hook on nonleaf captured
x=L.ones(2,requires_grad=True); y=x*2; y.register_hook(lambda g: g*10)
p(L.autograd.grad((y*y).sum(),[y,x]))
# grad: retain_grad then grad
x=L.ones(2,requires_grad=True); y=x*2; y.retain_grad(); p(L.autograd.grad((y*y).sum(),x))
p(y.grad)
# grad: retain_grad twice accumulates
x=L.ones(2,requires_grad=True); y=x*2; y.retain_grad(); z=(y*y).sum()
z.backward(retain_graph=True); z.backward(); p(y.grad,x.grad)
# grad: leaf hook with inputs
x=L.ones(2,requires_grad=True); x.register_hook(lambda g: g*3)
p(L.autograd.grad((x*2).sum(),x)); (x*2).sum().backward(inputs=x); p(x.grad)
# grad: post accumulate with inputs
x=L.ones(2,requires_grad=True)
x.register_post_accumulate_grad_hook(lambda t: p('post',t.grad))
(x*2).sum().backward(inputs=[x]); p(x.grad)
# grad: grad_outputs none and given
x=L.ones(2,requires_grad=True); p(L.autograd.grad([x.sum(),x*2],x,[None,L.ones(2)]))
# grad: is_grads_batched
x=L.ones(2,requires_grad=True); y=x*L.tensor([2.,3.])
p(L.autograd.grad(y,x,L.eye(2),is_grads_batched=True))
# gradients of a 0-d tensor: added to, modified in place, handed to functions
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,a): return a.clone()
    @staticmethod
    def backward(ctx,g): g.mul_(2); return g
for dtype in (L.float64, L.complex64):
    x=L.ones(5,dtype=dtype,requires_grad=True); y=L.tensor(2.,dtype=dtype,requires_grad=True)
    for out in (x-y, x*y, x/y, x-F.apply(y)):
        out.sum().abs().backward()
        p(y.grad.real); y.grad.add_(1); p(y.grad.real)
    z=y*1; z.retain_grad(); (x-z).sum().abs().backward(); p(z.grad.zero_(), y.grad.real)
    g,=L.autograd.grad((x-y).sum().abs(),y); p(g.add_(1).real)
# backward twice: what is written in place
x=L.ones(3,requires_grad=True); y=x.clone(); y[0]=2; z=y.sum(); z.backward(); z.backward()
# backward twice: in place through a view
x=L.ones(3,requires_grad=True); y=x.clone(); y[1:].add_(2); z=y.sum(); z.backward(); z.backward()
# backward twice: by an index, and by a slice
x=L.ones(3,requires_grad=True); y=x[1:].sum()+x[0]; y.backward(); y.backward(); p(x.grad)
y=x[[0,1]].sum(); y.backward(); p(x.grad); y.backward()
# backward twice: copied
x=L.ones(3,requires_grad=True); y=L.zeros(3); y.copy_(x); z=y.sum(); z.backward(); z.backward()
p(x.grad)
# backward twice: lerp in place by a number
x=L.ones(3,requires_grad=True); y=x.clone().lerp_(L.zeros(3),0.3).sum(); y.backward(); y.backward()
p(x.grad)
# in place by a number, where the old value is kept by nobody
x=L.ones(3,requires_grad=True); y=x.clone(); z=y.mul_(2).add_(1); (z*3).sum().backward(); p(x.grad)
# gradients of a mean have memory of their own
x=L.arange(6.).reshape(2,3).requires_grad_(); (g,)=L.autograd.grad(x.mean(),x); p(g.mul_(2))
(g,)=L.autograd.grad(x.mean(1,keepdim=True).sum(),x); p(g.add_(1), g.stride())
# gradients of running sums go forward
x=L.arange(6.).reshape(2,3).requires_grad_(); (g,)=L.autograd.grad(x.cumsum(1).sum(),x)
p(g.stride(), g.view(-1))
# inputs: a non-leaf keeps its gradient from then on
x=L.ones(2,requires_grad=True); y=x*2; z=y*3; p(y.retains_grad)
z.sum().backward(inputs=[y],retain_graph=True); p(y.retains_grad,z.retains_grad,x.retains_grad)
p(y.grad,x.grad); z.sum().backward(); p(y.grad,x.grad)
# inputs: a non-leaf that keeps its gradient already
x=L.ones(2,requires_grad=True); y=x*2; y.retain_grad(); z=y*3
z.sum().backward(inputs=[y,x],retain_graph=True); p(y.grad,x.grad); z.sum().backward()
p(y.grad,x.grad,y.retains_grad)
# inputs: a non-leaf whose hooks change its gradient
x=L.ones(2,requires_grad=True); y=x*2; y.register_hook(lambda g:g*2); z=y*3
z.sum().backward(inputs=[y,x]); p(y.grad,x.grad)
# inputs: a non-leaf twice
x=L.ones(2,requires_grad=True); y=x*2; z=y*3; z.sum().backward(inputs=[y,y]); p(y.grad,x.grad)
# inputs: a non-leaf that nothing was computed from
x=L.ones(2,requires_grad=True); y=x*2; z=x*3; z.sum().backward(inputs=[y]); p(y.grad,x.grad)
p(y.retains_grad)
# inputs: what requires no gradient
x=L.ones(2,requires_grad=True); (x*2).sum().backward(inputs=[L.ones(2)])
# nearest pixels: the gradient of a grid
F=L.nn.functional
for same in (True,False):
    x=L.arange(4.).reshape(1,1,2,2).requires_grad_(same)
    g=L.tensor([[[[.3,-.4],[7.,float('nan')]]]],requires_grad=True)
    y=F.grid_sample(x,g,mode='nearest',align_corners=False); p(y); y.sum().backward()
    p(g.grad,x.grad)
# grad materialized and recorded
x=L.tensor(0.5,requires_grad=True); a=L.tensor(1.,requires_grad=True)
g=L.autograd.grad(x*a,x,create_graph=True)
h=L.autograd.grad(g,x,create_graph=True,materialize_grads=True); p(h)
p(L.autograd.grad(h,x,materialize_grads=True))
# grad of an edge that is not reached
x=L.ones(2,requires_grad=True); e=L.autograd.graph.get_gradient_edge(x*2)
p(L.autograd.grad((x*3).sum(),e,allow_unused=True))
try: L.autograd.grad((x*3).sum(),e,materialize_grads=True)
except RuntimeError as error: p(str(error))
# backward into edges
e=L.autograd.graph.get_gradient_edge
l=L.ones(2,requires_grad=True); x=l.clone(); y=l.clone(); y.retain_grad()
L.autograd.backward((x*2+y*3).sum(),inputs=(e(x),e(y))); p(x.grad,y.grad,l.grad)
L.autograd.backward((l*5).sum(),inputs=(e(l),)); p(l.grad)
# grad modes decorate a class
import warnings
for mode in (L.no_grad(),L.no_grad,L.enable_grad(),L.inference_mode(),L.set_grad_enabled(False)):
    L.set_grad_enabled(True)
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter("always")
        @mode
        class A:
            def __init__(self): self.on=(L.is_grad_enabled(),L.is_inference_mode_enabled())
            def now(self): return L.is_grad_enabled()
    p(A().on,A().now(),[(i.category.__name__,str(i.message)) for i in w])
# grad of a batch of the wrong shape
x=L.ones(3,requires_grad=True)
p(L.autograd.grad(x*x,x,L.eye(3),is_grads_batched=True))
for g in (L.eye(2),L.ones(3),L.ones(2,3,1)):
    try: L.autograd.grad(x*x,x,g,is_grads_batched=True)
    except RuntimeError as e: p(str(e)[:90])
# variables of all kinds
import warnings
V=L.autograd.Variable
with warnings.catch_warnings(record=True) as w:
    warnings.simplefilter("always")
    for make in (lambda: V([1,2]), lambda: V(3), lambda: V(), lambda: V(None),
                 lambda: V(L.ones(2),volatile=True), lambda: V(L.ones(2),volatile=False),
                 lambda: V(L.ones(2),True), lambda: V(L.ones(2,requires_grad=True)*2)):
        try: p(make())
        except TypeError as e: p(str(e))
p([str(i.message)[:40] for i in w])
"""

"""Short programs for ``test_short_programs``: views that may not be changed in place."""

PROGRAMS = r"""
# no_grad leaf view req
x=L.ones(3,requires_grad=True)
with L.no_grad(): v=x.view(3)
p(v.requires_grad, v.grad_fn, v.is_leaf)
# no_grad leaf view inplace outside
x=L.ones(3,requires_grad=True)
with L.no_grad(): v=x.view(3)
v.mul_(2); p(v,x)
# no_grad nonleaf view req
x=L.ones(3,requires_grad=True)*1
with L.no_grad(): v=x.view(3)
p(v.requires_grad, v.grad_fn)
# no_grad nonleaf view inplace outside
x=L.ones(3,requires_grad=True)*1
with L.no_grad(): v=x.view(3)
v.mul_(2); p(v,x)
# no_grad nonleaf view inplace with grad value
y=L.ones(3,requires_grad=True)
x=L.ones(3,requires_grad=True)*1
with L.no_grad(): v=x.view(3)
v.mul_(y); p(v,x)
# no_grad leaf view inplace with grad value
y=L.ones(3,requires_grad=True)
x=L.ones(3,requires_grad=True)
with L.no_grad(): v=x.view(3)
v.mul_(y); p(v,x)
# no_grad view of what requires no grad inplace with grad value
y=L.ones(2,requires_grad=True); x=L.ones(3)
with L.no_grad(): v=x[:2]
v.mul_(y); p(v,x)
# no_grad view of what requires no grad inplace with a number
x=L.ones(3)
with L.no_grad(): v=x[:2]
v.mul_(2); p(v,x,x.requires_grad)
# no_grad part of what requires no grad inplace with grad value
y=L.ones(2,requires_grad=True); x=L.ones(4)
with L.no_grad(): v,w=x.split(2)
v.mul_(y); p(v,x)
# no_grad view that was made a leaf and modified
x=L.ones(3)
with L.no_grad(): v=x[:2]
v.requires_grad_()
with L.no_grad(): v.mul_(2)
(v*3).sum().backward(); p(v,v.grad,x.requires_grad)
# no_grad nonleaf base modified then view used
x=L.ones(3,requires_grad=True)*1
with L.no_grad(): v=x.view(3)
x.mul_(2); p(v.requires_grad)
# no_grad nonleaf base modified then view used 2
x=L.ones(3,requires_grad=True)*1
with L.no_grad(): v=x.view(3)
x.mul_(2); y=v*2; p(y)
# no_grad view then modified inside then outside
x=L.ones(3,requires_grad=True)*1
with L.no_grad(): v=x.view(3); v.mul_(3)
p(v.requires_grad, x.requires_grad); y=v*2; p(y)
# no_grad leaf view modified inside then used
x=L.ones(3,requires_grad=True)
with L.no_grad(): v=x.view(3); v.mul_(3); p(v.requires_grad)
y=v*2; p(y)
# no_grad leaf view modified base inside then used
x=L.ones(3,requires_grad=True)
with L.no_grad(): v=x.view(3); x.mul_(3); p(v.requires_grad)
y=v*2; p(y)
# no_grad unbind
x=L.ones(3,requires_grad=True)*1
with L.no_grad(): a,b,c=x.unbind()
a.mul_(2)
# no_grad unbind value
x=L.ones(3,requires_grad=True)*1
with L.no_grad(): a,b,c=x.unbind()
a.mul_(x[0])
# no_grad view of no_grad view
x=L.ones(3,requires_grad=True)*1
with L.no_grad(): v=x.view(3)
w=v[0:2]
w.mul_(2); p(w.requires_grad)
# no_grad view of no_grad view value
x=L.ones(3,requires_grad=True)*1
with L.no_grad(): v=x.view(3)
w=v[0:2]
w.mul_(x[0])
# no_grad inside again
x=L.ones(3,requires_grad=True)*1
with L.no_grad(): v=x.view(3)
with L.no_grad(): v.mul_(3)
p(v,x)
# no_grad grad value to detached view
x=L.ones(3,requires_grad=True)
y=x.detach(); v=y.view(3); v.mul_(x); p(v,y)
# no_grad view of constant base, base gets grad
x=L.ones(3,requires_grad=True)
c=L.zeros(3)
with L.no_grad(): v=c.view(3)
c.add_(x); p(c.requires_grad); p(v.requires_grad)
# several views unbind
x=L.ones(3,requires_grad=True)*1
a,b,c=x.unbind(); a.mul_(2)
# several views unbind constant
x=L.ones(3)
a,b,c=x.unbind(); a.mul_(2); p(x)
# several views split
x=L.ones(4,requires_grad=True)*1
a,b=x.split(2); b.mul_(2)
# several views split list
x=L.ones(4,requires_grad=True)*1
a,b=x.split([1,3]); b.mul_(2)
# several views chunk
x=L.ones(4,requires_grad=True)*1
a,b=x.chunk(2); b[0]=3
# several views tensor_split
x=L.ones(4,requires_grad=True)*1
a,b=x.tensor_split(2); b.mul_(2)
# several views hsplit
x=L.ones(4,requires_grad=True)*1
a,b=L.hsplit(x,2); b.mul_(2)
# several views unsafe
x=L.ones(4,requires_grad=True)*1
a,b=x.unsafe_split(2); b.mul_(2); p(b)
# several views nograd inplace
x=L.ones(4,requires_grad=True)*1
a,b=x.split(2)
with L.no_grad(): b.mul_(2)
p(x)
# several views view of output
x=L.ones(4,requires_grad=True)*1
a,b=x.split(2); b.view(2).mul_(2)
# several views view of output 2
x=L.ones(4,requires_grad=True)*1
a,b=x.split(2); b[0:1].mul_(2)
# several views leaf split
x=L.ones(4,requires_grad=True)
a,b=x.split(2); b.mul_(2)
# several views iteration
x=L.ones(4,requires_grad=True)*1
for t in x: t.mul_(2)
# several views base change then outputs
x=L.ones(4,requires_grad=True)*1
a,b=x.split(2)
x.mul_(2); p(b.requires_grad); p(a.grad_fn is None)
# itself: what has its shape already
x=L.arange(4.,requires_grad=True); y=L.arange(6.).reshape(2,3)
p(x.flatten() is x, y.flatten(1) is y, y.flatten(1,1) is y, y.flatten() is y, L.flatten(x) is x)
p([t is s for t,s in zip(L.broadcast_tensors(y,y[0]),(y,y[0]))], L.broadcast_tensors(x)[0] is x)
p(x.sum_to_size(4) is x, y.sum_to_size(1,3) is y, L.einsum('ij->ij',y) is y, x.view(4) is x)
p(x.expand(4) is x, x.reshape(4) is x, x.ravel() is x, L.chain_matmul(y) is y)
p(L.nn.Flatten()(y) is y, L.tensor(1.).flatten().shape, x.flatten().is_leaf)
# itself or a view: written to
y=L.arange(9.).reshape(3,3); L.einsum('ii->i',y).fill_(7.); p(y); L.einsum('ij->ij',y)[0,0]=5.; p(y)
z=L.arange(8.).reshape(1,4,2)
for g in (1,2,4): L.nn.functional.channel_shuffle(z,g).zero_(); p(z)
x=L.ones(3,3,requires_grad=True); y=x*2; L.einsum('ii->i',y).mul_(3); y.sum().backward(); p(x.grad)
x=L.arange(8.).reshape(2,2,2).requires_grad_(); y=L.einsum('iji->ji',x*x); y.sum().backward()
p(y,x.grad)
# expanding: the last dimension that does not fit is told of
for s,t in (((2,3),(4,5)),((2,3,4),(5,6,7)),((2,3),(-1,4,3)),((2,3),(0,0)),((3,2),(3,-2))):
    try: L.ones(s).expand(t)
    except RuntimeError as error: p(str(error).split('Target')[0])
# viewed: solutions of a column that lay otherwise
a=L.eye(3).expand(2,3,3)+L.ones(3,3).triu(); b=L.arange(6.).reshape(1,3,2).permute(2,1,0)
p(L.linalg.solve_triangular(a,b,upper=True).view(-1),L.linalg.solve(a,b).reshape(-1))
p(L.linalg.solve_triangular(a,b.mT,upper=True,left=False).view(-1))
# several views unflatten etc
x=L.ones(2,2,requires_grad=True)*1
r=L.view_as_real(L.view_as_complex(x)); r.mul_(2); p(x)
# one chunk
x=L.ones(4,requires_grad=True)*1
a,=x.split(4); a.mul_(2); p(x)
# copy_ into nograd view
x=L.ones(3,requires_grad=True)*1
with L.no_grad(): v=x[0:2]
v.copy_(L.zeros(2)); p(x)
# detach view inplace
x=L.ones(3,requires_grad=True)*1
d=x.detach(); d.mul_(3); p(x, x._version); (x*2).sum().backward()
# function output view
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,q): return q.view(-1)
    @staticmethod
    def backward(ctx,g): return g.view(3)
x=L.ones(3,requires_grad=True)*1
y=F.apply(x); p(y); y.mul_(2)
# function two views
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,q): return q[0:1], q[1:]
    @staticmethod
    def backward(ctx,g,h): return L.cat([g,h])
x=L.ones(3,requires_grad=True)*1
y,z=F.apply(x); p(y); y.mul_(2)
# parts of bits shown as ints
x=L.ones(2,dtype=L.float64,requires_grad=True)*2; v=x.view(L.int64)
a,b=v.split(1); p(v.requires_grad,a.requires_grad,v.unbind()[0].requires_grad,(b*2.0).requires_grad)
a.mul_(2); p(a,(a+1).requires_grad)
# base detach_ views
x=L.ones(2,requires_grad=True); y=x*2; v=y[:1]
y.detach_()
p(y.requires_grad, v.requires_grad, v.grad_fn is None, y.is_leaf, v.is_leaf, v._base is None)
v.sum().backward(); p(x.grad)
# base detach_ view written later
x=L.ones(2,requires_grad=True); y=x*2; v=y[:1]
y.detach_(); y.mul_(3); p(v, v.requires_grad); v.sum().backward(); p(x.grad)
# base detach_ view of view
x=L.ones(2,requires_grad=True); y=x*2; v=y[:1]; w=v.view(1,1)
y.detach_(); p(w.requires_grad); w.sum().backward(); p(x.grad)
# base detach_ view written in place
x=L.ones(2,requires_grad=True); y=x*2; v=y[:1]
y.detach_(); v.mul_(3); p(v, v.requires_grad, y.requires_grad); v.sum().backward(); p(x.grad)
# leaf detach_
y=L.ones(2,requires_grad=True); v=y[:1]
y.detach_(); p(y.requires_grad, v.requires_grad, v.grad_fn is None); v.sum().backward(); p(y.grad)
# detach_ then requires_grad_
x=L.ones(2,requires_grad=True); y=x*2; v=y[:1]
y.detach_().requires_grad_(); (y*v).sum().backward(); p(x.grad, y.grad)
# detach_ of what retains its gradient
x=L.ones(2,requires_grad=True); y=x*2; y.retain_grad(); v=y[:1]
y.detach_(); v.sum().backward(); p(x.grad, y.grad)
# leaf no longer requiring
x=L.ones(2,requires_grad=True); y=x*2; x.requires_grad_(False); y.sum().backward(); p(x.grad)
# leaf no longer requiring, again
x=L.ones(2,requires_grad=True); y=x*2; x.requires_grad_(False); x.requires_grad_()
y.sum().backward()
p(x.grad)
# leaf no longer requiring, hook
x=L.ones(2,requires_grad=True); x.register_hook(lambda g: p(g))
x.register_post_accumulate_grad_hook(lambda t: p('post')); y=x*2; x.requires_grad_(False)
y.sum().backward()
p(x.grad)
# base detach_ and both written
x=L.ones(2,requires_grad=True); y=x*2; v=y[:1]; y.detach_(); y.mul_(3); v.mul_(2)
# base detach_ and a history anew
x=L.ones(2,requires_grad=True); y=x*2; v=y[:1]
y.detach_(); y.mul_(x); (v*1).sum().backward(); p(x.grad)
# base detach_ and a later view written
x=L.ones(2,requires_grad=True); y=x*2; v=y[:1]
y.detach_(); w=y[1:]; w.mul_(x[:1]); p(y.requires_grad,w.requires_grad,v.requires_grad)
y.sum().backward(); p(x.grad)
# base detach_ twice
x=L.ones(2,requires_grad=True); y=x*2; v=y[:1]
y.detach_(); y.mul_(x); w=y[:1]; y.detach_(); p(v.requires_grad,w.requires_grad)
w.sum().backward(); p(x.grad)
# views made again are named as if they were made by their strides
x=L.ones(2,2,requires_grad=True); y=x.clone(); v=y[0]; w=y.t(); u=y.view(-1)[1:3]; d=y.diagonal()
y.mul_(2); p(v,w,u,d); v.add_(1); p(v,w,u,d,v.grad_fn.name())
# views of complex numbers made again
x=L.ones(2,dtype=L.complex64,requires_grad=True); y=x.clone(); v=y.real; w=L.view_as_real(y)
u=y[:1]; y.mul_(2); p(v,w,u)
# one of several views is shown though its base has changed
x=L.ones(2,2,requires_grad=True); y=x.clone(); v,w=y.split(1); y.mul_(2); p(v)
# view of a base that is asked for gradients later
a=L.ones(2,3); b=a[:]; c=b[0]; a.requires_grad=True
p(b.requires_grad,b.is_leaf,b.grad_fn,c.requires_grad,(c*2).requires_grad,b.detach().requires_grad)
(b*2).sum().backward(); p(a.grad,b.grad)
for f in (lambda: b.add_(5), lambda: c.zero_(), lambda: b.__setitem__(0,1.), lambda: a.add_(1)):
    try: f(); p("taken")
    except RuntimeError as e: p(str(e)[:60])
a.requires_grad=False; p(b.requires_grad,b.add_(1))
# view asked for gradients after its base
a=L.ones(2,3); b=a[0]; a.requires_grad=True; b.requires_grad_()
(b*2).sum().backward(); p(b.grad,a.grad)
# retained gradients of views that change in place
base=L.tensor([1.],requires_grad=True).clone(); v=base[:]; w=base[:]
v.retain_grad(); w.retain_grad(); base.retain_grad(); v.mul_(2); (v+3*w).sum().backward()
p(v.grad,w.grad,base.grad)
# retained gradient of a view whose base changes
base=L.tensor([1.,2.],requires_grad=True).clone(); v=base[:1]; v.retain_grad(); base.mul_(2)
(v*5).sum().backward(); p(v.grad)
# set_ has no derivative
def fresh(): return L.ones(3,requires_grad=True).clone()
x=fresh(); x.set_(x*2); p(x,x.is_leaf,type(x.grad_fn).__name__)
try: x.sum().backward()
except RuntimeError as e: p(str(e)[:40])
x=fresh(); x.set_(L.zeros(2)); p(x,type(x.grad_fn).__name__)
x=fresh(); x.set_(); p(x.shape,x.requires_grad)
x=L.ones(3); x.set_(fresh()); p(x.requires_grad)
x=L.ones(3); x.set_(L.zeros(3)); p(x.requires_grad)
x=L.ones(3,requires_grad=True)
with L.no_grad(): x.set_(L.zeros(3))
p(x,x.is_leaf); (x*2).sum().backward(); p(x.grad)
x=fresh()
with L.no_grad(): x.set_(L.zeros(3))
p(type(x.grad_fn).__name__)
"""

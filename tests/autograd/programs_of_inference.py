"""Short programs for ``test_short_programs``: inference mode, under ``L``, either library."""

PROGRAMS = r"""
# inference basic
with L.inference_mode():
    a=L.ones(3); b=a*2; c=b[0:2]; p(L.is_inference_mode_enabled())
p(a.is_inference(), b.is_inference(), c.is_inference(), a.view(3).is_inference())
p((a+1).is_inference(), a.clone().is_inference(), a.detach().is_inference())
p(a.data.is_inference(), L.is_inference(a), a.unbind()[0].is_inference())
p(L.ones(2).is_inference(), a.requires_grad, a.is_leaf, a.grad_fn, L.is_inference(L.ones(1)))
# inference inplace
with L.inference_mode(): a=L.ones(3); a.add_(1); a[0]=5; p(a)
a.add_(1)
# inference setitem
with L.inference_mode(): a=L.ones(3)
a[0]=1
# inference copy_
with L.inference_mode(): a=L.ones(3)
a.copy_(L.zeros(3))
# inference zero_
with L.inference_mode(): a=L.ones(3)
a.zero_()
# inference fill_
with L.inference_mode(): a=L.ones(3)
a.fill_(3)
# inference uniform_
with L.inference_mode(): a=L.ones(3)
a.uniform_()
# inference relu_
with L.inference_mode(): a=L.ones(3)
a.relu_()
# inference iadd
with L.inference_mode(): a=L.ones(3)
a+=1
# inference view inplace
with L.inference_mode(): a=L.ones(3)
a[0:2].mul_(2)
# inference out
with L.inference_mode(): a=L.ones(3)
L.add(L.ones(3),L.ones(3),out=a)
# inference t_
with L.inference_mode(): a=L.ones(3,2)
a.t_()
# inference resize
with L.inference_mode(): a=L.ones(3,2)
a.unsqueeze_(0); p(a.shape)
# inference index_put
with L.inference_mode(): a=L.ones(3)
a[a>0]=2
# inference index_add_
with L.inference_mode(): a=L.ones(3)
a.index_add_(0,L.tensor([0]),L.ones(1))
# inference version
with L.inference_mode(): a=L.ones(3)
a._version
# inference version inside
with L.inference_mode(): a=L.ones(3); a._version
# inference normal version inside
n=L.ones(3)
with L.inference_mode(): n.add_(1); n.add_(1)
p(n._version, n.is_inference(), n)
# inference saved mul
with L.inference_mode(): a=L.ones(3)
x=L.ones(3,requires_grad=True); a*x
# inference saved mul 2
with L.inference_mode(): a=L.ones(3)
x=L.ones(3,requires_grad=True); x*a
# inference saved matmul
with L.inference_mode(): a=L.ones(3)
x=L.ones(3,requires_grad=True); a@x
# inference saved linear
with L.inference_mode(): a=L.ones(3)
l=L.nn.Linear(3,3); l(a)
# inference saved conv
with L.inference_mode(): a=L.ones(1,1,5,5)
l=L.nn.Conv2d(1,1,3); l(a)
# inference saved linear nograd
with L.inference_mode(): a=L.ones(3)
l=L.nn.Linear(3,3)
with L.no_grad(): p(l(a).shape, l(a).is_inference())
# inference not saved
with L.inference_mode(): a=L.ones(3)
x=L.ones(3,requires_grad=True); y=a+x; y.sum().backward(); p(x.grad, y.is_inference())
# inference not saved cat
with L.inference_mode(): a=L.ones(3)
x=L.ones(3,requires_grad=True); y=L.cat([a,x,x*2]); y.sum().backward(); p(x.grad)
# inference where
with L.inference_mode(): a=L.ones(3)
x=L.ones(3,requires_grad=True); y=L.where(a>0,x,a); y.sum().backward(); p(x.grad)
# inference saved mask
with L.inference_mode(): m=L.ones(3)>0
x=L.ones(3,requires_grad=True); y=L.where(m,x,0.)
# inference embedding
with L.inference_mode(): m=L.tensor([0,1])
e=L.nn.Embedding(3,2); e(m)
# inference cross entropy target
with L.inference_mode(): m=L.tensor([0,1])
x=L.ones(2,2,requires_grad=True); L.nn.functional.cross_entropy(x,m)
# inference gather
with L.inference_mode(): m=L.tensor([0,1])
x=L.ones(3,requires_grad=True); y=x.gather(0,m)
# inference clone then use
with L.inference_mode(): a=L.ones(3)*3
x=L.ones(3,requires_grad=True); (x*a.clone()).sum().backward(); p(x.grad)
# inference requires_grad_
with L.inference_mode(): a=L.ones(3)
a.requires_grad_()
# inference requires_grad set
with L.inference_mode(): a=L.ones(3)
a.requires_grad=True
# inference requires_grad inside
with L.inference_mode():
    a=L.ones(3); a.requires_grad_(); p(a.requires_grad, (a*2).requires_grad)
    p(L.ones(2,requires_grad=True).is_inference())
# inference requires_grad False
with L.inference_mode(): a=L.ones(3)
a.requires_grad_(False); p(a.requires_grad)
# inference Parameter
with L.inference_mode(): a=L.ones(3)
L.nn.Parameter(a)
# inference Parameter nograd
with L.inference_mode(): a=L.ones(3)
q=L.nn.Parameter(a,requires_grad=False); p(q.is_inference())
# inference views of normal
n=L.ones(3)
with L.inference_mode(): v=n.view(3); p(v.is_inference(), v._version); v.add_(1); p(n, n._version)
v.add_(1); p(n, v.is_inference(), v._version, n._version)
# inference view of leaf inplace inside
x=L.ones(3,requires_grad=True)
with L.inference_mode(): v=x.view(3); v.mul_(2); p(x, v.is_inference(), v.grad_fn)
# inference view of leaf inplace outside
x=L.ones(3,requires_grad=True)
with L.inference_mode(): v=x.view(3)
v.mul_(2)
# inference view of nonleaf inplace outside
x=L.ones(3,requires_grad=True)*1
with L.inference_mode(): v=x.view(3)
v.mul_(2)
# inference many views of nonleaf inplace outside
x=L.ones(3,requires_grad=True)*1
with L.inference_mode(): v=x.unbind()
v[0].mul_(2)
# inference leaf in inference
x=L.ones(3,requires_grad=True)
with L.inference_mode(): x.add_(1); p(x, x.is_inference(), x.requires_grad, x.is_leaf)
x.sum().backward(); p(x.grad)
# inference optimizer in inference
x=L.ones(3,requires_grad=True); x.sum().backward(); o=L.optim.SGD([x],lr=.1)
with L.inference_mode(): o.step(); p(x)
# inference detach of normal
x=L.ones(3)
with L.inference_mode(): 
    p(x.detach().is_inference(), x.data.is_inference(), x.clone().is_inference())
    p(x.to(L.float64).is_inference(), x.to(L.float32).is_inference())
    p(x.contiguous().is_inference(), x.reshape(3).is_inference(), x.T.is_inference())
# inference nested false
with L.inference_mode():
    with L.inference_mode(False):
        a=L.ones(2); p(a.is_inference(), L.is_grad_enabled())
        x=L.ones(2,requires_grad=True); p((x*a).requires_grad)
    p(L.ones(2).is_inference())
# inference nested false modifies
with L.inference_mode():
    a=L.ones(2)
    with L.inference_mode(False): a.add_(1)
# inference decorator
@L.inference_mode()
def f(x): return x*2
p(f(L.ones(2)).is_inference(), L.ones(2).is_inference())
# inference set data
with L.inference_mode(): a=L.ones(2)
n=L.ones(2); n.data=a; p(n.is_inference()); a.data=L.ones(2); p(a.is_inference())
# inference deepcopy pickle
import copy, pickle
with L.inference_mode(): a=L.ones(2)
p(copy.deepcopy(a).is_inference(), pickle.loads(pickle.dumps(a)).is_inference())
# inference grad assign
with L.inference_mode(): a=L.ones(2)
x=L.ones(2,requires_grad=True); x.grad=a; x.sum().backward()
# inference function save
with L.inference_mode(): a=L.ones(2)
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,q,r): ctx.save_for_backward(q,r); return q*r
    @staticmethod
    def backward(ctx,g): return g,g
F.apply(L.ones(2,requires_grad=True),a)
# inference backward
with L.inference_mode(): a=L.ones(2).sum()
a.backward()
# inference batchnorm buffer
with L.inference_mode(): b=L.nn.BatchNorm1d(2)
b.weight=None; b.bias=None
b(L.ones(3,2))
# inference numpy and item
with L.inference_mode(): a=L.ones(2)
p(a.numpy().tolist(), a.sum().item(), a.tolist(), repr(a))
# inference normal add inference
with L.inference_mode(): a=L.ones(2)
n=L.ones(2); n.add_(a); n[0]=a[0]; p(n, n.is_inference(), n._version)
# inference relu of saved out
with L.inference_mode(): a=L.ones(2)
x=L.ones(2,requires_grad=True)
with L.inference_mode(): y=x.exp(); p(y.requires_grad, y.is_inference())
y2=y+x; p(y2)
# inference generator
@L.inference_mode()
def g():
    yield L.ones(1)
    yield L.ones(1)
i=g(); a=next(i); b=L.ones(1); c=next(i); p(a.is_inference(), b.is_inference(), c.is_inference())
# inference: index
with L.inference_mode(): i=L.tensor([0,1])
x=L.ones(3,requires_grad=True); y=x[i]; p(y); y.sum().backward(); p(x.grad)
# inference: index without gradient
with L.inference_mode(): i=L.tensor([0,1])
x=L.ones(3); p(x[i], x.is_inference())
# inference: mask
with L.inference_mode(): i=L.tensor([True,False,True])
x=L.ones(3,requires_grad=True); y=x[i]; p(y); y.sum().backward(); p(x.grad)
# inference: index_select
with L.inference_mode(): i=L.tensor([0,1])
x=L.ones(3,requires_grad=True); L.index_select(x,0,i)
# inference: gather
with L.inference_mode(): i=L.tensor([0,1])
x=L.ones(3,requires_grad=True); L.gather(x,0,i)
# inference: masked_fill
with L.inference_mode(): i=L.tensor([True,False,True])
x=L.ones(3,requires_grad=True); x.masked_fill(i,0.)
# inference: where
with L.inference_mode(): i=L.tensor([True,False,True])
x=L.ones(3,requires_grad=True); L.where(i,x,0.)
# inference: masked_select
with L.inference_mode(): i=L.tensor([True,False,True])
x=L.ones(3,requires_grad=True); L.masked_select(x,i)
# inference: take
with L.inference_mode(): i=L.tensor([0,1])
x=L.ones(3,requires_grad=True); L.take(x,i)
# inference: embedding
with L.inference_mode(): i=L.tensor([0,1])
x=L.ones(3,2,requires_grad=True); L.nn.functional.embedding(i,x)
# inference: 0-d index
with L.inference_mode(): i=L.tensor(1)
x=L.ones(3,requires_grad=True); y=x[i]; y.backward(); p(x.grad)
# inference: index among slices
with L.inference_mode(): i=L.tensor([0,1])
x=L.ones(3,3,requires_grad=True); x[1:,i]
# inference: target
with L.inference_mode(): i=L.tensor([0,1])
x=L.ones(2,3,requires_grad=True); L.nn.functional.cross_entropy(x,i)
# inference: nll target
with L.inference_mode(): i=L.tensor([0,1])
x=L.ones(2,3,requires_grad=True); L.nn.functional.nll_loss(x,i)
# inference: scatter index
with L.inference_mode(): i=L.tensor([0,1])
x=L.ones(3,requires_grad=True); x.scatter(0,i,2.)
# inference: index_add
with L.inference_mode(): i=L.tensor([0,1])
x=L.ones(3,requires_grad=True); p(x.index_add(0,i,L.ones(2)))
# inference: set item
with L.inference_mode(): i=L.tensor([0,1])
x=L.ones(3,requires_grad=True)*1; x[i]=2.; p(x)
# inference: set item with a value of it
with L.inference_mode(): i=L.ones(2)
x=L.ones(3,requires_grad=True)*1; x[:2]=i; p(x); x.sum().backward()
# inference: enable_grad inside
x=L.ones(2,requires_grad=True)
with L.inference_mode():
    with L.enable_grad(): y=x*2; p(L.is_grad_enabled(), L.is_inference_mode_enabled())
p(y.requires_grad,y.is_inference(),y.grad_fn)
# inference: set_grad_enabled inside
x=L.ones(2,requires_grad=True)
with L.inference_mode():
    with L.set_grad_enabled(True): y=(x*2).sum(); p(L.is_grad_enabled())
p(y.requires_grad,y.is_inference())
# inference: backward inside with enable_grad
x=L.ones(2,requires_grad=True)
with L.inference_mode():
    with L.enable_grad(): y=(x*2).sum(); y.backward()
# inference: grad-enabled leaf made inside
with L.inference_mode():
    with L.enable_grad(): x=L.ones(2,requires_grad=True); y=x*2; p(y.requires_grad,x.requires_grad)
p(y.requires_grad,y.is_leaf)
# inference: view with enable_grad inside
x=L.ones(2,requires_grad=True)
with L.inference_mode():
    with L.enable_grad(): y=x[0]; z=x.view(2,1)
p(y.requires_grad,y.is_inference(),z.requires_grad,z.grad_fn)
# inference: in place with enable_grad inside
x=L.ones(2,requires_grad=True)*1
with L.inference_mode():
    with L.enable_grad(): x.mul_(2)
p(x,x.requires_grad,x._version,type(x.grad_fn).__name__)
# inference: leaf in place with enable_grad inside
x=L.ones(2,requires_grad=True)
with L.inference_mode():
    with L.enable_grad(): x.mul_(2)
p(x)
# inference: module with enable_grad inside
m=L.nn.Linear(2,2)
with L.inference_mode():
    with L.enable_grad(): y=m(L.ones(1,2))
p(y.requires_grad,y.is_inference())
# inference: normal mode inside
x=L.ones(2,requires_grad=True)
with L.inference_mode():
    with L.inference_mode(False): y=x*2; p(L.is_grad_enabled())
p(y.requires_grad,y.is_inference()); y.sum().backward(); p(x.grad)
# inference: no_grad inside normal mode inside
x=L.ones(2,requires_grad=True)
with L.inference_mode():
    with L.inference_mode(False):
        with L.no_grad(): y=x*2
p(y.requires_grad,y.is_inference())
# inference: set_grad_enabled call inside
x=L.ones(2,requires_grad=True)
with L.inference_mode(): L.set_grad_enabled(True); y=x*2
p(y.requires_grad,L.is_grad_enabled())
# inference: requires_grad_ inside
with L.inference_mode(): x=L.ones(2); x.requires_grad_(); y=x*2; p(x.requires_grad,y.requires_grad)
# inference: several results
x=L.ones(2,3,requires_grad=True)
with L.inference_mode():
    with L.enable_grad(): a,b=x.max(1); c=x.split(1); d=L.linalg.svd(x)
p(a.requires_grad,c[0].requires_grad,d[0].requires_grad)
# inference: checkpoint
x=L.ones(2,requires_grad=True)
with L.inference_mode():
    with L.enable_grad(): y=L.utils.checkpoint.checkpoint(L.exp,x,use_reentrant=False)
p(y.requires_grad)
# inference view of what requires grad
with L.inference_mode():
    c=L.ones(1,2,requires_grad=True)
    p(c.requires_grad,c.view(-1).requires_grad,c[0].requires_grad,(c*2).requires_grad)
p(c.view(-1).requires_grad,c[0].view(-1).requires_grad,c.t().is_inference())
# inference view of a normal tensor
a=L.ones(2,requires_grad=True)
with L.inference_mode(): v=a[:1]
p(v.requires_grad,v.is_inference())
# inference increment_version
with L.inference_mode(): a=L.ones(3)
L.autograd.graph.increment_version(a); b=L.ones(2)
L.autograd.graph.increment_version([a,b]); p(b._version)
"""

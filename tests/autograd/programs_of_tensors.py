"""Short programs for ``test_short_programs``: tensors and gradients, under ``L``, either library.

Each begins with its name behind a ``#``; ``p`` notes values.
"""

PROGRAMS = r"""
# grad assign none
x=L.ones(2,requires_grad=True); x.sum().backward(); x.grad=None; p(x.grad)
# numpy of what requires grad, recorded or not
import numpy
x=L.ones(2,requires_grad=True)
for mode in (L.enable_grad,L.no_grad,L.inference_mode):
    with mode():
        for out in (lambda: x.numpy(), lambda: numpy.asarray(x), lambda: x.numpy(force=True)):
            try: p(out())
            except RuntimeError as e: p(str(e))
# grad assign ok then accumulate
x=L.ones(2,requires_grad=True); x.grad=L.ones(2)*3; x.sum().backward(); p(x.grad)
# grad assign on non-requires
x=L.ones(2); x.grad=L.ones(2); p(x.grad)
# grad accumulates in place into same tensor
x=L.ones(2,requires_grad=True); x.sum().backward(); g=x.grad; x.sum().backward()
p(g, x.grad is g)
# grad requires_grad
x=L.ones(2,requires_grad=True); x.grad=L.ones(2,requires_grad=True)
(x*2).sum().backward(); p(x.grad)
# data set wrong type
x=L.ones(2,requires_grad=True); x.data=3
# data set other shape
x=L.ones(2,requires_grad=True); x.data=L.ones(3); p(x, x.requires_grad)
# data set other dtype
x=L.ones(2,requires_grad=True); x.data=L.ones(2,dtype=L.float64); p(x)
# data set int on requires grad
x=L.ones(2,requires_grad=True); x.data=L.ones(2,dtype=L.int64); p(x.dtype)
# data keeps version
x=L.ones(2); v=x._version; x.data=L.zeros(2); p(x, x._version-v)
# data modify invisible
x=L.ones(2,requires_grad=True); y=x*x; x.data.mul_(3); y.sum().backward(); p(x.grad)
# data set on view
x=L.ones(2,2); v=x[0]; v.data=L.zeros(5); p(x,v)
# data shares
x=L.ones(2); d=x.data; d[0]=5; p(x, d.requires_grad)
# detach modify seen
x=L.ones(2,requires_grad=True); y=x*x; x.detach().mul_(3); y.sum().backward()
# requires_grad_ on int
x=L.ones(2,dtype=L.int64).requires_grad_()
# requires_grad set nonleaf false
x=L.ones(2,requires_grad=True); y=x*2; y.requires_grad=False
# requires_grad set nonleaf true
x=L.ones(2,requires_grad=True); y=x*2; y.requires_grad=True; p(y.requires_grad)
# requires_grad_ nonleaf false method
x=L.ones(2,requires_grad=True); y=x*2; y.requires_grad_(False)
# requires_grad in no_grad view
x=L.ones(2,2)
with L.no_grad(): v=x[0]
v.requires_grad_(); p(v.requires_grad, x.requires_grad); (v*3).sum().backward()
p(v.grad)
# no_grad view in place in no_grad
x=L.ones(2,2,requires_grad=True)
with L.no_grad(): v=x[0]; v.mul_(2)
p(x, x._version)
# view of leaf inplace
x=L.ones(2,2,requires_grad=True); x[0].mul_(2)
# leaf inplace
x=L.ones(2,requires_grad=True); x.add_(1)
# leaf inplace setitem
x=L.ones(2,requires_grad=True); x[0]=3
# leaf inplace no_grad
x=L.ones(2,requires_grad=True)
with L.no_grad(): x.add_(1)
p(x, x.is_leaf)
# view inplace gradient
x=L.ones(2,2,requires_grad=True); y=x*1; y[0].mul_(3); y.sum().backward(); p(x.grad)
# view before base change
x=L.ones(2,2,requires_grad=True); y=x*1; v=y[0]; y.mul_(2)
p(type(v.grad_fn).__name__!='NoneType'); v.sum().backward(); p(x.grad)
# saved changed error
x=L.ones(2,requires_grad=True); y=x.exp(); y.mul_(2); y.sum().backward()
# saved changed ok
x=L.ones(2,requires_grad=True); y=x+1; y.mul_(2); y.sum().backward(); p(x.grad)
# retain_grad
x=L.ones(2,requires_grad=True); y=x*2; y.retain_grad(); (y*y).sum().backward()
p(y.grad, y.retains_grad)
# retain_grad twice
x=L.ones(2,requires_grad=True); y=x*2; y.retain_grad(); z=(y*y).sum()
z.backward(retain_graph=True); z.backward(); p(y.grad,x.grad)
# retain_grad leaf
x=L.ones(2,requires_grad=True); x.retain_grad(); x.sum().backward()
p(x.grad, x.retains_grad)
# retain_grad none
x=L.ones(2); x.retain_grad()
# retain_grad after inplace
x=L.ones(2,requires_grad=True); y=x*2; y.retain_grad(); y.mul_(3); y.sum().backward()
p(y.grad, x.grad)
# nonleaf grad
x=L.ones(2,requires_grad=True); y=x*2; y.sum().backward(); p(y.grad)
# hook changes
x=L.ones(2,requires_grad=True); h=x.register_hook(lambda g: g*3); x.sum().backward()
p(x.grad); h.remove(); x.grad=None; x.sum().backward(); p(x.grad)
# hook order
x=L.ones(2,requires_grad=True); y=x*2
y.register_hook(lambda g: p('y1',g)); y.register_hook(lambda g: g+1)
y.register_hook(lambda g: p('y3',g)); y.sum().backward(); p(x.grad)
# hook before retain
x=L.ones(2,requires_grad=True); y=x*2; y.retain_grad(); y.register_hook(lambda g: g*10)
y.sum().backward(); p(y.grad,x.grad)
# hook on no grad
L.ones(2).register_hook(lambda g: g)
# hook on accumulated only once
x=L.ones(2,requires_grad=True); c=[]; x.register_hook(lambda g: c.append(1))
(x*2+x*3).sum().backward(); p(len(c), x.grad)
# post accumulate hook
x=L.ones(2,requires_grad=True)
x.register_post_accumulate_grad_hook(lambda t: p(t.grad)); (x*2).sum().backward()
# post acc on nonleaf
x=L.ones(2,requires_grad=True)
(x*2).register_post_accumulate_grad_hook(lambda t: None)
# hook with create_graph
x=L.tensor(2.,requires_grad=True); y=x**3
y.register_hook(lambda g: p(g.requires_grad))
g,=L.autograd.grad(y,x,create_graph=True); p(g); g.backward(); p(x.grad)
# node hooks
x=L.ones(2,requires_grad=True); y=x*2
y.grad_fn.register_hook(lambda gi,go: p(len(gi),len(go))); y.sum().backward()
# node prehook
x=L.ones(2,requires_grad=True); y=x*2
y.grad_fn.register_prehook(lambda go: tuple(g*2 for g in go)); y.sum().backward()
p(x.grad)
# grad_fn name
x=L.ones(2,requires_grad=True); y=(x*2).sum()
p(y.grad_fn.name(), [f[0].name() for f in y.grad_fn.next_functions])
# backward twice
x=L.ones(2,requires_grad=True); y=(x*x).sum(); y.backward(); y.backward()
# backward twice: times a number
x=L.ones(2,requires_grad=True); y=(x*2).sum(); y.backward(); p(x.grad); y.backward()
# backward twice: a number times
x=L.ones(2,requires_grad=True); y=(2*x).sum(); y.backward(); p(x.grad); y.backward()
# backward twice: in place by a number
x=L.ones(2,requires_grad=True); y=x.clone().mul_(3.5).sum()
y.backward(); p(x.grad); y.backward()
# backward twice: divided by a number
x=L.ones(2,requires_grad=True); y=(x/300.).sum(); y.backward(); p(x.grad); y.backward()
# backward twice: rounded quotient
x=L.ones(2,requires_grad=True); y=x.div(2,rounding_mode='floor').sum()
y.backward(); y.backward()
# backward twice: plus and minus a number
x=L.ones(2,requires_grad=True); y=(3-x+2-1).sum(); y.backward(); y.backward(); p(x.grad)
# backward twice: with a graph of its own
x=L.ones(2,requires_grad=True); y=(x*2).sum(); y.backward(create_graph=True)
y.backward(); p(x.grad)
# backward twice: times a number, grad
x=L.ones(2,requires_grad=True); y=(x*2).sum(); L.autograd.grad(y,x); L.autograd.grad(y,x)
# post accumulate hook that returns something
x=L.ones(2,requires_grad=True); x.register_post_accumulate_grad_hook(lambda t: t.grad)
(x*2).sum().backward()
# backward non scalar
x=L.ones(2,requires_grad=True); (x*2).backward()
# backward no grad
L.ones(2).sum().backward()
# backward wrong gradient shape
x=L.ones(2,requires_grad=True); (x*2).backward(L.ones(3))
# backward gradient not tensor
x=L.ones(2,requires_grad=True); (x*2).backward(3.)
# backward inputs
x=L.ones(2,requires_grad=True); w=L.ones(2,requires_grad=True)
(x*w).sum().backward(inputs=[x]); p(x.grad,w.grad)
# backward inputs nonleaf
x=L.ones(2,requires_grad=True); y=x*2; (y*3).sum().backward(inputs=[y])
p(y.grad,x.grad)
# grad unused
x=L.ones(2,requires_grad=True); w=L.ones(2,requires_grad=True)
L.autograd.grad((x*2).sum(),w)
# grad allow unused
x=L.ones(2,requires_grad=True); w=L.ones(2,requires_grad=True)
p(L.autograd.grad((x*2).sum(),[w,x],allow_unused=True))
# grad materialize
x=L.ones(2,requires_grad=True); w=L.ones(2,requires_grad=True)
p(L.autograd.grad((x*2).sum(),[w,x],materialize_grads=True))
# grad of not requiring
x=L.ones(2); L.autograd.grad((x*2).sum(),x)
# grad same input twice
x=L.ones(2,requires_grad=True); p(L.autograd.grad((x*2).sum(),[x,x]))
# grad wrt nonleaf
x=L.ones(2,requires_grad=True); y=x*2; z=(y*y).sum(); p(L.autograd.grad(z,[y,x]))
# grad of itself
x=L.ones(1,requires_grad=True); p(L.autograd.grad(x,x))
# grad many outputs
x=L.ones(2,requires_grad=True); p(L.autograd.grad([x.sum(),(x*x).sum()],x))
# grad grad_outputs
x=L.ones(2,requires_grad=True)
p(L.autograd.grad(x*2,x,grad_outputs=L.tensor([1.,5.])))
# grads batched
x=L.ones(2,requires_grad=True)
p(L.autograd.grad(x*x,x,grad_outputs=L.eye(2),is_grads_batched=True))
# double backward
x=L.tensor([1.,2.],requires_grad=True)
g,=L.autograd.grad((x**3).sum(),x,create_graph=True); (g**2).sum().backward()
p(x.grad)
# triple
x=L.tensor(2.,requires_grad=True); y=x**5
for _ in range(4): y,=L.autograd.grad(y,x,create_graph=True)
p(y)
# grad penalty
L.manual_seed(0); w=L.randn(3,3,requires_grad=True); x=L.randn(4,3,requires_grad=True)
o=L.tanh(x@w).sum(); g,=L.autograd.grad(o,x,create_graph=True)
((g.norm(2,dim=1)-1)**2).mean().backward(); p(w.grad)
# complex abs
x=L.tensor([1+2j,3-1j],requires_grad=True); x.abs().sum().backward(); p(x.grad)
# complex mul
x=L.tensor([1+2j,3-1j],requires_grad=True); (x*x*(2-1j)).real.sum().backward()
p(x.grad)
# complex backward nonreal
x=L.tensor([1+2j],requires_grad=True); (x*x).sum().backward()
# complex gradient arg
x=L.tensor([1+2j],requires_grad=True); (x*x).backward(L.tensor([1j])); p(x.grad)
# complex real mix
x=L.tensor([1.,2.],requires_grad=True); w=L.tensor([1+2j,2j])
(x*w).abs().pow(2).sum().backward(); p(x.grad)
# view_as_real
x=L.tensor([1+2j,3-1j],requires_grad=True)
(L.view_as_real(x)*L.tensor([2.,3.])).sum().backward(); p(x.grad)
# angle
x=L.tensor([1+2j,3-1j],requires_grad=True); x.angle().sum().backward(); p(x.grad)
# conj inplace
x=L.tensor([1+2j,3-1j],requires_grad=True); y=(x*1).conj(); y.abs().sum().backward()
p(x.grad)
# fft grad
x=L.arange(4.).requires_grad_(); L.fft.fft(x).abs().pow(2).sum().backward(); p(x.grad)
# polar
r=L.tensor([1.,2.],requires_grad=True); t=L.tensor([.5,.7],requires_grad=True)
L.polar(r,t).real.sum().backward(); p(r.grad,t.grad)
# set_
x=L.ones(2); x.set_(L.zeros(3)); p(x)
# set_ on requires
x=L.ones(2,requires_grad=True); y=x*1; y.set_(L.zeros(3)); p(y)
# detach_
x=L.ones(2,requires_grad=True); y=x*2; y.detach_()
p(y.requires_grad,y.is_leaf,y.grad_fn)
# detach_ view
x=L.ones(2,2,requires_grad=True); y=(x*1)[0]; y.detach_()
# detach view base
x=L.ones(2,2); v=x.detach(); v[0]=3; p(x, v.requires_grad, v._is_view())
# expand inplace
x=L.ones(1,3).expand(2,3); x.add_(1)
# unbind inplace
x=L.ones(2,2,requires_grad=True); a,b=(x*1).unbind(); a.mul_(2)
# chunk inplace
x=L.ones(2,2,requires_grad=True); a,b=(x*1).chunk(2); a.mul_(2)
# inplace relu_
x=L.tensor([-1.,2.],requires_grad=True); y=(x*2).relu_(); y.sum().backward(); p(x.grad)
# inplace copy_
x=L.ones(2,requires_grad=True); z=L.zeros(3,2); z[1].copy_(x*2); p(z.requires_grad)
(z*z).sum().backward(); p(x.grad)
# setitem grad value
x=L.ones(2,requires_grad=True); z=L.zeros(4); z[1:3]=x*3; (z*z).sum().backward()
p(x.grad)
# setitem mask
x=L.arange(4.).requires_grad_(); y=x*1; y[y>1]=0.; (y*y).sum().backward(); p(x.grad)
# masked index grad
x=L.arange(4.).requires_grad_(); x[x>1].pow(2).sum().backward(); p(x.grad)
# iadd closure
x=L.ones(2,requires_grad=True); y=x*1; y+=x; y*=2; y-=1; y/=4; y.sum().backward()
p(x.grad)
# set_grad_enabled
with L.set_grad_enabled(False): y=L.ones(2,requires_grad=True)*2
p(y.requires_grad); L.set_grad_enabled(False); p(L.is_grad_enabled())
L.set_grad_enabled(True)
# no_grad decorator
@L.no_grad()
def f(x): return x*2
p(f(L.ones(2,requires_grad=True)).requires_grad)
# enable inside no_grad
with L.no_grad():
    with L.enable_grad(): y=L.ones(2,requires_grad=True)*2
p(y.requires_grad)
# no_grad as decorator without parens
@L.no_grad
def f(x): return x*2
p(f(L.ones(2,requires_grad=True)).requires_grad)
# clone
x=L.ones(2,requires_grad=True); y=x.clone(); p(y.requires_grad,y.is_leaf)
y.sum().backward(); p(x.grad)
# to dtype grad
x=L.ones(2,requires_grad=True); x.double().sum().backward(); p(x.grad.dtype)
# deepcopy nonleaf
import copy
x=L.ones(2,requires_grad=True)*2; copy.deepcopy(x)
# deepcopy shared memory
import copy
a=L.arange(6.); c,d,e=copy.deepcopy((a,a.view(2,3),a[4:])); d[0,1]=9.; e.zero_(); p(c,d,e,a)
p(c.data_ptr()==d.data_ptr(),e.storage_offset(),e.untyped_storage().nbytes(),d._is_view())
c,d=copy.deepcopy([a[1::2],a[:4].view(2,2).T]); c.zero_(); p(c,d,c.stride(),d.stride())
c=copy.deepcopy({'s':a.untyped_storage(),'a':a}); p(c['s'].data_ptr()==c['a'].data_ptr())
c=copy.deepcopy(a[:1].expand(3)); p(c,c.stride()); p(copy.deepcopy(L.ones(2,0)).shape)
w=L.nn.Parameter(L.ones(2)); c,d=copy.deepcopy((w,w.data)); p(c.data_ptr()==d.data_ptr())
# deepcopy leaf
import copy
x=L.ones(2,requires_grad=True); x.sum().backward(); y=copy.deepcopy(x)
p(y,y.grad,y.requires_grad)
# copy leaf
import copy
x=L.ones(2,requires_grad=True); y=copy.copy(x); p(y, y.requires_grad)
# numpy on requires_grad
L.ones(2,requires_grad=True).numpy()
# item
p(L.ones(1,requires_grad=True).item()); L.ones(2).item()
# bool many
bool(L.ones(2))
# int16 tensor grad
L.tensor([1],dtype=L.int16,requires_grad=True)
# max grads ties
x=L.tensor([1.,1.,0.],requires_grad=True); x.max().backward(); p(x.grad); x.grad=None
x.max(0)[0].backward(); p(x.grad); x.grad=None; x.amax().backward(); p(x.grad)
# where nan grad
x=L.tensor([0.,1.],requires_grad=True)
L.where(x>0,x.sqrt(),L.zeros(2)).sum().backward(); p(x.grad)
# norm zero
x=L.zeros(2,requires_grad=True); x.norm().backward(); p(x.grad)
# anomaly
x=L.tensor([0.],requires_grad=True)
with L.autograd.detect_anomaly(): (x.sqrt()*0).sum().backward()
# set_detect_anomaly
L.autograd.set_detect_anomaly(True); p(L.is_anomaly_enabled())
L.autograd.set_detect_anomaly(False)
# Variable
x=L.autograd.Variable(L.ones(2),requires_grad=True); p(x.requires_grad)
# gradcheck empty outputs
x=L.ones(0,dtype=L.float64,requires_grad=True)
p(L.autograd.gradcheck(lambda x:x*2,(x,)), L.autograd.gradgradcheck(lambda x:x*2,(x,)))
# gradcheck empty output nonempty input
x=L.ones(2,dtype=L.float64,requires_grad=True)
p(L.autograd.gradcheck(lambda x:x[:0]*2,(x,)))
p(L.autograd.gradgradcheck(lambda x:x[:0]*2,(x,)))
p(L.autograd.gradgradcheck(lambda x:x*x,(x,),check_fwd_over_rev=True,check_rev_over_rev=True))
# gradgradcheck empty plus other
x=L.ones(2,dtype=L.float64,requires_grad=True)
p(L.autograd.gradgradcheck(lambda x:(x[:0]**2,x**3),(x,)))
# gradcheck fail return
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): return x*2
    @staticmethod
    def backward(ctx,g): return g*3
x=L.ones(2,dtype=L.float64,requires_grad=True)
p(L.autograd.gradcheck(F.apply,(x,),raise_exception=False))
# gradcheck passes over outputs without history
x=L.ones(2,dtype=L.float64,requires_grad=True)
p(L.autograd.gradcheck(lambda x:(x*2,x.detach()*3),(x,)))
p(L.autograd.gradcheck(lambda x:L.ones(2,dtype=L.float64),(x,)))
# gradcheck without any history
x=L.ones(2,dtype=L.float64,requires_grad=True)
L.autograd.gradcheck(lambda x:x.detach()*3,(x,))
# gradcheck no inputs
L.autograd.gradcheck(lambda x:x,(L.ones(2,dtype=L.float64),))
# is_leaf kinds
x=L.ones(2,requires_grad=True)
p(x.is_leaf,(x+1).is_leaf,x.detach().is_leaf,L.ones(1).is_leaf,(L.ones(1)+1).is_leaf)
# output_nr
x=L.ones(2,2,requires_grad=True); a,b=x.unbind(); p(a.output_nr,b.output_nr)
# tensor hook remove during with
x=L.ones(2,requires_grad=True)
with x.register_hook(lambda g:g*5): x.sum().backward()
p(x.grad); x.grad=None; x.sum().backward(); p(x.grad)
# resize_ with grad
x=L.ones(2,requires_grad=True); x.resize_(3)
# resize_
x=L.ones(2); x.resize_(1); p(x)
# zero_ grad
x=L.ones(2,requires_grad=True); x.sum().backward(); x.grad.zero_(); p(x.grad)
# leaf from data swap shares with optimizer
x=L.nn.Parameter(L.ones(2)); x.data.copy_(L.zeros(2)); x.data=x.data+1; p(x)
# parameter ops
x=L.nn.Parameter(L.ones(2))
p(x.requires_grad, x.is_leaf, type(x*2).__name__, type(x.data).__name__, type(x.detach()).__name__)
# retain_graph create
x=L.tensor(2.,requires_grad=True); y=x**2; y.backward(create_graph=True)
p(x.grad.requires_grad); x.grad.sum().backward(); p(x.grad)
# nograd out of inplace mult
x=L.ones(3,requires_grad=True); w=x.clone(); w[0]*=4; w.sum().backward(); p(x.grad)
# pow scalar exponent tensor grads
x=L.tensor([2.,3.],requires_grad=True); e=L.tensor(2.,requires_grad=True)
(x**e).sum().backward(); p(x.grad,e.grad)
# broadcast grads
a=L.ones(3,1,requires_grad=True); b=L.ones(1,4,requires_grad=True)
(a*b).sum().backward(); p(a.grad,b.grad)
# matmul batch grads
a=L.ones(2,3,requires_grad=True); b=L.ones(5,3,4,requires_grad=True)
(a@b).sum().backward(); p(a.grad,b.grad.shape)
# out= with grad
x=L.ones(2,requires_grad=True); L.add(x,x,out=L.zeros(2))
# index_put accumulate
x=L.ones(3,requires_grad=True)
y=L.zeros(2).index_put((L.tensor([0,0,1]),),x,accumulate=True); (y*y).sum().backward()
p(x.grad)
# requires_grad_ numbers
x=L.ones(2).requires_grad_(False); p(x.requires_grad)
# detached view version
x=L.ones(2); v=x.view(1,2); x.add_(1); p(x._version, v._version, v._base is x)
# hook with remove inside
x=L.ones(2,requires_grad=True); h=[None]
def f(g): h[0].remove(); return g*2
h[0]=x.register_hook(f); x.sum().backward(); p(x.grad); x.sum().backward(); p(x.grad)
# real view write
x=L.zeros(2,dtype=L.complex64); x.real.fill_(3.); x.imag[0]=1; p(x)
# diag view write
x=L.zeros(2,2); x.diagonal().fill_(3.); p(x); x.T[0,1]=7; p(x)
# as_strided grad
x=L.arange(4.).requires_grad_(); y=x.as_strided((2,2),(1,1)); (y*y).sum().backward()
p(x.grad)
# cumsum etc
x=L.arange(1.,4.).requires_grad_(); (x.cumprod(0)*x.cumsum(0)).sum().backward()
p(x.grad)
# scatter
x=L.arange(1.,4.).requires_grad_()
L.zeros(3).scatter_add(0,L.tensor([0,0,1]),x*x).pow(2).sum().backward(); p(x.grad)
# autograd variable is a tensor
x=L.autograd.Variable(L.ones(2)); p(isinstance(x,L.autograd.Variable),x.requires_grad)
# set_ changes shape and keeps history
x=L.ones(2,requires_grad=True); y=x*2; y.set_(L.zeros(3)); p(y.shape, y.requires_grad)
# set_ wrong dtype
L.ones(2).set_(L.zeros(3,dtype=L.int64))
# grad assign wrong shape
x=L.ones(2,requires_grad=True); x.grad=L.ones(3)
# grad assign wrong dtype
x=L.ones(2,requires_grad=True); x.grad=L.ones(2,dtype=L.float64)
# grad assign not tensor
x=L.ones(2,requires_grad=True); x.grad=[1.,2.]
# grad assign self
x=L.ones(2,requires_grad=True); x.grad=x
# grad del
x=L.ones(2,requires_grad=True); x.sum().backward(); del x.grad; p(x.grad)
# hook bad return
x=L.ones(2,requires_grad=True); x.register_hook(lambda g: 3); x.sum().backward()
# hook bad shape
x=L.ones(2,requires_grad=True); x.register_hook(lambda g: L.ones(3))
x.sum().backward()
# setitem of view in nograd
x=L.ones(3,requires_grad=True)*1
with L.no_grad(): v=x[0:2]
v[0]=3
# grad empty
x=L.ones(2,requires_grad=True); p(L.autograd.grad((x*2).sum(),[]))
# swap grad to other device none
x=L.ones(2,requires_grad=True); x.grad=L.ones(2,1)
# hook bad dtype
x=L.ones(2,requires_grad=True); x.register_hook(lambda g: g.double()); x.sum().backward()
# grad only_inputs
x=L.ones(2,requires_grad=True); p(L.autograd.grad(x*x,x,L.ones(2),False,False,True,False))
# grads batched, one unused
x=L.ones(2,requires_grad=True); y=L.ones(2,requires_grad=True); e=L.eye(2)
p(L.autograd.grad(x*2,[x,y],e,is_grads_batched=True,allow_unused=True))
# grads batched, one unused, as zeros
x=L.ones(2,requires_grad=True); y=L.ones(3,requires_grad=True); e=L.eye(2)
p(L.autograd.grad(x*2,[x,y],e,is_grads_batched=True,materialize_grads=True)[0])
# grads batched, one unused, not allowed
x=L.ones(2,requires_grad=True); y=L.ones(3,requires_grad=True); e=L.eye(2)
L.autograd.grad(x*2,[x,y],e,is_grads_batched=True)
# grads batched free the graph
x=L.ones(2,requires_grad=True); y=x*x; e=L.eye(2)
p(L.autograd.grad(y,x,e,is_grads_batched=True))
L.autograd.grad(y,x,e[0])
# grads batched retain the graph
x=L.ones(2,requires_grad=True); y=x*x; e=L.eye(2)
L.autograd.grad(y,x,e,retain_graph=True,is_grads_batched=True)
p(L.autograd.grad(y,x,e[0]))
# view that no longer requires grad
x=L.ones(3); v=x[:2]; v.requires_grad_(); a=v.requires_grad; v.requires_grad_(False)
p(a,v.requires_grad,v.is_leaf); v.add_(1); p(x,v)
# requires_grad_ of what is no bool
L.ones(2).requires_grad_(1)
# requires_grad set to what is no bool
x=L.ones(2); x.requires_grad=1
"""

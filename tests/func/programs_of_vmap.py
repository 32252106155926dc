"""Short programs for ``test_programs``: ``vmap``, under ``L``.

Their errors have PyTorch's words.
"""

PROGRAMS = r"""
# vmap
x=L.arange(6.).reshape(2,3); p(L.vmap(lambda a: a*2)(x), L.func.vmap(L.dot)(x,x), L.vmap(L.sum)(x))
# in dims
x=L.arange(6.).reshape(2,3); v=L.tensor([1.,2.])
p(L.vmap(lambda a: a.sum(), in_dims=1)(x), L.vmap(lambda a: a*2, in_dims=-1)(x))
p(L.vmap(lambda a,b: a*b, in_dims=(0,None))(v,x), L.vmap(L.mv, in_dims=(None,1))(x,x.T@x))
p(L.vmap(lambda d: d['a']*d['b'], in_dims=({'a':0,'b':None},))({'a':v,'b':x}))
p(L.vmap(lambda d,e: d['a']*d['b'][0]*e, in_dims=(0,1))({'a':v,'b':[v]}, x.T))
p(L.vmap(lambda a,b: a*b, in_dims=(0,None))(v,3))
# in dims of named tuples
import collections
N=collections.namedtuple('N','a b'); v=L.tensor([1.,2.])
r=L.vmap(lambda n: N(n.a*2,n.b), in_dims=(N(0,None),))(N(v,v)); p(r.a, r.b)
# in dims all None
L.vmap(lambda a,b: a*b, in_dims=(None,None))(L.ones(2),L.ones(2))
# in dims None
L.vmap(lambda a: a, in_dims=None)(L.ones(2))
# in dims list
L.vmap(lambda a: a, in_dims=[0])(L.ones(2))
# in dims str
L.vmap(lambda a: a, in_dims=('x',))(L.ones(2))
# in dims too many
L.vmap(lambda a: a, in_dims=(0,0))(L.ones(2))
# in dims of other keys
L.vmap(lambda d: d['a'], in_dims=({'a':0,'c':None},))({'a':L.ones(2),'b':L.ones(2)})
# a number
L.vmap(lambda a,b: a*b)(L.ones(2),3)
# other sizes
L.vmap(lambda a,b: a*b)(L.ones(2),L.ones(3))
# no dimension
L.vmap(lambda a: a)(L.tensor(1.))
# a dimension beyond
L.vmap(lambda a: a, in_dims=2)(L.ones(2,3))
# no arguments
L.vmap(lambda: 1)()
# keywords alone
L.vmap(lambda a: a)(a=L.ones(2))
# keywords
v=L.tensor([1.,2.]); p(L.vmap(lambda a,s=1: a*s)(v,s=v))
# out dims
x=L.arange(6.).reshape(2,3); v=L.tensor([1.,2.])
p(L.vmap(lambda a: a*2, out_dims=1)(x), L.vmap(lambda a: a*2, out_dims=-1)(x),
    L.vmap(lambda a: a*2, out_dims=-2)(x))
p(L.vmap(lambda a: (x*a, x*a), out_dims=(0,2))(v), L.vmap(lambda a: [a,a], out_dims=[0,0])(v))
r=L.vmap(lambda a: {'a':a,'b':a*x}, out_dims={'a':0,'b':1})(v); p(r['a'], r['b'])
r=L.vmap(lambda a: {'a':a,'b':(a,[a*x])})(v); p(r['a'], r['b'])
p(L.vmap(lambda a: a, out_dims=(0,))(v), L.vmap(lambda a: (a,), out_dims=0)(v))
# out dims None
v=L.tensor([1.,2.]); p(L.vmap(lambda a: (a,3.,'s',None), out_dims=(0,None,None,None))(v))
p(L.vmap(lambda a: L.ones(2), out_dims=None)(v))
# out dims None of what differs
L.vmap(lambda a: a, out_dims=None)(L.tensor([1.,2.]))
# out dims too many
L.vmap(lambda a: (a, a), out_dims=(0,0,0))(L.ones(2))
# out dims for one
L.vmap(lambda a: a, out_dims=(0,0))(L.ones(2))
# out dims deeper
L.vmap(lambda a: (a,a), out_dims=(0,(0,0)))(L.ones(2))
# out dims str
L.vmap(lambda a: a, out_dims='a')(L.ones(2))
# a result that is a number
L.vmap(lambda a: 3.)(L.ones(2))
# a result that is None
L.vmap(lambda a: None)(L.ones(2))
# a result that is a constant
c=L.tensor([1.,2.]); p(L.vmap(lambda a: c)(L.ones(3)))
# integers
p(L.vmap(lambda a: (a*2, a.float()/2, a>1))(L.tensor([1,2])))
# no examples
p(L.vmap(lambda a: a.sum())(L.ones(0,3)), L.vmap(lambda a: a*2)(L.ones(0,3)),
    L.vmap(lambda a: a*2, in_dims=1, out_dims=1)(L.ones(2,0)))
p(L.vmap(lambda a: a*2)(L.ones(0,3,dtype=L.int64)))
# chunks
v=L.arange(5.)
p(L.vmap(lambda a: a*2, chunk_size=2)(v), L.vmap(lambda a: a*v, chunk_size=2, out_dims=1)(v))
# chunks of none
L.vmap(lambda a: a*2, chunk_size=0)
# names of functions
import functools
L.vmap(functools.partial(lambda a,b: 3., b=1))(L.ones(2))
# nested
x=L.arange(6.).reshape(2,3); y=x+1
p(L.vmap(L.vmap(L.dot,in_dims=(None,0)),in_dims=(0,None))(x,y), L.vmap(L.vmap(lambda a: a**2))(x))
p(L.vmap(L.vmap(lambda a: a*2, in_dims=0, out_dims=0), in_dims=1, out_dims=1)(x))
# gradients through it
x=L.arange(6.).reshape(2,3).requires_grad_(); w=L.tensor([1.,2.,3.],requires_grad=True)
r=L.vmap(lambda a: (a**3*w).sum())(x); p(r); r.sum().backward(); p(x.grad, w.grad)
with L.no_grad():
    p(L.vmap(lambda a: (a**3*w).sum())(x))
# per-sample gradients
F=L.func; x=L.arange(6.).reshape(2,3); w=L.ones(3)
p(F.vmap(F.grad(lambda w,a: (w*a).sum()**2), in_dims=(None,0))(w,x))
g,v=F.vmap(F.grad_and_value(lambda w,a: (w*a).sum()**2), in_dims=(None,0))(w,x); p(g,v)
# per-sample gradients of a module
F=L.func; m=L.nn.Sequential(L.nn.Linear(2,2),L.nn.Tanh(),L.nn.Linear(2,1))
n={k: L.full(v.shape, .1*(i+1)) for i,(k,v) in enumerate(m.named_parameters())}
def loss(n, x, y):
    return L.nn.functional.mse_loss(F.functional_call(m, n, (x.unsqueeze(0),)), y.unsqueeze(0))
g=F.vmap(F.grad(loss), in_dims=(None,0,0))(n, L.tensor([[1.,2.],[3.,4.],[5.,6.]]), L.ones(3,1))
p(*g, *g.values())
# ensembles
F=L.func; L.manual_seed(0); ms=[L.nn.Linear(3,2) for _ in range(3)]; ps,bs=F.stack_module_state(ms)
x=L.arange(12.).reshape(4,3)/10
out=F.vmap(lambda ps,bs,x: F.functional_call(ms[0],(ps,bs),(x,)), in_dims=(0,0,None))(ps,bs,x)
p(out); out.sum().backward(); p(ps['weight'].grad, ps['bias'].grad, ms[0].weight.grad)
# Jacobians of batches
F=L.func; x=L.arange(6.).reshape(2,3)
p(F.vmap(F.jacrev(L.sin))(x), F.vmap(F.jacfwd(lambda a: a.prod()))(x),
    F.vmap(F.hessian(lambda a: (a**3).sum()))(x))
# gradient of vmap
F=L.func; x=L.arange(6.).reshape(2,3)
p(F.grad(lambda x: F.vmap(lambda a: a.prod())(x).sum())(x), F.jacrev(F.vmap(L.sum))(x))
p(F.hessian(lambda x: F.vmap(lambda a: a.prod())(x).sum())(x))
p(F.jvp(F.vmap(L.sin), (x,), (L.ones(2,3),)))
# vmap of vjp
F=L.func; x=L.tensor([1.,2.]); o,f=F.vjp(lambda x: x**2, x); p(F.vmap(f)(L.eye(2)))
o,f=F.linearize(lambda x: x**2, x); p(F.vmap(f)(L.eye(2)))
p(F.vmap(lambda t: F.jvp(L.sin,(x,),(t,))[1])(L.eye(2)))
# random
L.vmap(lambda a: L.rand(2))(L.ones(2))
# random in place
L.vmap(lambda a: a.clone().normal_())(L.ones(2))
# random dropout
L.vmap(lambda a: L.nn.functional.dropout(a))(L.ones(2,3))
# random inside
L.vmap(lambda a: L.vmap(lambda b: L.rand(1),randomness='different')(a))(L.ones(2,3))
# random outside
L.vmap(lambda a: L.vmap(lambda b: L.rand(1))(a),randomness='different')(L.ones(2,3))
# random otherwise
L.vmap(lambda a: L.rand(2), randomness='other')
# random and the same
v=L.tensor([1.,2.,3.]); L.manual_seed(0)
p(L.vmap(lambda a: L.rand(2)+a, randomness='same')(v), L.rand(1))
L.manual_seed(0); p(L.vmap(lambda a: L.nn.functional.dropout(a), randomness='same')(L.ones(2,8)))
L.manual_seed(0); p(L.vmap(lambda a: L.rand(1), randomness='same', chunk_size=1)(v), L.rand(1))
# random and different
v=L.tensor([1.,2.]); L.manual_seed(0)
p(L.vmap(lambda a: L.rand(2)+a, randomness='different')(v), L.rand(1))
# random and nested
x=L.ones(2,3); L.manual_seed(0)
p(L.vmap(lambda a: L.vmap(lambda b: L.rand(1),randomness='different')(a),randomness='same')(x))
p(L.vmap(lambda a: L.vmap(lambda b: L.rand(1),randomness='same')(a),randomness='different')(x))
# random afterwards
try:
    L.vmap(lambda a: L.rand(2))(L.ones(2))
except RuntimeError:
    L.manual_seed(0); p(L.rand(2))
# in place
x=L.arange(6.).reshape(2,3); p(L.vmap(lambda a: a.add_(1))(x), x)
L.vmap(lambda a: a[0].mul_(2), in_dims=1)(x); p(x)
# in place on what was made for each example
x=L.arange(6.).reshape(2,3)
p(L.vmap(lambda a: L.zeros_like(a).add_(a))(x), L.vmap(lambda a: a.new_zeros(3).add_(a)[:2])(x))
def f(a):
    b=a.clone(); b[0]=a[1]; b[1:].mul_(2); b.view(-1).add_(1); c=b.detach(); c.sub_(1); return b+0
p(L.vmap(f)(x))
# in place nested
x=L.arange(6.).reshape(2,3); p(L.vmap(L.vmap(lambda a: a.mul_(2)))(x), x)
# batch norm
m=L.nn.Sequential(L.nn.BatchNorm1d(2)); L.func.replace_all_batch_norm_modules_(m)
p(L.vmap(lambda a: m(a), randomness='error')(L.arange(12.).reshape(2,3,2)**2))
# batch norm by argument
F=L.func; ms=[L.nn.BatchNorm1d(2) for _ in range(2)]; ps,bs=F.stack_module_state(ms)
x=L.arange(12.).reshape(2,3,2)**2
p(F.vmap(lambda ps,bs,x: F.functional_call(ms[0],(ps,bs),(x,)))(ps,bs,x)); p(*bs.values())
# as_strided from a place in the memory
b=L.arange(24.).reshape(2,4,3)[1]; c=L.arange(24.).reshape(4,3,2).movedim(1,0)
p(L.vmap(lambda t: t.as_strided((3,),(1,),12))(b),L.vmap(lambda t: t.as_strided((2,),(1,),13))(b))
p(L.vmap(lambda t: t.storage_offset()*L.ones(1))(b),L.vmap(lambda t: t.as_strided((2,),(1,)))(b))
p(L.vmap(lambda t: t.as_strided((2,),(6,),0))(c))
p(L.vmap(lambda t: t.as_strided((2,),(6,),2),in_dims=2)(c))
p(L.vmap(lambda t: t[1:].as_strided((2,),(1,),t[1:].storage_offset()))(b))
p(L.vmap(lambda t: t.view(3).as_strided((2,),(1,),13))(b))
p(L.vmap(lambda t: (t*2).as_strided((2,),(1,),1))(b))
d=L.arange(48.).reshape(2,4,3,2)
p(L.vmap(L.vmap(lambda t: t.as_strided((2,),(1,),24)))(d[1]))
p(L.vmap(L.vmap(lambda t: t.as_strided((1,),(1,),t.storage_offset()+1)),in_dims=2)(d))
f=L.vmap(lambda t: t.as_strided((2,),(1,),t.storage_offset()+1))
p(L.func.grad(lambda b: f(b*2).sum())(b))
"""

#: Refused as under PyTorch, in other words: a function runs for each example here.
IN_OTHER_WORDS = r"""
# in place on what is outside
s=L.zeros(3); L.vmap(lambda a: s.add_(a))(L.ones(2,3))
# in place on an argument that is whole
L.vmap(lambda a,b: b.add_(a), in_dims=(0,None))(L.ones(2,3), L.zeros(3))
# in place on what is outside, by an item
s=L.zeros(3)
def f(a):
    s[0]=a[0]; return a
L.vmap(f)(L.ones(2,3))
# in place on a view of what is outside
s=L.zeros(3); L.vmap(lambda a: s[1:].add_(a[1:]))(L.ones(2,3))
# in place on what is outside, detached
s=L.zeros(3); L.vmap(lambda a: s.detach().add_(a))(L.ones(2,3))
# in place on what is outside, inside
L.vmap(lambda a: L.vmap(lambda b: a.add_(b), in_dims=0)(L.ones(4,3)))(L.ones(2,3))
# running statistics
m=L.nn.BatchNorm1d(3); L.vmap(lambda a: m(a))(L.ones(2,4,3))
# running statistics of a function
s=L.zeros(3),L.ones(3)
L.vmap(lambda a: L.nn.functional.batch_norm(a,*s,training=True))(L.ones(2,4,3))
# in place on what is differentiated and requires grad
L.func.grad(lambda x: x.mul_(2).sum())(L.ones(2,requires_grad=True))
# in place on what is differentiated inside
F=L.func; F.grad(lambda y: F.grad(lambda x: (x.mul_(2)**2).sum())(y).sum())(L.ones(2))
# in place on a view of what is differentiated
L.func.grad(lambda x: x[0].mul_(2))(L.ones(2,requires_grad=True))
# grad of integers
L.func.grad(lambda x: (x*2.).sum())(L.tensor([1,2]))
# dynamic shape
L.vmap(lambda a: a.nonzero())(L.arange(6.).reshape(2,3))
# out dims beyond
L.vmap(lambda a: a*2, out_dims=5)(L.ones(2))
"""

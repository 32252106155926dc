"""Short programs for ``test_programs``: the derivatives of ``func``, under ``L``.

Their errors have PyTorch's words.
"""

PROGRAMS = r"""
# grad
F=L.func; x=L.tensor([1.,2.]); p(F.grad(lambda x: (x**3).sum())(x))
# grad of grad
F=L.func
p(F.grad(F.grad(lambda x: x**3))(L.tensor(2.)), F.grad(F.grad(F.grad(L.sin)))(L.tensor(1.)))
# grad argnums
F=L.func; x=L.tensor([1.,2.]); y=L.tensor([3.,5.]); f=lambda a,b: (a*b*b).sum()
p(F.grad(f,1)(x,y), F.grad(f,-1)(x,y), F.grad(f,(1,0))(x,y), F.grad(f,(0,))(x,y))
# grad argnums beyond
L.func.grad(lambda a: a.sum(), argnums=1)(L.ones(2))
# grad argnums none
L.func.grad(lambda a: a.sum(), argnums=())(L.ones(2))
# grad argnums twice
L.func.grad(lambda a,b: a.sum(), argnums=(1,-1))(L.ones(2), L.ones(2))
# grad argnums list
L.func.grad(lambda a: a.sum(), argnums=[0])(L.ones(2))
# grad argnums float in tuple
L.func.grad(lambda a: a.sum(), argnums=(0.,))(L.ones(2))
# grad of trees
F=L.func; d={'a':L.tensor([1.,2.]),'b':[L.tensor(3.),(L.tensor(4.),)]}
g=F.grad(lambda d: d['a'].sum()*d['b'][0]*d['b'][1][0])(d)
p(list(g), g['a'], g['b'], isinstance(g['b'][1], tuple))
# grad of trees by number
F=L.func; x=L.tensor(2.); g=F.grad(lambda d,e: d['x']*e[0]**2, argnums=(1,0))({'x':x},[x+1])
p(g[0], g[1]['x'])
# grad of named tuples
import collections
N=collections.namedtuple('N','a b'); g=L.func.grad(lambda n: n.a*n.b)(N(L.tensor(2.),L.tensor(3.)))
p(g.a, g.b, type(g).__name__)
# grad of ordered dict
import collections
g=L.func.grad(lambda d: d['b']*d['a'])(collections.OrderedDict(b=L.tensor(2.),a=L.tensor(3.)))
p(type(g).__name__, list(g), g['a'], g['b'])
# grad of a number
L.func.grad(lambda x: x*x)(3.)
# grad of None in a tree
L.func.grad(lambda x: x[0]*1)((L.tensor(3.), None))
# grad aux
F=L.func; x=L.tensor([1.,2.])
g,a=F.grad(lambda x: ((x**3).sum(), {'y':x*2,'z':[x]}), has_aux=True)(x)
p(g, a['y'], a['z'])
# grad aux that is none
L.func.grad(lambda x: x.sum(), has_aux=True)(L.ones(2))
# grad aux of other types
L.func.grad(lambda x: (x.sum(), 'aux'), has_aux=True)(L.ones(2))
# grad and value
F=L.func; x=L.tensor([1.,2.]); p(F.grad_and_value(lambda x: (x**3).sum())(x))
p(F.grad_and_value(lambda x: ((x**3).sum(), x), has_aux=True)(x))
p(F.grad_and_value(lambda x,y: (x*y).sum(), (0,1))(x,x))
# grad and value aux that is none
L.func.grad_and_value(lambda x: [x.sum(), x], has_aux=True)(L.ones(2))
# grad keywords
F=L.func; x=L.tensor([1.,2.]); p(F.grad(lambda x,y=1,z=1: (x*y*z).sum())(x,y=x,z=3))
# grad of a vector
L.func.grad(lambda x: x)(L.ones(2))
# grad of one element
L.func.grad(lambda x: x)(L.ones(1))
# grad of no tensor
L.func.grad(lambda x: 3.)(L.ones(2))
# grad of a constant
p(L.func.grad(lambda x: L.ones(()))(L.ones(2)))
# grad of an integer result
p(L.func.grad(lambda x: x.sum().long())(L.ones(2)))
# grad of a complex tensor
p(L.func.grad(lambda x: (x*x.conj()).real.sum())(L.tensor([1+2j])))
# grad of a complex result
L.func.grad(lambda x: (x*x).sum())(L.tensor([1+2j]))
# grad outside no_grad
F=L.func; x=L.tensor([1.,2.],requires_grad=True)
with L.no_grad():
    p(F.grad(lambda x: (x**3).sum())(x), F.grad_and_value(lambda x: (x**3).sum())(x))
    p(F.grad(lambda x: F.grad(lambda y: (y**3).sum())(x).sum())(x))
# grad around no_grad
def f(x):
    with L.no_grad():
        c = x**2
    return x-c
p(L.func.grad(f)(L.tensor(3.)), L.func.grad(L.func.grad(f))(L.tensor(3.)))
with L.no_grad():
    p(L.func.grad(f)(L.tensor(3.)))
# grad around no_grad inside
F=L.func
def f(x):
    with L.no_grad():
        c = F.grad(lambda y: y**3)(x)
    return x*c
p(F.grad(f)(L.tensor(2.)))
# grad in inference mode
with L.inference_mode():
    p(L.func.grad(lambda x: (x**3).sum())(L.tensor([1.,2.])))
# grad of what requires grad
F=L.func; x=L.tensor([1.,2.],requires_grad=True); g=F.grad(lambda x: (x**3).sum())(x)
g.sum().backward(); p(g, x.grad)
# grad around what requires grad
F=L.func; w=L.tensor([1.,2.],requires_grad=True); x=L.tensor([3.,4.])
g,v=F.grad_and_value(lambda x: (w**2*x**2).sum())(x); p(g,v); (g.sum()+v).backward(); p(w.grad)
# grad around what requires grad, linearly
F=L.func; w=L.tensor([1.,2.],requires_grad=True)
g,v=F.grad_and_value(lambda x: (w+x).sum())(w.detach()); p(g,v)
# levels apart
F=L.func; p(F.grad(lambda x: x*F.grad(lambda y: x+y)(L.tensor(1.)))(L.tensor(2.)))
p(F.grad(lambda x: x*F.grad(lambda y: x*y)(x))(L.tensor(2.)))
p(F.grad(lambda x: F.grad(lambda y: x*y*y)(x))(L.tensor(3.)))
p(F.grad(lambda x: F.grad(lambda y: x*y*y)(L.tensor(1.)))(L.tensor(3.)))
p(F.grad(lambda x: F.grad(lambda y: F.grad(lambda z: x*y*z*z)(y))(x))(L.tensor(3.)))
# inner flags stay inside
F=L.func; seen=[]
def f(x, y):
    seen.append((x.requires_grad, y.requires_grad)); return (x*y).sum()
x,y=L.ones(2),L.ones(2); g=F.grad(f)(x,y); p(seen, g, x.requires_grad, y.requires_grad)
# aux stays inside
F=L.func; x=L.ones(2); g,(a,b)=F.grad(lambda x: (x.sum(), (x, x*2)), has_aux=True)(x); p(a, b, g)
# in place on what is differentiated
L.func.grad(lambda x: x.mul_(2).sum())(L.ones(2))
# in place on another argument
y=L.ones(2); p(L.func.grad(lambda x,y: y.mul_(x).sum())(L.tensor([2.,3.]),y), y)
# in place on what was made inside
def f(x):
    y=L.zeros(2); y[0]=x[0]*3; y.add_(x); return (y**2).sum()
p(L.func.grad(f)(L.tensor([2.,3.])), L.func.hessian(f)(L.tensor([2.,3.])))
# autograd inside
f=lambda a: L.autograd.grad((a**3).sum(), a, create_graph=True)[0].sum()
p(L.func.grad(f)(L.tensor([1.,2.])))
# vjp
F=L.func; x=L.tensor([1.,2.]); o,f=F.vjp(lambda x: x**2, x); p(o, f(L.tensor([1.,10.])), f(x))
# vjp several
F=L.func; x=L.tensor([1.,2.]); y=L.tensor(3.)
o,f=F.vjp(lambda a,b: {'p':a*b,'q':(a.sum(),)}, x, y); p(o['p'],o['q'], f({'p':x,'q':(y,)}))
# vjp of trees
F=L.func; x=L.tensor(2.); o,f=F.vjp(lambda d,e: d['x']*e[0]**2, {'x':x},[x+1]); g=f(x)
p(o,g[0]['x'],g[1])
# vjp aux
F=L.func; o,f,a=F.vjp(lambda x: (x**2, {'a':x}), L.tensor(3.), has_aux=True); p(o, f(o), a['a'])
# vjp aux that is none
L.func.vjp(lambda x: x**2, L.tensor(3.), has_aux=True)
# vjp of nothing
L.func.vjp(lambda x: None, L.ones(2))
# vjp of an empty tuple
L.func.vjp(lambda x: (), L.ones(2))
# vjp of other types
L.func.vjp(lambda x: (x, 'a'), L.ones(2))
# vjp of an integer result
L.func.vjp(lambda x: x.long(), L.ones(2))
# vjp of a number
L.func.vjp(lambda x: x*x, 3.)
# vjp of another structure
L.func.vjp(lambda x: {'a':x*x,'b':[x]}, L.ones(2))[1]((L.ones(2),L.ones(2)))
# vjp of another shape
L.func.vjp(lambda x: x*x, L.ones(2))[1](L.ones(3))
# vjp of what requires grad
F=L.func; x=L.tensor([1.,2.],requires_grad=True); o,f=F.vjp(lambda x: x**2, x); p(o)
(g,)=f(L.ones(2)); p(g); g.sum().backward(); p(x.grad)
# vjp of cotangents that require grad
F=L.func; v=L.tensor([1.,2.],requires_grad=True); o,f=F.vjp(lambda x: x**2, L.tensor([3.,4.])); p(o)
(g,)=f(v); p(g); g.sum().backward(); p(v.grad)
with L.no_grad():
    p(f(v))
# vjp in no_grad
F=L.func; x=L.tensor([1.,2.],requires_grad=True)
with L.no_grad():
    o,f=F.vjp(lambda x: x**2, x); p(o, f(L.ones(2)))
# vjp of vjp
F=L.func; x=L.tensor([1.,2.])
def f(x):
    o,g=F.vjp(lambda y: y**3, x); return g(o)[0]
o,h=F.vjp(f, x); p(o, h(L.ones(2)))
# jvp
F=L.func; x=L.tensor([1.,2.]); p(F.jvp(lambda x: x**2, (x,), (L.tensor([1.,10.]),)))
p(F.jvp(lambda x,y: x*y, (x,x), (L.ones(2),L.zeros(2))))
# jvp of trees
F=L.func; x=L.tensor(2.)
o,t=F.jvp(lambda d: {'s':d['x']**2,'t':[d['x']*3]}, ({'x':x},), ({'x':x},))
p(o['s'],o['t'],t['s'],t['t'])
# jvp aux
F=L.func; o,t,a=F.jvp(lambda x: (x**2, {'a':x*1}), (L.tensor(3.),), (L.tensor(1.),), has_aux=True)
p(o,t,a['a'])
# jvp aux that is none
L.func.jvp(lambda x: x**2, (L.tensor(3.),), (L.tensor(1.),), has_aux=True)
# jvp of a list
L.func.jvp(lambda x: x**2, [L.tensor(3.)], [L.tensor(1.)])
# jvp of another structure
L.func.jvp(lambda x: x**2, (L.tensor(3.),), (L.tensor(1.),L.tensor(1.)))
# jvp of another shape
L.func.jvp(lambda x: x**2, (L.ones(2),), (L.ones(3),))
# jvp of nothing
L.func.jvp(lambda: L.ones(2), (), ())
# jvp of a number
L.func.jvp(lambda x: x*1, (2.,), (3.,))
# jvp of integers
L.func.jvp(lambda x: x**2, (L.tensor([1,2]),), (L.tensor([1,2]),))
# jvp of an integer result
p(L.func.jvp(lambda x: x.long(), (L.ones(2),), (L.ones(2),)))
# jvp of other types
L.func.jvp(lambda x: 'a', (L.ones(2),), (L.ones(2),))
# jvp of a constant
p(L.func.jvp(lambda x: (L.ones(2), x*2), (L.ones(2),), (L.ones(2),)))
# jvp of a constant strictly
L.func.jvp(lambda x: L.ones(2), (L.ones(2),), (L.ones(2),), strict=True)
# jvp strictly
p(L.func.jvp(lambda x: x*x, (L.ones(2),), (L.ones(2),), strict=True))
# jvp of jvp
F=L.func; x=L.tensor([1.,2.]); one=L.ones(2)
p(F.jvp(lambda x: F.jvp(lambda y: y**3, (x,), (one,))[1], (x,), (one,)))
# jvp of grad
F=L.func; x=L.tensor([1.,2.]); p(F.jvp(F.grad(lambda x: (x**3).sum()), (x,), (x,)))
# grad of jvp
F=L.func; x=L.tensor([1.,2.])
p(F.grad(lambda x: F.jvp(lambda y: y**3, (x,), (x,))[1].sum())(x))
p(F.grad(lambda t: F.jvp(lambda y: y**3, (x,), (t,))[1].sum())(x))
# jvp of what requires grad
F=L.func; x=L.tensor([1.,2.],requires_grad=True); v=L.ones(2); o,t=F.jvp(lambda x: x**3, (x,), (v,))
p(o,t); t.sum().backward(); p(x.grad); o,t=F.jvp(lambda x: x**3, (v,), (x,)); p(o,t)
with L.no_grad():
    p(F.jvp(lambda x: x**3, (x,), (v,)))
# linearize
F=L.func; x=L.tensor([1.,2.]); o,f=F.linearize(lambda x: {'a':x.exp(),'b':[x*x]}, x)
p(o['a'],o['b']); t=f(L.ones(2)); p(t['a'],t['b']); t=f(x); p(t['a'],t['b'])
# linearize several
F=L.func; x=L.tensor([1.,2.]); o,f=F.linearize(lambda x,y: x*y, x, x+1)
p(o, f(L.ones(2),L.zeros(2)), f(x,x))
# linearize another shape
L.func.linearize(L.sin, L.ones(2))[1](L.ones(3))
# linearize another dtype
L.func.linearize(L.sin, L.ones(2))[1](L.ones(2,dtype=L.float64))
# linearize another structure
L.func.linearize(L.sin, L.ones(2))[1](L.ones(2), L.ones(2))
# jacrev
F=L.func; x=L.tensor([[1.,2.],[3.,4.]])
p(F.jacrev(lambda x: x.exp().sum(1))(x), F.jacrev(L.sin)(L.tensor(1.)))
# jacrev of trees
F=L.func; x=L.tensor([1.,2.])
j=F.jacrev(lambda d: {'o':d['a']*d['b'], 'p':(d['a'].sum(),)})({'a':x,'b':x+1})
p(j['o']['a'],j['o']['b'],j['p'][0]['a'],j['p'][0]['b'])
# jacrev argnums
F=L.func; x=L.tensor([1.,2.]); f=lambda a,b: (a*b, b.sum())
p(F.jacrev(f)(x,x+1), F.jacrev(f,1)(x,x+1), F.jacrev(f,(0,1))(x,x+1), F.jacrev(f,-1)(x,x+1))
# jacrev aux
F=L.func; j,a=F.jacrev(lambda x: (x**2, {'a':x}), has_aux=True)(L.tensor([1.,2.])); p(j,a['a'])
# jacrev chunks
F=L.func; p(F.jacrev(lambda x: x**2, chunk_size=2)(L.tensor([1.,2.,3.])))
# jacrev chunks of none
L.func.jacrev(lambda x: x**2, chunk_size=0)
# jacrev of nothing
p(L.func.jacrev(lambda x: x[:0])(L.ones(2)), L.func.jacrev(lambda x: x.sum())(L.ones(0)))
# jacrev of a constant
p(L.func.jacrev(lambda x: L.ones(2))(L.ones(3)))
# jacrev of a complex tensor
L.func.jacrev(lambda x: x)(L.tensor([1j]))
# jacrev of a complex result
L.func.jacrev(lambda x: x*1j)(L.tensor([1.]))
# jacrev of keywords
L.func.jacrev(lambda x,y=1: x*y)(L.ones(2), y=3)
# jacrev of a number
L.func.jacrev(lambda x: x*x)(3.)
# jacrev of jacrev
F=L.func; x=L.tensor([1.,2.])
p(F.jacrev(F.jacrev(lambda x: x**3))(x), F.jacrev(F.jacfwd(L.sin))(x))
# jacrev of what requires grad
F=L.func; x=L.tensor([1.,2.],requires_grad=True); j=F.jacrev(lambda x: x**3)(x); p(j)
j.sum().backward(); p(x.grad)
with L.no_grad():
    p(F.jacrev(lambda x: x**3)(x))
# jacfwd
F=L.func; x=L.tensor([[1.,2.],[3.,4.]])
p(F.jacfwd(lambda x: x.exp().sum(1))(x), F.jacfwd(L.sin)(L.tensor(1.)))
# jacfwd of more outputs
F=L.func; p(F.jacfwd(lambda t: L.stack([t,t**2,t**3]))(L.tensor(2.)))
p(F.jacfwd(lambda t: (L.outer(t,t).exp(), t.sum()))(L.tensor([1.,2.])))
# jacfwd of trees
F=L.func; x=L.tensor([1.,2.])
j=F.jacfwd(lambda d: {'o':d['a']*d['b'],
    'p':(d['a'].sum(),L.outer(d['b'],d['b']))})({'a':x,'b':x+1})
p(j['o']['a'],j['o']['b'],j['p'][0]['a'],j['p'][0]['b'],j['p'][1]['a'],j['p'][1]['b'])
# jacfwd argnums
F=L.func; x=L.tensor([1.,2.]); f=lambda a,b: (a*b, b.sum())
p(F.jacfwd(f)(x,x+1), F.jacfwd(f,1)(x,x+1), F.jacfwd(f,(0,1))(x,x+1), F.jacfwd(f,(1,))(x,x+1))
# jacfwd aux
F=L.func; j,a=F.jacfwd(lambda x: (x**2, {'a':x}), has_aux=True)(L.tensor([1.,2.])); p(j,a['a'])
# jacfwd of nothing
p(L.func.jacfwd(lambda x: x[:0])(L.ones(2)), L.func.jacfwd(lambda x: x.sum())(L.ones(0)))
# jacfwd of other dtypes
f=lambda x: x.double()*L.tensor(1/3,dtype=L.float64)
p(L.func.jacfwd(f)(L.tensor([1.])), L.func.jacrev(f)(L.tensor([1.])))
# jacfwd of an integer result
p(L.func.jacfwd(lambda x: x.long())(L.ones(2)))
# jacfwd of integers
L.func.jacfwd(lambda x: x*x)(L.tensor([1,2]))
# jacfwd of a complex tensor
L.func.jacfwd(lambda x: x)(L.tensor([1j]))
# jacfwd randomly
L.func.jacfwd(lambda x: x*L.rand(2))(L.ones(2))
# jacfwd randomly the same
L.manual_seed(0); p(L.func.jacfwd(lambda x: x*L.rand(2), randomness='same')(L.ones(2)))
# jacfwd randomly otherwise
L.func.jacfwd(lambda x: x*L.rand(2), randomness='other')(L.ones(2))
# jacfwd of what requires grad
F=L.func; x=L.tensor([1.,2.],requires_grad=True); j=F.jacfwd(lambda x: x**3)(x); p(j)
j.sum().backward(); p(x.grad); j=F.jacfwd(lambda t: L.stack([t,t**2,t**3]))(x[0]); p(j)
# hessian
F=L.func; x=L.tensor([1.,2.]); p(F.hessian(lambda x: (x**3).sum()*x[0])(x), F.hessian(L.sin)(x))
# hessian argnums
F=L.func; x=L.tensor([1.,2.])
p(F.hessian(lambda a,b: (a*a*b).sum(), (0,1))(x,x), F.hessian(lambda a,b: (a*a*b).sum(), 1)(x,x))
# hessian of trees
F=L.func; x=L.tensor([1.,2.]); h=F.hessian(lambda d: (d['a']**2*d['b']).sum())({'a':x,'b':x+1})
p(h['a']['a'],h['a']['b'],h['b']['a'],h['b']['b'])
# hessian of what requires grad
F=L.func; x=L.tensor([1.,2.],requires_grad=True); h=F.hessian(lambda x: (x**4).sum())(x); p(h)
h.sum().backward(); p(x.grad)
# hessian of a linear function
p(L.func.hessian(lambda x: (3*x).sum())(L.ones(2)))
# third derivatives
F=L.func; p(F.jacrev(F.hessian(lambda x: (x**4).sum()))(L.tensor([1.,2.])))
# names
p(L.func.grad(abs).__name__, L.func.jacrev(abs).__name__, L.func.vmap(abs).__name__)
# function call
m=L.nn.Linear(2,1); n={'weight':L.tensor([[1.,2.]]),'bias':L.tensor([3.])}; x=L.tensor([[1.,1.]])
p(L.func.functional_call(m,n,(x,)), L.func.functional_call(m,n,x))
p(L.func.functional_call(m,({'weight':n['weight']},{'bias':n['bias']}),kwargs={'input':x}))
# function call of no dict
L.func.functional_call(L.nn.Linear(1,1), 3, (L.ones(1),))
# function call of a list of none
L.func.functional_call(L.nn.Linear(1,1), [3], (L.ones(1),))
# function call twice the same
L.func.functional_call(L.nn.Linear(1,1), ({'weight':L.ones(1,1)},{'weight':L.ones(1,1)}),
    (L.ones(1),))
# function call strictly
L.func.functional_call(L.nn.Linear(1,1), {'weight':L.ones(1,1)}, (L.ones(1),), strict=True)
# function call of buffers
class M(L.nn.Module):
    def __init__(self):
        super().__init__(); self.register_buffer('n', L.zeros(1))
    def forward(self, x):
        self.n = self.n+1; return x+self.n
m=M(); d={'n':L.tensor([5.])}; p(L.func.functional_call(m,d,(L.ones(1),)), d['n'], m.n)
# gradients by parameters
m=L.nn.Sequential(L.nn.Linear(2,2),L.nn.Tanh(),L.nn.Linear(2,1))
n={k: L.full(v.shape, .1*(i+1)) for i,(k,v) in enumerate(m.named_parameters())}
f=lambda n,x: L.func.functional_call(m,n,(x,)).sum(); x=L.tensor([[1.,2.]])
g=L.func.grad(f)(n,x); p(*g, *g.values()); h=L.func.hessian(f)(n,x); p(*h['0.weight'].values())
# stacked modules
d=L.func.stack_module_state([L.nn.BatchNorm1d(2) for _ in range(3)])
for part in d:
    for k,v in part.items():
        p(k, v, v.is_leaf)
# stacked modules of none
L.func.stack_module_state([])
# stacked modules in other modes
L.func.stack_module_state([L.nn.Linear(1,1), L.nn.Linear(1,1).eval()])
# stacked modules of other classes
L.func.stack_module_state([L.nn.Linear(1,1), L.nn.ReLU()])
# stacked modules frozen
L.func.stack_module_state([L.nn.Linear(1,1), L.nn.Linear(1,1).requires_grad_(False)])
# stacked frozen modules
d,_=L.func.stack_module_state([L.nn.LayerNorm(1).requires_grad_(False) for _ in range(2)])
p(*d.values())
# batch norm replaced
m=L.nn.Sequential(L.nn.BatchNorm1d(2),L.nn.Sequential(L.nn.BatchNorm2d(2)),L.nn.InstanceNorm1d(2,
    track_running_stats=True))
p(L.func.replace_all_batch_norm_modules_(m) is m, m[0].running_mean, m[1][0].num_batches_tracked)
p(m[0].track_running_stats, m[2].running_mean)
"""

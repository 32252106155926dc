"""Short programs for ``test_short_programs``: utils.checkpoint, under ``L``."""

PROGRAMS = r"""
# checkpoint: gradients and calls
C=L.utils.checkpoint.checkpoint; n=[0]
def f(a): n[0]+=1; return a.exp().sin()*a
for r in (True,False):
    x=L.tensor([1.,2.],requires_grad=True); y=C(f,x,use_reentrant=r); p(n, y)
    y.sum().backward(); p(n,x.grad)
# checkpoint: default
C=L.utils.checkpoint.checkpoint; x=L.ones(2,requires_grad=True)
p(type(C(L.exp,x).grad_fn).__name__)
# checkpoint: extra keyword of the reentrant one
L.utils.checkpoint.checkpoint(L.exp, L.ones(2,requires_grad=True), use_reentrant=True, foo=3)
# checkpoint: keywords
C=L.utils.checkpoint.checkpoint; x=L.ones(2,requires_grad=True)
y=C(lambda a,k: a.exp()*k, x, use_reentrant=False, k=3); y.sum().backward(); p(y,x.grad)
# checkpoint: grad
C=L.utils.checkpoint.checkpoint; x=L.ones(2,requires_grad=True)
p(L.autograd.grad(C(L.exp,x,use_reentrant=False).sum(),x))
# checkpoint: grad of the reentrant one
C=L.utils.checkpoint.checkpoint; x=L.ones(2,requires_grad=True)
p(L.autograd.grad(C(L.exp,x,use_reentrant=True).sum(),x))
# checkpoint: fewer tensors
n=[0]
def odd(a):
    n[0]+=1
    return a.exp().sin() if n[0]%2 else a.exp()
L.utils.checkpoint.checkpoint(odd,L.ones(2,requires_grad=True),
    use_reentrant=False).sum().backward()
# checkpoint: other shapes
n=[0]
def odd(a):
    n[0]+=1
    return (a[:1] if n[0]%2==0 else a).exp().sin()
L.utils.checkpoint.checkpoint(odd,L.ones(2,requires_grad=True),
    use_reentrant=False).sum().backward()
# checkpoint: bad check
L.utils.checkpoint.checkpoint(L.exp,L.ones(2,requires_grad=True),use_reentrant=False,
    determinism_check='x')
# checkpoint: contexts of the reentrant one
L.utils.checkpoint.checkpoint(L.exp,L.ones(2,requires_grad=True),use_reentrant=True,
    context_fn=lambda:(1,2))
# checkpoint: contexts
import contextlib
@contextlib.contextmanager
def say(w): p(w); yield
x=L.ones(2,requires_grad=True)
y=L.utils.checkpoint.checkpoint(L.exp,x,use_reentrant=False,context_fn=lambda:(say('first'),
    say('second')))
p('between'); y.sum().backward(); p(x.grad)
# checkpoint: twice
n=[0]
def f(a): n[0]+=1; return a.exp().sin()
x=L.ones(2,requires_grad=True); y=L.utils.checkpoint.checkpoint(f,x,use_reentrant=False).sum()
y.backward(retain_graph=True); y.backward(); p(n,x.grad); y.backward()
# checkpoint: other results
x=L.ones(2,requires_grad=True)
for r in (True,False):
    y=L.utils.checkpoint.checkpoint(lambda a,b: (a*2,3,None,b),x,'s',use_reentrant=r)
    p(y[0],y[1:]); y[0].sum().backward(); p(x.grad)
# checkpoint: modified argument
z=L.ones(2,requires_grad=True)*1
y=L.utils.checkpoint.checkpoint(lambda a:(a.sin()*a).sum(),z,use_reentrant=False); z.add_(1)
y.backward()
# checkpoint: modified argument, reentrant
z=L.ones(2,requires_grad=True)*1
y=L.utils.checkpoint.checkpoint(lambda a:(a.sin()*a).sum(),z,use_reentrant=True); z.add_(1)
y.backward()
# checkpoint: constant function
L.utils.checkpoint.checkpoint(lambda a: a.detach()*1,L.ones(2,requires_grad=True),
    use_reentrant=True).sum().backward()
# checkpoint: early stop
n=[]
def f(a): b=a.exp(); n.append('mid'); return b*3
for e in (True,False):
    x=L.ones(2,requires_grad=True)
    y=L.utils.checkpoint.checkpoint(f,x,use_reentrant=False,early_stop=e); y.sum().backward()
    p(n); n.clear()
# checkpoint: early stop switched off
n=[]
def f(a): b=a.exp(); n.append('mid'); return b*3
with L.utils.checkpoint.set_checkpoint_early_stop(False):
    y=L.utils.checkpoint.checkpoint(f,L.ones(2,requires_grad=True),use_reentrant=False)
y.sum().backward(); p(n)
# checkpoint: second derivative
x=L.tensor([1.,2.],requires_grad=True)
g,=L.autograd.grad(L.utils.checkpoint.checkpoint(lambda a:a**3,x,use_reentrant=False).sum(),x,
    create_graph=True); p(g); p(L.autograd.grad(g.sum(),x))
# checkpoint: dropout
for r in (True,False):
    L.manual_seed(0); x=L.ones(50,requires_grad=True)
    y=L.utils.checkpoint.checkpoint(lambda a: L.nn.functional.dropout(a,0.5),x,use_reentrant=r)
    L.rand(3); y.sum().backward(); p((x.grad==y.detach()).all().item(), L.rand(1))
# checkpoint: nested
C=L.utils.checkpoint.checkpoint; n=[0]
def g(a): n[0]+=1; return a.exp()*a
def f(a): return C(g,a.sin(),use_reentrant=False)*a
x=L.tensor([1.,2.],requires_grad=True); C(f,x,use_reentrant=False).sum().backward(); p(x.grad)
# checkpoint: nested reentrant
C=L.utils.checkpoint.checkpoint
def f(a): return C(lambda b: b.exp()*b,a.sin(),use_reentrant=True)*a
x=L.tensor([1.,2.],requires_grad=True); C(f,x,use_reentrant=True).sum().backward(); p(x.grad)
# checkpoint: module
L.manual_seed(0); m=L.nn.Sequential(L.nn.Linear(3,4),L.nn.Tanh(),L.nn.Linear(4,2))
x=L.arange(6.).reshape(2,3)
for r in (True,False):
    m.zero_grad(); x.requires_grad_()
    L.utils.checkpoint.checkpoint(m,x,use_reentrant=r).sum().backward()
    p([q.grad for q in m.parameters()])
# checkpoint: no grad
n=[0]
def f(a): n[0]+=1; return a.exp()
with L.no_grad():
    p(L.utils.checkpoint.checkpoint(f,L.ones(2,requires_grad=True),
        use_reentrant=False).requires_grad, n)
# checkpoint_sequential
L.manual_seed(0)
m=L.nn.Sequential(L.nn.Linear(3,4),L.nn.Tanh(),L.nn.Linear(4,2),L.nn.ReLU(),L.nn.Linear(2,2))
for s in (1,2,3,5):
    for r in (True,False):
        m.zero_grad(); x=L.arange(6.).reshape(2,3).requires_grad_()
        y=L.utils.checkpoint.checkpoint_sequential(m,s,x,use_reentrant=r); y.sum().backward()
        p(y,x.grad,m[0].weight.grad)
# checkpoint_sequential: functions
x=L.ones(2,requires_grad=True)
y=L.utils.checkpoint.checkpoint_sequential([L.sin,L.exp,L.cos],2,x,use_reentrant=False)
y.sum().backward(); p(y,x.grad)
# checkpoint_sequential: keyword
L.utils.checkpoint.checkpoint_sequential([L.sin],1,L.ones(1),foo=1)
# checkpoint_sequential: too many segments
L.utils.checkpoint.checkpoint_sequential([L.sin],3,L.ones(1),use_reentrant=False)
# detach_variable
a=L.ones(1,requires_grad=True)*2; b,c=L.utils.checkpoint.detach_variable((a,3))
p(b,b.is_leaf,c); L.utils.checkpoint.detach_variable([a])
"""

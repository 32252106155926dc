"""Short programs for ``test_short_programs``: nodes, edges and what is saved, under ``L``."""

PROGRAMS = r"""
# pack: values and grad
S=L.autograd.graph.saved_tensors_hooks; seen=[]
def pack(t): seen.append(t.tolist()); return t.numpy(force=True).copy()
x=L.tensor([1.,2.],requires_grad=True)
with S(pack, L.tensor): y=(x*x).exp().sum()
p(len(seen)); y.backward(); p(x.grad)
# pack: what pack is given
S=L.autograd.graph.saved_tensors_hooks; seen=[]
x=L.ones(2,requires_grad=True)
def pack(t): p(t.requires_grad, t is x, L.is_grad_enabled()); return t
with S(pack, lambda t: t): y=(x*x).exp()
# pack: grad mode of unpack
S=L.autograd.graph.saved_tensors_hooks
x=L.ones(2,requires_grad=True)
def un(t): p(L.is_grad_enabled()); return t
with S(lambda t:t, un): y=x.exp().sum()
y.backward(retain_graph=True); y.backward(create_graph=True); p(x.grad.requires_grad)
# pack: second derivative
S=L.autograd.graph.saved_tensors_hooks
x=L.tensor([1.,2.],requires_grad=True)
with S(lambda t:t.clone(), lambda t:t.clone()): y=(x**3*x.sin()).sum()
g,=L.autograd.grad(y,x,create_graph=True); h,=L.autograd.grad(g.sum(),x); p(g,h)
# pack: innermost counts
S=L.autograd.graph.saved_tensors_hooks
x=L.ones(2,requires_grad=True)
with S(lambda t:1, lambda t:x):
    with S(lambda t:2, lambda q: L.full((2,),5.)): y=x*x
    z=x*x
(y+z).sum().backward(); p(x.grad)
# pack: in place
S=L.autograd.graph.saved_tensors_hooks
x=L.ones(2,requires_grad=True)*1
with S(lambda t:t.add_(1), lambda t:t): x.exp()*x
# pack: bad unpack
S=L.autograd.graph.saved_tensors_hooks
x=L.ones(2,requires_grad=True)
with S(lambda t:t, lambda t:3): y=x*x
y.sum().backward()
# pack: not callable
with L.autograd.graph.saved_tensors_hooks(1,2): pass
# pack: disabled
with L.autograd.graph.disable_saved_tensors_hooks('no no'):
    with L.autograd.graph.saved_tensors_hooks(id,id): pass
# pack: disabled inside
with L.autograd.graph.saved_tensors_hooks(id,id):
    with L.autograd.graph.disable_saved_tensors_hooks('no no'): pass
# pack: modified afterwards
S=L.autograd.graph.saved_tensors_hooks
x=L.ones(2,requires_grad=True)
with S(lambda t:t.clone(), lambda t:t): y=x*x
with L.no_grad(): x.add_(1)
y.sum().backward(); p(x.grad)
# pack: function
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,q): r=q*2; ctx.save_for_backward(q,r); return r
    @staticmethod
    def backward(ctx,g): a,b=ctx.saved_tensors; p(a,b); return g*a*b
x=L.tensor([1.,2.],requires_grad=True); n=[]
with L.autograd.graph.saved_tensors_hooks(lambda t:n.append(t.tolist()) or t.clone(), lambda t:t*1):
    y=F.apply(x)
y.sum().backward(); p(n, x.grad)
# pack: freed
x=L.tensor([1.,2.],requires_grad=True)
with L.autograd.graph.saved_tensors_hooks(lambda t:t, lambda t:t): y=x.exp().sum()
y.backward(); y.backward()
# pack: error in pack
x=L.tensor([1.,2.],requires_grad=True)
def bad(t): raise ValueError('bad')
with L.autograd.graph.saved_tensors_hooks(bad, lambda t:t): y=x.exp().sum()
# pack: error leaves no hooks
x=L.tensor([1.,2.],requires_grad=True); n=[]
try:
    with L.autograd.graph.saved_tensors_hooks(lambda t:n.append(1), lambda t:t): 1/0
except ZeroDivisionError: pass
x.exp().sum().backward(); p(n,x.grad)
# pack: several results and inplace
x=L.tensor([[1.,2.],[3.,1.]],requires_grad=True); n=[]
with L.autograd.graph.saved_tensors_hooks(lambda t:t.clone(), lambda t:t):
    h=x*1; h.mul_(x); v,i=h.max(1); c=L.cat([v,v*v]); s=L.linalg.norm(c)
s.backward(); p(x.grad)
# pack: module
l=L.nn.Linear(2,3); n=[]
with L.no_grad(): l.weight.fill_(.5); l.bias.fill_(.1)
with L.autograd.graph.saved_tensors_hooks(lambda t:t.clone(), lambda t:t):
    y=L.nn.functional.softmax(l(L.ones(4,2)),1).log().sum()
y.backward(); p(l.weight.grad, l.bias.grad)
# save_on_cpu
x=L.tensor([1.,2.],requires_grad=True)
with L.autograd.graph.save_on_cpu(): y=(x*x).sum()
y.backward(); p(x.grad)
# mutation allowed
x=L.tensor([1.,2.],requires_grad=True)
with L.autograd.graph.allow_mutation_on_saved_tensors():
    y=x.clone(); z=(y**2).sum(); y.sin_(); z.backward()
p(x.grad)
# multi hook
a=L.ones(2,requires_grad=True); b=L.ones(2,requires_grad=True); c=L.ones(2,requires_grad=True)
h=L.autograd.graph.register_multi_grad_hook((a,b,c),lambda gs: p(*gs))
(a*b*2).sum().backward(); (a*2).sum().backward(); (a*b*c).sum().backward()
h.remove(); (a*b*c).sum().backward(); p(len(a._backward_hooks or {}))
# multi hook nonleaf
a=L.ones(2,requires_grad=True); b=a*2; c=a*3; d=(b*c); u=d.split(1)
h=L.autograd.graph.register_multi_grad_hook((b,c,u[1]),lambda gs: p(*gs))
u[0].sum().backward(retain_graph=True); (u[1]+u[0]).sum().backward(retain_graph=True)
L.autograd.grad(d.sum(),b)
# multi hook any
a=L.ones(2,requires_grad=True); b=L.ones(2,requires_grad=True)
h=L.autograd.graph.register_multi_grad_hook((a,b),lambda g: p(g),mode='any')
(a*b*2).sum().backward(); (a*b*2).sum().backward(); b.sum().backward()
# multi hook mode
L.autograd.graph.register_multi_grad_hook((L.ones(1,requires_grad=True),),print,mode='x')
# increment version
a=L.ones(2); L.autograd.graph.increment_version(a); p(a._version)
L.autograd.graph.increment_version([a,a]); p(a._version)
# increment version of a saved one
a=L.ones(2,requires_grad=True); y=a*a; L.autograd.graph.increment_version(a); y.sum().backward()
# gradient edge
a=L.ones(2,requires_grad=True); q=a*2; e=L.autograd.graph.get_gradient_edge(q); s=(q*3).sum()
p(e.output_nr, e.node is q.grad_fn, e.node.name())
p(L.autograd.grad(s,e)); p(L.autograd.grad(e,a,L.ones(2)))
# gradient edge of a leaf
a=L.ones(2,requires_grad=True); e=L.autograd.graph.get_gradient_edge(a); s=(a*3).sum()
p(e.node.variable is a)
p(L.autograd.grad(s,e,retain_graph=True)); L.autograd.backward(s,inputs=[e]); p(a.grad)
# gradient edge of one of several
a=L.ones(4,requires_grad=True); u,v=a.split(2); e=L.autograd.graph.get_gradient_edge(v)
p(e.output_nr); s=(v*3).sum()+u.sum()
p(L.autograd.grad(s,e,retain_graph=True), L.autograd.grad(e,a,L.ones(2)))
# gradient edge backward
a=L.ones(2,requires_grad=True); q=a*2; e=L.autograd.graph.get_gradient_edge(q)
L.autograd.backward(e,L.ones(2)); p(a.grad)
# gradient edge by hand
a=L.ones(2,requires_grad=True); q=a*2; e=L.autograd.graph.GradientEdge(q.grad_fn,0)
p(L.autograd.grad(e,a,L.ones(2)))
# gradient edge scalar
a=L.ones(2,requires_grad=True); e=L.autograd.graph.get_gradient_edge((a*2).sum())
p(L.autograd.grad(e,a))
# gradient edge none
L.autograd.graph.get_gradient_edge(L.ones(1))
# node types
a=L.ones(2,requires_grad=True); y=a*2
p(type(y.grad_fn).__name__, isinstance(y.grad_fn,L.autograd.graph.Node), y.grad_fn is y.grad_fn,
    hash(y.grad_fn)==hash(y.grad_fn))
p(y.grad_fn.next_functions[0][0] is y.grad_fn.next_functions[0][0],
    type(y.grad_fn.next_functions[0][0]).__name__, y.grad_fn.next_functions[0][0].variable is a,
    y.grad_fn.next_functions[1])
z=y.exp()
p(z.grad_fn.next_functions[0][0] is y.grad_fn, z.grad_fn._saved_result, z.grad_fn.requires_grad)
y.grad_fn.metadata['k']=1; p(y.grad_fn.metadata)
# node saved
a=L.ones(2,requires_grad=True); y=a*a
p(y.grad_fn._saved_self, y.grad_fn._saved_self is a, y.grad_fn._saved_other)
y.sum().backward(); y.grad_fn._saved_self
# node unknown attribute
a=L.ones(2,requires_grad=True); y=a*a; p(hasattr(y.grad_fn,'foo'))
try: y.grad_fn.foo=3
except AttributeError: p('refused')
# node function attributes
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,q): ctx.k=7; ctx.save_for_backward(q); return q*2
    @staticmethod
    def backward(ctx,g): return g*2
a=L.ones(2,requires_grad=True); y=F.apply(a)
p(y.grad_fn.k, type(y.grad_fn).__name__, y.grad_fn.name(), y.grad_fn.saved_tensors,
    y.grad_fn.needs_input_grad, y.grad_fn.next_functions[0][0].variable is a)
# accumulate hooks
a=L.ones(2,requires_grad=True); n=(a*1).grad_fn.next_functions[0][0]
n.register_prehook(lambda g: p('pre',g) or (g[0]*2,))
n.register_hook(lambda gi,go: p('post',gi,go,a.grad))
h=a.register_post_accumulate_grad_hook(lambda t: p('acc',t.grad))
(a*3).sum().backward(); p(a.grad)
# accumulate order
a=L.ones(2,requires_grad=True); n=(a*1).grad_fn.next_functions[0][0]
a.register_hook(lambda g: p('tensor')); n.register_prehook(lambda g: p('pre'))
(a*3).sum().backward()
# post accumulate steps
a=L.ones(2,requires_grad=True)
def step(t): t.sub_(t.grad*.5); t.grad=None; p(L.is_grad_enabled())
a.register_post_accumulate_grad_hook(step); (a*3).sum().backward(); p(a,a.grad)
# node hook remove
a=L.ones(2,requires_grad=True); y=a*2; h=y.grad_fn.register_hook(lambda *g: p(*g))
y.sum().backward(retain_graph=True); h.remove(); y.sum().backward()
# node prehook none
a=L.ones(2,requires_grad=True); y=a*2; y.grad_fn.register_prehook(lambda g: (g[0]*5,))
y.grad_fn.register_hook(lambda gi,go: (gi[0]+1,None)); y.sum().backward(); p(a.grad)
"""

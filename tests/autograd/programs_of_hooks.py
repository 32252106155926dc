"""Short programs for ``test_short_programs``: when the hooks of leaves and nodes run."""

PROGRAMS = r"""
# hooks: leaf hooks among those of nodes
x=L.ones(2,requires_grad=True); w=L.ones(2,requires_grad=True); y=x*2; z=y*w; s=z.sum()
for n,t in (('x',x),('w',w),('y',y),('z',z),('s',s)): t.register_hook(lambda g,n=n: p(n,g))
for n,t in (('x',x),('w',w)): t.register_post_accumulate_grad_hook(lambda t,n=n: p('post',n,t.grad))
for n,t in (('y',y),('z',z)): t.grad_fn.register_hook(lambda gi,go,n=n: p('node',n))
for n,t in (('y',y),('z',z)): t.grad_fn.register_prehook(lambda go,n=n: p('before',n))
s.backward()
# hooks: leaf used twice
x=L.ones(2,requires_grad=True); w=L.ones(2,requires_grad=True); a=x*w; b=a*x
for n,t in (('x',x),('w',w),('a',a),('b',b)): t.register_hook(lambda g,n=n: p(n,g))
b.sum().backward()
# hooks: of the node that accumulates
x=L.ones(2,requires_grad=True); y=x*2; acc=y.grad_fn.next_functions[0][0]
acc.register_prehook(lambda go: p('before',go[0],x.grad)); x.register_hook(lambda g: p('hook',g))
acc.register_hook(lambda gi,go: p('after',len(gi),go[0],x.grad))
x.register_post_accumulate_grad_hook(lambda t: p('post',t.grad)); y.sum().backward()
p(L.autograd.grad((x*3).sum(),x))
# hooks: of the node that accumulates changes the gradient
x=L.ones(2,requires_grad=True); y=x*2; acc=y.grad_fn.next_functions[0][0]
acc.register_prehook(lambda go: (go[0]*10,)); x.register_hook(lambda g: g+1); y.sum().backward()
p(x.grad)
# hooks: step in a hook
ws=[L.ones(2,requires_grad=True) for _ in range(3)]
def step(t):
    with L.no_grad(): t.sub_(t.grad)
    t.grad=None; p([w.grad is None for w in ws])
for w in ws: w.register_post_accumulate_grad_hook(step)
h=L.ones(2)
for w in ws: h=(h*w).sin()
h.sum().backward(); p(ws)
# hooks: leaf hooks in grad
x=L.ones(2,requires_grad=True); w=L.ones(2,requires_grad=True); y=(x*w).sin(); z=y*w
for n,t in (('x',x),('w',w),('y',y)): t.register_hook(lambda g,n=n: (p(n,g), g*2)[1])
p(L.autograd.grad(z.sum(),[w,x]), x.grad, w.grad)
# hooks: leaf hooks with inputs
x=L.ones(2,requires_grad=True); w=L.ones(2,requires_grad=True); y=(x*w).sin(); z=y*w
for n,t in (('x',x),('w',w),('y',y)): t.register_hook(lambda g,n=n: (p(n,g), g*2)[1])
x.register_post_accumulate_grad_hook(lambda t: p('post',t.grad))
z.sum().backward(inputs=[x]); p(x.grad, w.grad)
# hooks: leaf that is a root
x=L.tensor(2.,requires_grad=True); x.register_hook(lambda g: g*3); x.backward(); p(x.grad)
L.autograd.backward([x,x*2]); p(x.grad)
# hooks: error after a leaf was reached
x=L.ones(2,requires_grad=True); w=L.ones(2,requires_grad=True); y=x*2; z=y*w
w.register_hook(lambda g: p('w')); y.register_hook(lambda g: 1/0)
try: z.sum().backward()
except ZeroDivisionError: p(w.grad,x.grad)
# hooks: unused leaf
x=L.ones(2,requires_grad=True); w=L.ones(2,requires_grad=True)
for n,t in (('x',x),('w',w)): t.register_hook(lambda g,n=n: p(n,g))
(x*2).sum().backward(); p(w.grad)
# hooks: of several results
x=L.ones(3,requires_grad=True); a,b=x.split([1,2]); w=L.ones(1,requires_grad=True)
for n,t in (('x',x),('a',a),('b',b),('w',w)): t.register_hook(lambda g,n=n: p(n,g))
(a*w+b).sum().backward(); p(x.grad,w.grad)
# hooks: removed
x=L.ones(2,requires_grad=True); h=x.register_hook(lambda g: g*3); (x*2).sum().backward(); p(x.grad)
h.remove(); (x*2).sum().backward(); p(x.grad)
# hooks: under create_graph
x=L.tensor(2.,requires_grad=True); w=L.tensor(3.,requires_grad=True); y=x**2; z=(y*w).sin()
for n,t in (('x',x),('w',w),('y',y)): t.register_hook(lambda g,n=n: p(n,g))
z.backward(create_graph=True); g=x.grad; x.grad=None; g.backward(); p(x.grad,w.grad)
# hooks: gradient of a leaf through a function
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,a,b): return a*b
    @staticmethod
    def backward(ctx,g): return g*2,None
x=L.ones(2,requires_grad=True); w=L.ones(2,requires_grad=True)
for n,t in (('x',x),('w',w)): t.register_hook(lambda g,n=n: p(n,g))
(F.apply(x,w)+w.sin()).sum().backward(); p(x.grad,w.grad)
# hooks: nested pass in a leaf's hook
x=L.ones(2,requires_grad=True); w=L.ones(2,requires_grad=True)
def hook(g): (w*3).sum().backward(); p('in',w.grad)
x.register_hook(hook); w.register_hook(lambda g: p('w',g)); (x*w).sum().backward(); p(x.grad,w.grad)
# hooks: several gradients
x=L.ones(2,requires_grad=True); w=L.ones(2,requires_grad=True); y=x*w
L.autograd.graph.register_multi_grad_hook((x,w,y), lambda gs: p([g is None for g in gs]))
w.register_hook(lambda g: p('w')); (y*w).sum().backward()
# number of gradients a node's hook returns
x=L.ones(2,requires_grad=True); y=x*2; y.grad_fn.register_hook(lambda gi,go:(gi[0]*3,))
y.sum().backward()
# number of gradients a node's first hook returns
x=L.ones(2,requires_grad=True); y=x*2; y.grad_fn.register_prehook(lambda g:(g[0],g[0]))
y.sum().backward()
# leaf after accumulation
x=L.zeros(3,requires_grad=True)
x.register_post_accumulate_grad_hook(lambda t:t.add_(t.grad,alpha=-.01))
x.backward(L.tensor([1.,2.,3.])); p(x)
# number after accumulation
x=L.ones(2,requires_grad=True); x.register_post_accumulate_grad_hook(lambda t:3)
x.sum().backward()
# tangent of another size
class F(L.autograd.Function):
    @staticmethod
    def forward(x): return x**2
    @staticmethod
    def setup_context(ctx,inputs,output): pass
    @staticmethod
    def jvp(ctx,t): return L.ones(3)
L.func.jvp(F.apply,(L.ones(2)*3,),(L.ones(2),))
# backward outside of the block that allowed mutation
x=L.ones(2,requires_grad=True); w=x*1
with L.autograd.graph.allow_mutation_on_saved_tensors(): y=w.sin(); w.add_(1)
y.sum().backward()
# hooks of a node whose gradient is what is asked for
a=L.tensor(1.,requires_grad=True); b=a*2; c=b*2; r=[]
b.grad_fn.register_prehook(lambda g: r.append("before"))
b.grad_fn.register_hook(lambda i,o: r.append("after"))
b.register_hook(lambda g: r.append("tensor"))
for wanted in (b,(a,b),a):
    L.autograd.grad(c,wanted,retain_graph=True); p(r); r.clear()
# anomaly mode warns of what failed
import warnings
for late in (False,True):
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter("always")
        try:
            L.autograd.set_detect_anomaly(not late)
            a=L.ones(5,requires_grad=True); d=a+1; e=d**2; d+=1
            L.autograd.set_detect_anomaly(True); L.autograd.grad(e.sum(),a)
        except RuntimeError as error: p(str(error)[:60])
        finally: L.autograd.set_detect_anomaly(False)
    p([(i.category.__name__,str(i.message)[:70]) for i in w])
# hooks of nodes where a pass adds to some inputs
a=L.tensor(1.,requires_grad=True); b=a*2; c=b*2; r=[]
b.grad_fn.register_prehook(lambda g: r.append("before")); b.register_hook(lambda g: r.append("b"))
a.register_hook(lambda g: r.append("a"))
n=b.grad_fn.next_functions[0][0]; n.register_prehook(lambda g: r.append("before leaf"))
n.register_hook(lambda i,o: r.append("after leaf"))
for wanted in (None,(a,b),(b,),(a,)):
    c.backward(inputs=wanted,retain_graph=True); p(r); r.clear()
# hooks of nodes that return no tuple
for hook in (lambda x: x.grad_fn.register_prehook(lambda g: g[0]*2),
             lambda x: x.grad_fn.register_hook(lambda i,o: i[0]*2),
             lambda x: x.grad_fn.register_prehook(lambda g: [g[0]])):
    x=L.ones(1,requires_grad=True); y=x*2; hook(y)
    try: y.backward(); p(x.grad)
    except TypeError as e: p(str(e))
"""

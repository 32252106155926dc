"""Short programs for ``test_programs``: ``vmap`` over a ``Function`` that has a rule for it.

Their errors have PyTorch's words.
"""

PROGRAMS = r"""
# vmap rule
class F(L.autograd.Function):
    @staticmethod
    def forward(x, k): return x.clone()*k
    @staticmethod
    def setup_context(ctx, inputs, output): ctx.k=inputs[1]
    @staticmethod
    def backward(ctx, g): return g*ctx.k, None
    @staticmethod
    def vmap(info, in_dims, x, k):
        p('vmap', info.batch_size, info.randomness, in_dims, x.shape, k)
        return F.apply(x, k)+100, in_dims[0]
x=L.arange(6.).reshape(2,3); p(L.vmap(F.apply,in_dims=(0,None))(x,3))
p(L.vmap(lambda x: F.apply(x,2)*2+1)(x))
p(L.vmap(L.vmap(lambda x: F.apply(x,2)))(x)); p(L.vmap(lambda x: F.apply(x,2))(L.arange(3.)))
p(L.func.grad(lambda x: L.vmap(lambda x: F.apply(x,2))(x).pow(2).sum())(x))
p(L.func.jacrev(lambda x: L.vmap(lambda x: F.apply(x,2))(x).pow(2).sum(1))(x))
# vmap rule over two
class Mul(L.autograd.Function):
    @staticmethod
    def forward(x, y): return x*y, x+y
    @staticmethod
    def setup_context(ctx, inputs, output): ctx.save_for_backward(*inputs)
    @staticmethod
    def backward(ctx, g, h): x,y=ctx.saved_tensors; return g*y+h, g*x+h
    @staticmethod
    def vmap(info, in_dims, x, y):
        p('vmap', in_dims)
        x=x.movedim(in_dims[0],0) if in_dims[0] is not None else x
        y=y.movedim(in_dims[1],0) if in_dims[1] is not None else y
        return Mul.apply(x,y), (0,0)
x=L.arange(6.).reshape(2,3); y=L.arange(3.)+1
p(L.vmap(Mul.apply,(0,None))(x,y)); p(L.vmap(Mul.apply,(None,0))(y,x)); p(L.vmap(Mul.apply)(x,x))
p(L.vmap(lambda a: Mul.apply(a,y)[0])(x)); p(L.vmap(Mul.apply,out_dims=(1,0))(x,x))
r=L.arange(6.).reshape(2,3).requires_grad_(); a,b=L.vmap(Mul.apply,(0,None))(r,y)
(a*b).sum().backward(); p(r.grad)
p(L.vmap(lambda a: Mul.apply(y,y)[0]*a)(x))
# generated rule
class G(L.autograd.Function):
    generate_vmap_rule=True
    @staticmethod
    def forward(x): return x.exp()
    @staticmethod
    def setup_context(ctx, inputs, output): ctx.save_for_backward(output)
    @staticmethod
    def backward(ctx, g): y,=ctx.saved_tensors; return g*y*2
x=L.arange(6.).reshape(2,3); p(L.vmap(G.apply)(x)); p(L.vmap(L.vmap(G.apply))(x))
p(L.vmap(L.func.grad(lambda x: G.apply(x).sum()))(x))
p(L.func.grad(lambda x: L.vmap(G.apply,1)(x).sum())(x))
p(G.generate_vmap_rule, L.autograd.Function.generate_vmap_rule)
# both rules
class G(L.autograd.Function):
    generate_vmap_rule=True
    @staticmethod
    def forward(x): return x.exp()
    @staticmethod
    def setup_context(ctx, inputs, output): pass
    @staticmethod
    def vmap(info, in_dims, x): return x, 0
L.vmap(G.apply)(L.ones(2,2))
# error in rule
class G(L.autograd.Function):
    @staticmethod
    def forward(x): return x.exp()
    @staticmethod
    def setup_context(ctx, inputs, output): pass
    @staticmethod
    def vmap(info, in_dims, x): raise ValueError('mine')
L.vmap(G.apply)(L.ones(2,2))
# one return
class G(L.autograd.Function):
    @staticmethod
    def forward(x): return x.exp()
    @staticmethod
    def setup_context(ctx, inputs, output): pass
    @staticmethod
    def vmap(info, in_dims, x): return x
L.vmap(G.apply)(L.ones(2,2))
# wrong out dims
class G(L.autograd.Function):
    @staticmethod
    def forward(x): return x.exp()
    @staticmethod
    def setup_context(ctx, inputs, output): pass
    @staticmethod
    def vmap(info, in_dims, x): return (x, x), (0, 0, 0)
L.vmap(G.apply)(L.ones(2,2))
# no rule of the base
L.autograd.Function.vmap(None, None)
# in_dims 1
class G(L.autograd.Function):
    @staticmethod
    def forward(x): return x.exp()
    @staticmethod
    def setup_context(ctx, inputs, output): pass
    @staticmethod
    def vmap(info, in_dims, x): return x.sum(1-in_dims[0]), 0
p(L.vmap(G.apply,1)(L.arange(6.).reshape(2,3)))
p(L.vmap(G.apply,-1,out_dims=-1)(L.arange(6.).reshape(2,3)))
# out dim None
class G(L.autograd.Function):
    @staticmethod
    def forward(x): return x.exp()
    @staticmethod
    def setup_context(ctx, inputs, output): pass
    @staticmethod
    def vmap(info, in_dims, x): return x.sum(), None
p(L.vmap(G.apply)(L.ones(2,2)))
# vmap over grad
class G(L.autograd.Function):
    @staticmethod
    def forward(x): return x**2
    @staticmethod
    def setup_context(ctx, inputs, output): ctx.save_for_backward(*inputs)
    @staticmethod
    def backward(ctx, g): x,=ctx.saved_tensors; return H.apply(x,g)
    @staticmethod
    def vmap(info, in_dims, x): return G.apply(x), in_dims[0]
class H(L.autograd.Function):
    @staticmethod
    def forward(x,g): return g*2*x
    @staticmethod
    def setup_context(ctx, inputs, output): ctx.save_for_backward(*inputs)
    @staticmethod
    def backward(ctx, h): x,g=ctx.saved_tensors; return h*2*g, h*2*x
    @staticmethod
    def vmap(info, in_dims, x, g):
        x=x.movedim(in_dims[0],0) if in_dims[0] is not None else x
        g=g.movedim(in_dims[1],0) if in_dims[1] is not None else g
        return H.apply(x,g), 0
x=L.arange(6.).reshape(2,3)
p(L.vmap(L.func.grad(lambda x: G.apply(x).sum()))(x))
p(L.func.grad(lambda x: L.vmap(L.func.grad(lambda x: G.apply(x).sum()))(x).pow(2).sum())(x))
"""

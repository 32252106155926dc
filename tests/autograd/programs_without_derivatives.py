"""Short programs for ``test_short_programs``: operations that have no derivative."""

PROGRAMS = r"""
# no derivative: floor division
x=L.tensor([1.5,-2.5],requires_grad=True); y=x//2; p(y,type(y.grad_fn).__name__); y.sum().backward()
# no derivative: floor division by what needs none
x=L.tensor([1.5,-2.5],requires_grad=True); y=x*1; y//=2; p(y); y.sum().backward()
# no derivative: floor division of integers
p(L.tensor([5,-5])//2, (L.tensor([5,-5])//2).requires_grad)
# no derivative: floor division not on the way
x=L.tensor([1.5,-2.5],requires_grad=True); y=(x//2).detach()*x; y.sum().backward(); p(x.grad)
# no derivative: heaviside
x=L.tensor([1.5,-2.5],requires_grad=True); y=L.heaviside(x,L.tensor([.5])); p(y); y.sum().backward()
# no derivative: heaviside in place
x=L.tensor([1.5,-2.5],requires_grad=True); y=(x*1).heaviside_(L.tensor([.5])); y.sum().backward()
# no derivative: unique
x=L.tensor([1.5,-2.5,1.5],requires_grad=True); y,i,n=L.unique(x,return_inverse=True,
    return_counts=True)
p(y,i,n,type(y.grad_fn).__name__); y.sum().backward()
# no derivative: unique along
x=L.ones(2,3,requires_grad=True); y=L.unique(x,dim=0); p(y,type(y.grad_fn).__name__)
y.sum().backward()
# no derivative: unique consecutive
x=L.tensor([1.5,1.5,2.],requires_grad=True); y=L.unique_consecutive(x)
p(y,type(y.grad_fn).__name__); y.sum().backward()
# no derivative: histogram
x=L.tensor([1.5,1.5,2.],requires_grad=True); y=L.histogram(x,2).hist
p(y); y.sum().backward()
# no derivative: bincount
x=L.tensor([1.5,1.5,2.],requires_grad=True); y=L.bincount(L.tensor([0,1,1]),x); p(y)
y.sum().backward()
# no derivative: geqrf
x=L.tensor([[1.5,1.5],[2.,1.]],requires_grad=True); y=L.geqrf(x)[0]
p(y.requires_grad,type(y.grad_fn).__name__); y.sum().backward()
# no derivative: ldl
x=L.tensor([[1.5,1.5],[1.5,1.]],requires_grad=True); y=L.linalg.ldl_factor(x).LD
p(y.requires_grad,type(y.grad_fn).__name__); y.sum().backward()
# no derivative: igamma
x=L.tensor([1.5,1.],requires_grad=True); y=L.igamma(x,x); p(y)
p(L.igamma(x.detach(),x)); y.sum().backward()
# no derivative: zeta
x=L.tensor([1.5,2.],requires_grad=True); y=L.special.zeta(x,x); p(y); y.sum().backward()
# no derivative: of one of two
x=L.tensor([1.5,2.],requires_grad=True); w=L.tensor([1.5,2.],requires_grad=True)
p(L.autograd.grad(L.igamma(x,w).sum(),w)); L.autograd.grad(L.igamma(x,w).sum(),x)
# no derivative: remainder has one
x=L.tensor([1.5,-2.5],requires_grad=True); w=L.tensor([.4,.7],requires_grad=True)
g=L.autograd.grad((x%w).sum(),[x,w],create_graph=True); p(g)
p(L.autograd.grad((g[1]*w).sum(),[w]))
"""

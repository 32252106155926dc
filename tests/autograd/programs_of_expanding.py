"""Short programs for ``test_short_programs``: writing to expanded tensors."""

PROGRAMS = r"""
# expanded: zero
x=L.ones(1).expand(3); x.zero_(); p(x)
# expanded: fill
x=L.ones(1).expand(3); x.fill_(2); p(x)
# expanded: fill with a tensor
x=L.ones(1).expand(3); x.fill_(L.tensor(2.)); p(x)
# expanded: add
x=L.ones(1).expand(3); x.add_(1)
# expanded: copy
x=L.ones(1).expand(3); x.copy_(L.ones(3))
# expanded: exp
x=L.ones(1).expand(3); x.exp_()
# expanded: set item
x=L.ones(1).expand(3); x[0]=2; p(x)
# expanded: set item whole
x=L.ones(1).expand(3); x[:]=2; p(x)
# expanded: set item with a tensor
x=L.ones(1).expand(3); x[:2]=L.ones(2); p(x)
# expanded: normal
x=L.ones(1).expand(3); x.normal_()
# expanded: uniform
x=L.ones(1).expand(3); x.uniform_()
# expanded: scatter
x=L.ones(1).expand(3); x.scatter_(0,L.tensor([0]),2.); p(x)
# expanded: index_add
x=L.ones(1).expand(3); x.index_add_(0,L.tensor([0]),L.ones(1)); p(x)
# expanded: clamp
x=L.ones(1).expand(3); x.clamp_(0,1)
# expanded: transposed
x=L.ones(1).expand(3); x.unsqueeze_(0); p(x)
# expanded: out
x=L.ones(1).expand(3); L.add(L.ones(3),1,out=x); p(x)
# expanded: one element
x=L.ones(1).expand(1); x.add_(1); p(x)
# expanded: one element of two dimensions
x=L.ones(1,1).expand(1,1); x.mul_(3); p(x)
# expanded: empty
x=L.ones(1,0).expand(3,0); x.add_(1); p(x)
# expanded: part of it
x=L.ones(1).expand(3); x[0].add_(1); p(x)
# expanded: part with another size
x=L.ones(2,1).expand(2,3); x[:,0].add_(1); p(x)
# expanded: gradient of zero
y=L.ones(1,requires_grad=True)*2; x=y.expand(3); x.zero_(); p(x,y)
# expanded: unfold
x=L.arange(4.).unfold(0,2,1); x.add_(1)
# expanded: relu in place of a function
x=L.ones(1).expand(3); L.nn.functional.relu(x,inplace=True)
# expanded: cumsum
x=L.ones(1).expand(3); x.cumsum_(0); p(x)
# expanded: data
x=L.ones(1).expand(3); x.data.add_(1)
# expanded: gradient of a part
w=L.ones(2,1,requires_grad=True); y=w*2; x=y.expand(2,3); x[:,0].mul_(5); p(x,y)
(x*L.arange(6.).reshape(2,3)).sum().backward(); p(w.grad)
# expanded: gradient of a part that is set
w=L.ones(2,1,requires_grad=True); v=L.ones(2,requires_grad=True); y=w*2; x=y.expand(2,3)
x[:,0]=v*3; p(x,y); (x*L.arange(6.).reshape(2,3)).sum().backward(); p(w.grad,v.grad)
# expanded: leaf
x=L.ones(1,requires_grad=True).expand(3); x.zero_()
# expanded: leaf in no_grad
x=L.ones(1,requires_grad=True)
with L.no_grad(): x.expand(3).zero_()
p(x)
"""

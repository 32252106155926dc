"""Short programs for ``test_short_programs``: modified after use; flat gradients; dead ends."""

PROGRAMS = r"""
# modified: factor of a number
x=L.ones(2,requires_grad=True); a=x*1; y=a*3; a.add_(1); y.sum().backward(); p(x.grad)
# modified: factor of a constant
x=L.ones(2,requires_grad=True); a=x*1; c=L.ones(2)*4; y=a*c; a.add_(1); y.sum().backward()
p(x.grad)
# modified: constant factor
x=L.ones(2,requires_grad=True); a=x*1; c=L.ones(2)*4; y=a*c; c.add_(1); y.sum().backward()
p(x.grad)
# modified: dividend
x=L.ones(2,requires_grad=True); a=x*1; c=L.ones(2)*4; y=a/c; a.add_(1); y.sum().backward()
p(x.grad)
# modified: dividend 2
x=L.ones(2,requires_grad=True); a=x*1; c=L.ones(2)*4; y=c/a; a.add_(1); y.sum().backward()
p(x.grad)
# modified: linear
x=L.ones(2,requires_grad=True); a=x*1; y=L.nn.functional.linear(a,L.ones(2,2)); a.add_(1)
y.sum().backward(); p(x.grad)
# modified: linear 2
x=L.ones(2,requires_grad=True); a=x*1; w=L.ones(2,2,requires_grad=True)
y=L.nn.functional.linear(a,w); a.add_(1); y.sum().backward(); p(x.grad)
# modified: linear bias
x=L.ones(3,2,requires_grad=True); a=x*1; b=L.ones(4,requires_grad=True)*1
y=L.nn.functional.linear(a,L.ones(4,2),b); a.add_(1); b.add_(1); y.sum().backward(); p(x.grad)
# modified: matmul
x=L.ones(2,requires_grad=True); a=x*1; y=a@L.ones(2,2); a.add_(1); y.sum().backward(); p(x.grad)
# modified: where
x=L.ones(2,requires_grad=True); a=x*1; y=L.where(a>0,a,3.); a.add_(1); y.sum().backward()
p(x.grad)
# modified: addcmul
x=L.ones(2,requires_grad=True); a=x*1; c=L.ones(2)*4; y=L.addcmul(a,c,c); c.add_(1)
y.sum().backward(); p(x.grad)
# modified: pow
x=L.ones(2,requires_grad=True); a=x*1; y=a**2; a.add_(1); y.sum().backward(); p(x.grad)
# modified: bmm
x=L.ones(1,2,2,requires_grad=True); a=x*1; y=L.bmm(a,L.ones(1,2,2)); a.add_(1)
y.sum().backward(); p(x.grad)
# modified: lerp
x=L.ones(2,requires_grad=True); a=x*1; y=L.lerp(a,L.ones(2),0.5); a.add_(1); y.sum().backward()
p(x.grad)
# modified: atan2
x=L.ones(2,requires_grad=True); a=x*1; y=L.atan2(a,L.ones(2)); a.add_(1); y.sum().backward()
p(x.grad)
# modified: mse
x=L.ones(2,requires_grad=True); a=x*1; y=L.nn.functional.mse_loss(a,L.ones(2)); a.add_(1)
y.sum().backward(); p(x.grad)
# modified: sub mul sum chain
x=L.ones(2,requires_grad=True); a=x*1; y=a-2*a; a.zero_(); y.sum().backward(); p(x.grad)
# modified: relu in place after mul number
x=L.tensor([-1.,2.],requires_grad=True); h=x*2; y=h*3; h.relu_(); (y.sum()+h.sum()).backward()
p(x.grad)
# modified: iadd on result
x=L.ones(2,requires_grad=True); h=x*2; y=h*5; h+=1; (y*h).sum().backward(); p(x.grad)
# modified: exp result
x=L.ones(2,requires_grad=True); y=x.exp(); y.add_(1); y.sum().backward(); p(x.grad)
# modified: sin input
x=L.ones(2,requires_grad=True); a=x*1; y=a.sin(); a.add_(1); y.sum().backward(); p(x.grad)
# modified: second of two
x=L.ones(2,requires_grad=True); w=L.ones(2,requires_grad=True)*1; y=x*w; w.add_(1)
y.sum().backward()
# modified: detached first
x=L.ones(2,requires_grad=True); a=x*1; y=a.detach()*x; a.add_(1); y.sum().backward()
# modified: layer norm
x=L.ones(2,3,requires_grad=True); a=x*1; y=L.nn.functional.layer_norm(a,(3,)); a.add_(1)
y.sum().backward()
# modified: softmax result
x=L.ones(2,requires_grad=True); y=x.softmax(0); y.mul_(2); y.sum().backward()
# modified: dropout input
x=L.ones(2,requires_grad=True); a=x*1; y=L.nn.functional.dropout(a,0.); a.add_(1)
y.sum().backward(); p(x.grad)
# flat: relu alone
x=L.tensor([-1.,2.],requires_grad=True)
g,=L.autograd.grad(L.relu(x).sum(),x,create_graph=True); p(g); g.sum().backward(); p(x.grad)
# flat: relu and a factor
x=L.tensor([-1.,2.],requires_grad=True); w=L.tensor([3.,4.],requires_grad=True)
g,=L.autograd.grad((L.relu(x)*w).sum(),x,create_graph=True); p(g)
p(L.autograd.grad(g.sum(),[x,w]))
# flat: activations
x=L.tensor([-1.2,.3,.7,2.],requires_grad=True); F=L.nn.functional
for f in (F.leaky_relu,F.hardtanh,F.relu6,lambda v:F.threshold(v,.1,0.),F.hardshrink,
    F.softshrink,F.rrelu,lambda v:F.prelu(v,L.tensor([.2]))):
    g,=L.autograd.grad(f(x).sum(),x,create_graph=True); p(g); p(L.autograd.grad(g.sum(),x))
# flat: in place
x=L.tensor([-1.,2.],requires_grad=True)
g,=L.autograd.grad((x*2).relu_().sum(),x,create_graph=True); p(g); g.sum().backward(); p(x.grad)
# flat: network
L.manual_seed(0); m=L.nn.Sequential(L.nn.Linear(3,4),L.nn.ReLU(),L.nn.Linear(4,1))
x=L.arange(6.).reshape(2,3).requires_grad_()
g,=L.autograd.grad(m(x).sum(),x,create_graph=True)
p(L.autograd.grad(g.sum(),x,retain_graph=True)); (g.norm()-1).pow(2).backward()
p([q.grad for q in m.parameters()], x.grad)
# flat: third derivative
x=L.tensor([-1.,2.],requires_grad=True); y=(L.relu(x)**3).sum()
for i in range(3): y,=L.autograd.grad(y.sum(),x,create_graph=True); p(y)
# flat: to any order
F=L.nn.functional
for f in (L.relu,lambda v:L.relu(v)*v,lambda v:(v*2).relu_(),F.leaky_relu,F.relu6):
    x=L.tensor([-1.,2.],requires_grad=True); y=f(x)
    for i in range(5):
        if y.requires_grad: y,=L.autograd.grad(y.sum(),x,create_graph=True); p(y,y.requires_grad)
# flat: not of clamp
x=L.tensor([-1.,2.],requires_grad=True)
g,=L.autograd.grad(x.clamp(0,1).sum(),x,create_graph=True); p(g)
# flat: average pooling
F=L.nn.functional; x=L.arange(16.).reshape(1,1,4,4).requires_grad_()
for f in (lambda v:F.avg_pool2d(v,2),lambda v:F.avg_pool2d(v,3,1,1,count_include_pad=False),
    lambda v:F.adaptive_avg_pool2d(v,2),lambda v:F.adaptive_avg_pool2d(v,3),
    lambda v:F.avg_pool1d(v[0],2),lambda v:F.avg_pool3d(v,(1,2,2)),
    lambda v:F.pad(v,(1,1,1,1),mode='reflect'),lambda v:F.pad(v,(1,1,1,1),mode='replicate')):
    g,=L.autograd.grad(f(x).sum(),x,create_graph=True); p(g); p(L.autograd.grad(g.sum(),x))
    g,=L.autograd.grad((f(x)**2).sum(),x,create_graph=True); p(g); p(L.autograd.grad((g*g).sum(),x))
# flat: nll_loss
F=L.nn.functional; x=L.arange(6.).reshape(2,3).requires_grad_(); t=L.tensor([0,2])
for r in ('mean','sum','none'):
    g,=L.autograd.grad(F.nll_loss(x,t,reduction=r).sum(),x,create_graph=True); p(g)
    p(L.autograd.grad(g.sum(),x))
w=L.tensor([1.,2.,3.])
g,=L.autograd.grad(F.nll_loss(x,t,w),x,create_graph=True); p(g); p(L.autograd.grad(g.sum(),x))
# flat: where the branches of a loss meet
F=L.nn.functional; x=L.tensor([0.,1.,2.,-1.,.5,-.5,float('nan')],requires_grad=True)
y=L.zeros(7,requires_grad=True)
for f in (F.huber_loss,F.smooth_l1_loss,lambda a,b,**k:F.huber_loss(a,b,delta=.5,**k),
    lambda a,b,**k:F.smooth_l1_loss(a,b,beta=.5,**k)):
    g=L.autograd.grad(f(x,y,reduction='sum'),(x,y),create_graph=True); p(g)
    p(L.autograd.grad(g[0].sum(),(x,y)))
# flat: penalty through pooling
F=L.nn.functional; L.manual_seed(0); c=L.nn.Conv2d(1,2,3); x=L.arange(36.).reshape(1,1,6,6)
x=(x/36).requires_grad_(); y=F.avg_pool2d(F.relu(c(x)),2).sum()
g,=L.autograd.grad(y,x,create_graph=True); (g.norm()-1).pow(2).backward(); p(c.weight.grad,x.grad)
# flat: penalty through the loss
F=L.nn.functional; L.manual_seed(0); m=L.nn.Linear(3,4); x=L.arange(6.).reshape(2,3)/6
x.requires_grad_(); y=F.nll_loss(F.log_softmax(m(x),1),L.tensor([1,3]))
g,=L.autograd.grad(y,x,create_graph=True); (g.norm()-1).pow(2).backward()
p(m.weight.grad,m.bias.grad,x.grad)
# dead end
x=L.ones(3,requires_grad=True); y=x*1
with L.no_grad(): v=y.view(3)
p(v.requires_grad, v.is_leaf, v.grad_fn); z=(v*2).sum(); p(z.requires_grad)
(z+y.sum()).backward(); p(v.grad, x.grad)
# dead end alone
x=L.ones(3,requires_grad=True)
with L.no_grad(): v=x.view(3)
z=(v*2).sum(); z.backward(); p(v.grad,x.grad)
# dead end made a leaf
x=L.ones(3,requires_grad=True)
with L.no_grad(): v=x.view(3)
v.requires_grad_(); z=(v*2).sum(); z.backward(); p(v.grad,x.grad)
# dead end views
x=L.ones(3,requires_grad=True)
with L.no_grad(): v=x.view(3)
w=v[1:]; p(w.requires_grad, w.is_leaf); w.sum().backward(); p(x.grad, v.grad)
# dead end detached
x=L.ones(3,requires_grad=True)
with L.no_grad(): v=x.view(3)
p(v.detach().requires_grad, v.clone().requires_grad, v.is_leaf)
# copied over: a saved result
x=L.ones(2,requires_grad=True); z=x.exp(); z.copy_(L.ones(2)); z.sum().backward(); p(x.grad)
# copied over: a saved result, by what requires grad
x=L.ones(2,requires_grad=True); z=x.exp(); z.copy_(x*3); z.sum().backward(); p(x.grad)
# copied over: the old value has a gradient of zeros
x=L.ones(2,requires_grad=True); y=x*2; y.copy_(L.ones(2)); y.sum().backward(); p(x.grad)
# copied over: a row of the old value
x=L.ones(2,2,requires_grad=True); y=x*2; y[0].copy_(L.ones(2)); y.sum().backward(); p(x.grad)
# copied over: both have a gradient
x=L.ones(2,requires_grad=True); w=L.ones(2,requires_grad=True); y=w*2; y.copy_(x*3)
p([n.name().split(":")[-1] for n, _ in y.grad_fn.next_functions]); y.sum().backward()
p(x.grad,w.grad)
# copied over: a factor
x=L.ones(2,requires_grad=True); a=x*1; y=a*a; a.copy_(L.ones(2)); y.sum().backward(); p(x.grad)
# copied over: a summand
x=L.ones(2,requires_grad=True); a=x*1; y=a+a; a.copy_(L.ones(2)); y.sum().backward(); p(x.grad)
# copied over: a state that is kept
x=L.ones(2,requires_grad=True); h=L.zeros(2); h.copy_(x.exp()); h.sum().backward()
p(x.grad); h.copy_(x*2); h.sum().backward()
# copied over: a state that is kept without its history
x=L.ones(2,requires_grad=True); h=L.zeros(2); h.copy_(x.exp()); h.sum().backward(); h.detach_()
h.copy_(x*2); h.sum().backward(); p(x.grad)
# compared in place: the old value has a gradient of zeros
x=L.ones(2,requires_grad=True); y=x*2; y.gt_(3.); y.sum().backward(); p(x.grad)
# modified: index read at
x=L.ones(3,requires_grad=True); i=L.tensor([0,1]); y=x[i]; i.zero_(); y.sum().backward(); p(x.grad)
# modified: one of two indices read at
x=L.ones(3,3,requires_grad=True); i=L.tensor([0,1]); y=x[i,[1,2]]; i+=1; y.sum().backward()
# modified: index of columns
x=L.ones(3,3,requires_grad=True); i=L.tensor([0,1]); y=x[:,i]; i+=1; y.sum().backward()
# modified: mask read at
x=L.ones(3,requires_grad=True); m=x.detach()>0; y=x[m]; m.zero_(); y.sum().backward()
# modified: mask selected by
x=L.ones(3,requires_grad=True); m=x.detach()>0; y=x.masked_select(m); m.zero_(); y.sum().backward()
# modified: index written at
x=L.ones(3,requires_grad=True); a=x*1; i=L.tensor([0,1]); a[i]=0.; i.zero_(); a.sum().backward()
# modified: mask written at
x=L.ones(3,requires_grad=True); a=x*1; m=a>0; a[m]=0.; m.zero_(); a.sum().backward()
# modified: index put at
x=L.ones(3,requires_grad=True); i=L.tensor([0,1]); y=x.index_put((i,),L.zeros(2)); i.zero_()
y.sum().backward()
# modified: index of what needs no gradient
x=L.ones(2,requires_grad=True); i=L.tensor([0,1]); y=L.ones(3)[i]*x; i.zero_(); y.sum().backward()
p(x.grad)
# modified: before it was an index
x=L.ones(3,requires_grad=True); i=L.tensor([0,1]); i.zero_(); y=x[i]; y.sum().backward(); p(x.grad)
# modified: what is kept though its values are not read
F=L.nn.functional; i=L.tensor([[0,1],[1,0]]); z=L.zeros(1,2,2,2)
w=L.ones(2); m=i>0
for f in (lambda x:x.gather(0,i),lambda x:x.take(i),lambda x:L.take_along_dim(x,i,1),
    lambda x:x.masked_select(m),lambda x:x.index_select(0,i[0]),lambda x:x[i],lambda x:x[0],
    lambda x:F.avg_pool1d(x,2),lambda x:F.avg_pool2d(x[None],2),lambda x:F.avg_pool2d(x[None],1),
    lambda x:F.avg_pool3d(x[None,None],1),lambda x:F.adaptive_avg_pool1d(x,1),
    lambda x:F.adaptive_avg_pool2d(x[None],(1,2)),lambda x:F.adaptive_avg_pool2d(x[None],1),
    lambda x:F.adaptive_avg_pool2d(x[None],2),lambda x:F.adaptive_avg_pool3d(x[None,None],(1,1,2)),
    lambda x:F.pad(x,(1,1),mode='reflect'),lambda x:F.pad(x,(1,0),mode='replicate'),
    lambda x:F.pad(x,(1,1)),lambda x:F.pad(x,(1,0),mode='circular'),
    lambda x:F.interpolate(x[None,None],(1,2),mode='area'),lambda x:F.interpolate(x[None],4),
    lambda x:F.nll_loss(x,i[0]),lambda x:F.nll_loss(x,i[0],reduction='none'),
    lambda x:F.soft_margin_loss(x,w),lambda x:F.multi_margin_loss(x,i[0]),
    lambda x:F.multilabel_margin_loss(x,i),lambda x:F.grid_sample(x[None,None],z),
    lambda x:F.grid_sample(x[None,None].detach(),z+x[None,...,None]),lambda x:L.frexp(x)[0]):
    x=L.eye(2,requires_grad=True); a=x*1; y=f(a); a.mul_(1)
    try: y.sum().backward(); p(x.grad)
    except RuntimeError as error: p('modified by an inplace operation' in str(error))
# modified: what is not kept, but what was computed from it
F=L.nn.functional; i=L.tensor([0,1]); w=L.ones(2)*3; t=L.eye(2)[None]
for f in (lambda a:F.scaled_dot_product_attention(a,t,t),lambda a:L.linalg.vander(a,N=3)*0+a,
    lambda a:F.scaled_dot_product_attention(t,a,t),lambda a:F.scaled_dot_product_attention(t,t,a),
    lambda a:F.scaled_dot_product_attention(a[None],t[None],t[None]),
    lambda a:F.scaled_dot_product_attention(a,a,t,scale=-.5),
    lambda a:F.instance_norm(a*1,weight=a[0,0]),lambda a:F.instance_norm(a,weight=w)):
    x=L.arange(8.).reshape(2,2,2).requires_grad_(); a=x*1; w=L.ones(2)*3; y=f(a)
    with L.no_grad(): a.mul_(2); w.mul_(2)
    try: (y*y).sum().backward(); p(x.grad)
    except RuntimeError as error: p('modified by an inplace operation' in str(error))
# modified: powers
x=L.ones(3,requires_grad=True); y=L.linalg.vander(x,N=3)
with L.no_grad(): y.mul_(2)
y.sum().backward(); p(x.grad)
# modified: what a result was chosen from
F=L.nn.functional; i=L.tensor([[0,1],[1,0]])
for f in (lambda x:x.max(0)[0],lambda x:x.min(1,True)[0],lambda x:x.median(0)[0],
    lambda x:x.nanmedian(1)[0],lambda x:x.mode(1)[0],lambda x:x.kthvalue(1)[0],
    lambda x:x.topk(1)[0],lambda x:x.sort()[0],lambda x:x.msort(),lambda x:x.quantile(.3),
    lambda x:F.embedding_bag(i,x,mode='max')):
    x=L.eye(2,requires_grad=True); a=x*1; y=f(a); a.mul_(-3); y.sum().backward(); p(x.grad)
# modified: arguments of which what was computed from them is kept, and results
F=L.nn.functional
for f in (F.tanhshrink,L.special.ndtr,lambda x:L.ldexp(x,L.tensor([1.,2.])),
    lambda x:L.ldexp(L.tensor([1.,2.]),x),lambda x:F.l1_loss(x,L.zeros(2)),
    lambda x:F.l1_loss(L.zeros(2),x,reduction='sum'),
    lambda x:F.smooth_l1_loss(x,L.zeros(2),beta=0.),
    lambda x:L.ldexp(x,x),lambda x:L.erfinv(x/9)):
    for k in range(2):
        x=L.tensor([.3,-2.],requires_grad=True); a=x*1; y=f(a)
        with L.no_grad(): (a,y)[k].mul_(-2).add_(1)
        try: y.sum().backward(); p(x.grad)
        except RuntimeError as error: p('modified by an inplace operation' in str(error))
# modified: what is kept of several factors, and indices
F=L.nn.functional; i=L.tensor([1,0,1])
for f in (lambda a,b,c:F.bilinear(a,b,c),lambda a,b,c:L.dist(a,b),
    lambda a,b,c:F.embedding_bag(i,c[0],b.long()[0],per_sample_weights=a[0],mode='sum'),
    lambda a,b,c:F.max_pool1d(a,2,return_indices=True),
    lambda a,b,c:F.max_pool2d(c[0][None],2,return_indices=True),
    lambda a,b,c:F.adaptive_max_pool1d(a,2,return_indices=True)):
    for which in ('a','b','c','ac','abc'):
        for k in range(6):
            i=L.tensor([1,0,1]); three=[L.ones(2,3)/2,L.zeros(2,3),L.ones(4,3,3)/3]
            for t,name in zip(three,'abc'): t.requires_grad_(name in which)
            y=f(*three); y=y if isinstance(y,tuple) else (y,); changed=(*three,i,*y,*y)[k]
            with L.no_grad(): changed.add_(0)
            try: p(L.autograd.grad(y[0].sum(),[t for t in three if t.requires_grad]))
            except RuntimeError as error: p('modified by an inplace operation' in str(error))
# modified: states of cells
N=L.nn; x=L.ones(2,3)
for m in (N.LSTMCell(3,3),N.GRUCell(3,3),N.RNNCell(3,3)):
    for k in range(4):
        with L.no_grad():
            for q in m.parameters(): q.copy_(L.arange(q.numel()).reshape(q.shape)/30-.3)
        h=L.tensor([[.3,-2.,.1]]*2,requires_grad=True); s=h*1,h*2
        y=m(x,s if isinstance(m,N.LSTMCell) else s[0]); y=y if isinstance(y,tuple) else (y,y)
        with L.no_grad(): (*s,*y)[k].mul_(-1)
        try: p(L.autograd.grad((y[0]*x).sum()+y[-1].sum(),[h,*m.parameters()]))
        except RuntimeError as error: p('modified by an inplace operation' in str(error))
# modified: two of three equal matrices
for k in range(3):
    xs=[L.tensor([[1.,2.],[3.,j]],requires_grad=j!=k) for j in range(3)]
    for j in range(3):
        y=L.linalg.multi_dot(xs)
        with L.no_grad(): xs[j].mul_(-1)
        try: p(L.autograd.grad(y.sum(),[x for x in xs if x.requires_grad]))
        except RuntimeError as error: p('modified by an inplace operation' in str(error))
# twice: what else is kept for a gradient
for f in (L.nn.functional.tanhshrink,L.special.ndtr,L.erfinv,lambda x:L.ldexp(x,x)):
    x=L.tensor([.3,-.2,.1],requires_grad=True); y=f(x)
    g,=L.autograd.grad(y.sum(),x,create_graph=True)
    h,=L.autograd.grad((g*g).sum(),x,create_graph=True); (h*h).sum().backward(); p(g,h,x.grad)
# modified: one of several results
for f in (L.frexp,L.slogdet,L.linalg.cholesky_ex,L.linalg.lu_factor_ex,L.linalg.inv_ex,L.lu,
    lambda x:L.lu(x,get_infos=True),lambda x:L.linalg.solve_ex(x,L.ones(2)),
    lambda x:x.max(1),lambda x:x.diagonal().sum().max(0),lambda x:x.sum().mode()):
    for k in range(3):
        x=L.tensor([[2.,1.],[1.,4.]],requires_grad=True); rs=f(x)
        with L.no_grad(): rs[k%len(rs)].zero_()
        try: sum(r.sum() for r in rs if r.requires_grad).backward(); p(x.grad)
        except RuntimeError as error: p('modified by an inplace operation' in str(error))
# modified: unread result, derived twice
x=L.tensor([[2.,1.],[1.,4.]],requires_grad=True); r,info=L.linalg.inv_ex(x); info.zero_()
g,=L.autograd.grad(r.sum(),x,create_graph=True); (g*g).sum().backward(); p(x.grad)
# modified: hooks of results, of which one is not kept
kept=[]
with L.autograd.graph.saved_tensors_hooks(lambda t:kept.append(t.dtype) or t,lambda t:t):
    x=L.tensor([[2.,1.],[1.,4.]],requires_grad=True); r=L.linalg.inv_ex(x)[0]
r.sum().backward(); p(x.grad,len(kept))
# modified: weight of a loss
x=L.eye(2,requires_grad=True); w=L.ones(2); y=L.nn.functional.nll_loss(x,L.tensor([0,1]),w)
w.add_(1); y.backward()
# modified: grid that needs no gradient
x=L.ones(1,1,2,2,requires_grad=True); g=L.zeros(1,1,1,2)
y=L.nn.functional.grid_sample(x,g,align_corners=True); g.add_(1); y.sum().backward()
# modified: vector whose own gradient alone is wanted
x=L.ones(2,requires_grad=True); a=x*1; y=a.dot(L.ones(2)); a.zero_(); y.backward(); p(x.grad)
# modified: vector of the other's gradient
x=L.ones(2,requires_grad=True); a=x*1; y=a.dot(x); a.zero_(); y.backward(); p(x.grad)
# flat: padding that adds nothing
x=L.arange(12.).reshape(1,3,4).requires_grad_()
for mode in ('reflect','replicate'):
    for n in ((0,0),(-1,-1),(-1,0)):
        y=L.nn.functional.pad(x,n,mode=mode); g,=L.autograd.grad((y*2).sum(),x,create_graph=True)
        p(g,L.autograd.grad(g.sum(),x))
# flat: pooling to the same size
x=L.arange(32.).reshape(1,2,4,4).requires_grad_(); F=L.nn.functional
for f,n in ((F.adaptive_avg_pool2d,4),(F.adaptive_avg_pool2d,(None,4)),(F.adaptive_max_pool2d,3)):
    y=f(x,n)
    g,=L.autograd.grad(y.sum(),x,create_graph=True); p(y,g,L.autograd.grad(g.sum(),x))
# flat: fractional pooling
x=L.arange(32.).reshape(1,2,4,4).requires_grad_(); u=L.full((1,2,2),0.4)
y=L.nn.functional.fractional_max_pool2d(x,2,output_size=2,_random_samples=u)
g,=L.autograd.grad(y.sum(),x,create_graph=True); p(g,L.autograd.grad(g.sum(),x))
# flat: randomised slopes
x=L.tensor([1.,-2.,4.],requires_grad=True); y=L.nn.functional.rrelu(x,0.5,0.5,training=True)
g,=L.autograd.grad(y.sum(),x,create_graph=True); p(g,L.autograd.grad(g.sum(),x))
x=L.tensor([1.,-2.,4.],requires_grad=True); y=L.rrelu_(x*1,0.5,0.5,training=True)
g,=L.autograd.grad(y.sum(),x,create_graph=True); p(g,L.autograd.grad(g.sum(),x))
# flat: product of one number, and size of a number
x=L.tensor([3.],requires_grad=True); g,=L.autograd.grad(x.prod(),x,create_graph=True)
p(g,L.autograd.grad(g.sum(),x))
y=L.polar(x,L.ones(1)).real; g,=L.autograd.grad(y.sum(),x,create_graph=True)
p(g,L.autograd.grad(g.sum(),x))
# raw hooks
x=L.ones(2,requires_grad=True); y=x.exp()
r=y.grad_fn._raw_saved_result
r.register_hooks(lambda t: p('pack',t) or t*2, lambda t: p('unpack',t) or t)
p(y.grad_fn._saved_result); y.sum().backward(); p(x.grad)
# raw hooks of a factor
x=L.ones(2,requires_grad=True); y=x*x
y.grad_fn._raw_saved_self.register_hooks(lambda t: 3*t.detach(), lambda t: t); y.sum().backward()
p(x.grad)
# raw hooks sin
x=L.ones(2,requires_grad=True); y=x.sin()
y.grad_fn._raw_saved_self.register_hooks(lambda t: t.detach().clone(), lambda t: t)
y.sum().backward(); p(x.grad)
# raw hooks twice
x=L.ones(2,requires_grad=True); y=x.exp(); r=y.grad_fn._raw_saved_result
r.register_hooks(lambda t: t, lambda t: t); r.register_hooks(lambda t: t, lambda t: t)
# raw hooks wrong type
x=L.ones(2,requires_grad=True); y=x.exp()
y.grad_fn._raw_saved_result.register_hooks(lambda t: t, lambda t: 3); y.sum().backward()
# raw hooks freed
x=L.ones(2,requires_grad=True); y=x.exp(); r=y.grad_fn._raw_saved_result; y.sum().backward()
r.register_hooks(lambda t: t, lambda t: t)
# raw of a function
class F(L.autograd.Function):
    @staticmethod
    def forward(ctx,x): ctx.save_for_backward(x); return x*2
    @staticmethod
    def backward(ctx,g): x,=ctx.saved_tensors; return g*x
x=L.ones(2,requires_grad=True); y=F.apply(x); r=y.grad_fn._raw_saved_tensors
p(len(r), type(r).__name__); r[0].register_hooks(lambda t: t.detach()*5, lambda t: t)
y.sum().backward(); p(x.grad)
# raw hooks of both factors
x=L.ones(2,requires_grad=True); z=L.ones(2,requires_grad=True)*3; y=x*z; f=y.grad_fn
f._raw_saved_self.register_hooks(lambda t: t.detach()*2, lambda t: t)
f._raw_saved_other.register_hooks(lambda t: t.detach()*5, lambda t: t)
(g,)=L.autograd.grad(y.sum(), x, create_graph=True); p(g)
# raw under hooks
x=L.ones(2,requires_grad=True)
with L.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t): y=x.exp()
y.grad_fn._raw_saved_result.register_hooks(lambda t: t, lambda t: t)
# raw double backward
x=L.ones(2,requires_grad=True); y=x.sin()
y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)
g,=L.autograd.grad(y.sum(),x,create_graph=True); p(L.autograd.grad(g.sum(),x))
# raw hooks of an argument
x=L.ones(2,requires_grad=True); y=L.atan2(x,x*2)
y.grad_fn._raw_saved_other.register_hooks(lambda t: t.detach()*1, lambda t: p('u') or t)
y.sum().backward(); p(x.grad)
# raw pack in place
x=L.ones(2,requires_grad=True)*1; y=x.sin()
y.grad_fn._raw_saved_self.register_hooks(lambda t: t.add_(1), lambda t: t)
# raw backward twice
x=L.ones(2,requires_grad=True); y=x.exp()
y.grad_fn._raw_saved_result.register_hooks(lambda t: t*2, lambda t: t)
y.sum().backward(retain_graph=True); y.sum().backward(); p(x.grad); y.sum().backward()
# allow_mutation inside another
with L.autograd.graph.allow_mutation_on_saved_tensors():
    try:
        with L.autograd.graph.allow_mutation_on_saved_tensors(): p("taken")
    except RuntimeError as e: p(str(e))
with L.autograd.graph.allow_mutation_on_saved_tensors(): p("again")
"""

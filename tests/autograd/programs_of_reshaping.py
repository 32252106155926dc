"""Short programs for ``test_short_programs``: tensors that change their own shape."""

PROGRAMS = r"""
# reshaped in place: part seen before
x=L.arange(6.).reshape(2,3).requires_grad_(); y=x*1; v=y[1]; y.t_(); p(y.shape,v)
(v*L.tensor([1.,2.,3.])).sum().backward(); p(x.grad)
# reshaped in place: window seen before
x=L.arange(6.).reshape(2,3).requires_grad_(); y=x*1; v=y.as_strided((2,),(1,)); y.transpose_(0,-1)
v.sum().backward(); p(x.grad)
# reshaped in place: flat view seen before
x=L.arange(6.).reshape(2,3).requires_grad_(); y=x*1; v=y.view(-1); y.t_().mul_(2); p(v)
(v*L.arange(6.)).sum().backward(); p(x.grad)
# reshaped in place: view changed afterwards
x=L.arange(6.).reshape(2,3).requires_grad_(); y=x*1; v=y[0]; y.t_(); v.mul_(3); p(y)
(y*L.arange(6.).reshape(3,2)).sum().backward(); p(x.grad)
# reshaped in place: constant with a view that gets a history
x=L.ones(3,requires_grad=True); z=L.zeros(2,3); v=z[0]; z.t_(); v.add_(x); p(z,z.requires_grad)
(z*L.arange(6.).reshape(3,2)).sum().backward(); p(x.grad)
# reshaped in place: view of a view
x=L.arange(6.).reshape(2,3).requires_grad_(); y=x*1; v=y[1]; y.unsqueeze_(0); w=v[1:]; u=y[0,0]
y.mul_(2); p(w,u); (w.sum()+u.sum()*3).backward(); p(x.grad)
# reshaped in place: twice
x=L.arange(6.).reshape(2,3).requires_grad_(); y=x*1; v=y[1]; y.t_(); u=y[1]; y.unsqueeze_(0)
y.mul_(2); p(v,u); (v.sum()+u.sum()*3+y.sum()).backward(); p(x.grad)
# reshaped in place: squeezed
x=L.arange(3.).reshape(1,3).requires_grad_(); y=x*1; v=y[0]; y.squeeze_(); y.mul_(2); p(v,y.shape)
v.sum().backward(); p(x.grad)
# reshaped in place: a wrong dimension changes nothing
x=L.arange(6.).reshape(2,3).requires_grad_(); y=x*1; v=y[1]
try: y.transpose_(0,5)
except IndexError: p('refused')
y.mul_(2); v.sum().backward(); p(y,x.grad)
# reshaped in place: then a leaf
z=L.zeros(2,3); v=z[0]; z.t_(); z.requires_grad_(); p(z.is_leaf,z.requires_grad)
(z*2).sum().backward(); p(z.grad)
# reshaped in place: saved before
x=L.arange(6.).reshape(2,3).requires_grad_(); y=x*1; w=y**2; y.t_().mul_(2); w.sum().backward()
# reshaped in place: saved before, unchanged
x=L.arange(6.).reshape(2,3).requires_grad_(); y=x*1; w=y**2; y.t_(); w.sum().backward()
# reshaped in place: view of a leaf
x=L.ones(2,3,requires_grad=True); x[0].unsqueeze_(0)
# reshaped in place: leaf
x=L.ones(2,3,requires_grad=True); x.t_()
"""

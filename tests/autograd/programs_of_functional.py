"""Short programs for ``test_short_programs``: autograd.functional, under ``L``."""

PROGRAMS = r"""
# vjp
F=L.autograd.functional; x=L.tensor([1.,2.],dtype=L.float64)
p(F.vjp(lambda x: x**2, x, L.tensor([1.,10.],dtype=L.float64)))
# vjp several
F=L.autograd.functional; x=L.tensor([1.,2.]); y=L.tensor(3.)
p(F.vjp(lambda a,b: (a*b, a.sum()), (x,y), (x, y)))
# vjp none
F=L.autograd.functional; p(F.vjp(lambda x: (x**2).sum(), L.ones(3)))
# vjp none many
F=L.autograd.functional; p(F.vjp(lambda x: x**2, L.ones(3)))
# vjp shape
F=L.autograd.functional; p(F.vjp(lambda x: x**2, L.ones(3), L.ones(2)))
# vjp length
F=L.autograd.functional; p(F.vjp(lambda x: x**2, L.ones(3), (L.ones(3),L.ones(3))))
# vjp independent
F=L.autograd.functional; p(F.vjp(lambda x,y: x**2, (L.ones(3),L.ones(2)), L.ones(3)))
# vjp strict
F=L.autograd.functional
p(F.vjp(lambda x,y: x**2, (L.ones(3),L.ones(2)), L.ones(3), strict=True))
# vjp strict linear
F=L.autograd.functional
p(F.vjp(lambda x: x*2, L.ones(3,requires_grad=True), L.ones(3), strict=True,create_graph=True))
# vjp constant strict
F=L.autograd.functional; p(F.vjp(lambda x: L.ones(3), L.ones(3), L.ones(3), strict=True))
# vjp constant
F=L.autograd.functional; p(F.vjp(lambda x: L.ones(3), L.ones(3), L.ones(3)))
# vjp create graph
F=L.autograd.functional; x=L.tensor([1.,2.],requires_grad=True)
a,b=F.vjp(lambda x: x**3, x, L.ones(2), create_graph=True); p(a,b); b.sum().backward()
p(x.grad)
# vjp not tensor
L.autograd.functional.vjp(lambda x: x, 3)
# vjp not tensor in tuple
L.autograd.functional.vjp(lambda x: x, (L.ones(2),3))
# vjp returns no tensor
L.autograd.functional.vjp(lambda x: 3, L.ones(2))
# jvp
F=L.autograd.functional; x=L.tensor([1.,2.],dtype=L.float64)
p(F.jvp(lambda x: (x**2).sum(), x, L.tensor([1.,10.],dtype=L.float64)))
# jvp several
F=L.autograd.functional; x=L.tensor([1.,2.]); y=L.tensor(3.)
p(F.jvp(lambda a,b: (a*b, a.sum()), (x,y), (x, y)))
# jvp none
F=L.autograd.functional; p(F.jvp(lambda x: x*L.ones(3), L.tensor(2.)))
# jvp none many
F=L.autograd.functional; p(F.jvp(lambda x: x**2, L.ones(3)))
# jvp independent
F=L.autograd.functional; p(F.jvp(lambda x: L.ones(2), L.ones(3), L.ones(3)))
# jvp independent strict
F=L.autograd.functional; p(F.jvp(lambda x: L.ones(2), L.ones(3), L.ones(3), strict=True))
# jvp partly
F=L.autograd.functional; p(F.jvp(lambda x: (x*2, L.ones(2)), L.ones(3), L.ones(3)))
# jvp create graph
F=L.autograd.functional; x=L.tensor([1.,2.],requires_grad=True)
a,b=F.jvp(lambda x: x**3, x, L.ones(2), create_graph=True); p(a,b); b.sum().backward()
p(x.grad)
# jacobian
F=L.autograd.functional; x=L.tensor([[1.,2.],[3.,4.]])
p(F.jacobian(lambda x: x.exp().sum(1), x))
# jacobian several
F=L.autograd.functional; x=L.tensor([1.,2.]); y=L.tensor([3.,4.,5.])
p(F.jacobian(lambda a,b: (a.sum()*b, a*2), (x,y)))
# jacobian several in
F=L.autograd.functional; x=L.tensor([1.,2.]); y=L.tensor([3.,4.])
p(F.jacobian(lambda a,b: a*b, (x,y)))
# jacobian vectorize
F=L.autograd.functional; x=L.tensor([1.,2.]); y=L.tensor([3.,4.])
p(F.jacobian(lambda a,b: (a*b, a.sum()), (x,y), vectorize=True), F.jacobian(lambda a,b: a*b, (x,
    y), vectorize=True, strategy='forward-mode'))
# jacobian create graph
F=L.autograd.functional; x=L.tensor([1.,2.],requires_grad=True)
j=F.jacobian(lambda a: a**3, x, create_graph=True); p(j); j.sum().backward(); p(x.grad)
# jacobian without create graph
F=L.autograd.functional; x=L.tensor([1.,2.],requires_grad=True)
j=F.jacobian(lambda a: a**3, x); p(j, x.grad)
# jacobian strict
F=L.autograd.functional; F.jacobian(lambda a,b: a**3, (L.ones(2),L.ones(3)), strict=True)
# jacobian not strict
F=L.autograd.functional; p(F.jacobian(lambda a,b: a**3, (L.ones(2),L.ones(3))))
# jacobian strict linear
F=L.autograd.functional
F.jacobian(lambda a: a*3, L.ones(2,requires_grad=True), strict=True, create_graph=True)
# jacobian strict vectorize
F=L.autograd.functional; F.jacobian(lambda a: a*3, L.ones(2), strict=True, vectorize=True)
# jacobian forward not vectorize
F=L.autograd.functional; F.jacobian(lambda a: a*3, L.ones(2), strategy='forward-mode')
# jacobian bad strategy
F=L.autograd.functional; F.jacobian(lambda a: a*3, L.ones(2), strategy='x')
# jacobian scalar
F=L.autograd.functional; p(F.jacobian(lambda a: a*3, L.tensor(2.)))
# jacobian in no_grad
F=L.autograd.functional
with L.no_grad():
    p(F.jacobian(lambda a: a*a, L.tensor([2.,3.])), F.hessian(lambda a: (a*a).sum(), L.ones(2)),
        F.vjp(lambda a:a*a, L.ones(1)), F.jvp(lambda a:a*a, L.ones(1)))
# jacobian constant
F=L.autograd.functional; p(F.jacobian(lambda a: L.ones(2), L.ones(3)))
# hessian
F=L.autograd.functional; p(F.hessian(lambda x: (x**3).sum()*x[0], L.tensor([1.,2.])))
# hessian several
F=L.autograd.functional
p(F.hessian(lambda a,b: (a*b).sum()+a.sum()**2, (L.ones(2),L.ones(2)*3)))
# hessian vectorize
F=L.autograd.functional
p(F.hessian(lambda a,b: (a*b).sum()+a.sum()**2, (L.ones(2),L.ones(2)*3), vectorize=True))
# hessian create graph
F=L.autograd.functional; x=L.tensor([1.,2.],requires_grad=True)
h=F.hessian(lambda x: (x**4).sum(), x, create_graph=True); p(h); h.sum().backward(); p(x.grad)
# hessian linear
F=L.autograd.functional; p(F.hessian(lambda x: x.sum(), L.ones(2)))
# hessian linear strict
F=L.autograd.functional; p(F.hessian(lambda x: x.sum(), L.ones(2), strict=True))
# hessian not scalar
F=L.autograd.functional; p(F.hessian(lambda x: x*2, L.ones(2)))
# hessian tuple
F=L.autograd.functional; p(F.hessian(lambda x: (x.sum(),), L.ones(2)))
# hessian relu
F=L.autograd.functional
p(F.hessian(lambda x: x.relu().sum(), L.ones(2)), F.hessian(lambda x: x.abs().sum(), L.ones(2)))
# vhp
F=L.autograd.functional
p(F.vhp(lambda x: (x**3).sum()*x[0], L.tensor([1.,2.]), L.tensor([1.,.5])))
# vhp several
F=L.autograd.functional
p(F.vhp(lambda a,b: (a*b).sum()+a.sum()**2, (L.ones(2),L.ones(2)*3), (L.ones(2),L.ones(2)*2)))
# vhp linear
F=L.autograd.functional; p(F.vhp(lambda x: x.sum(), L.ones(2), L.ones(2)))
# vhp linear strict
F=L.autograd.functional; p(F.vhp(lambda x: x.sum(), L.ones(2), L.ones(2), strict=True))
# vhp create graph
F=L.autograd.functional; x=L.tensor([1.,2.],requires_grad=True)
o,h=F.vhp(lambda x: (x**4).sum(), x, L.ones(2), create_graph=True); p(o,h); h.sum().backward()
p(x.grad)
# vhp v missing
F=L.autograd.functional; p(F.vhp(lambda x: x.sum(), L.ones(2)))
# hvp
F=L.autograd.functional
p(F.hvp(lambda x: (x**3).sum()*x[0], L.tensor([1.,2.]), L.tensor([1.,.5])))
# hvp several
F=L.autograd.functional
p(F.hvp(lambda a,b: (a*b).sum()+a.sum()**2, (L.ones(2),L.ones(2)*3), (L.ones(2),L.ones(2)*2)))
# hvp linear
F=L.autograd.functional; p(F.hvp(lambda x: x.sum(), L.ones(2), L.ones(2)))
# hvp linear strict
F=L.autograd.functional; p(F.hvp(lambda x: x.sum(), L.ones(2), L.ones(2), strict=True))
# hvp one element
F=L.autograd.functional; p(F.hvp(lambda x: x**3, L.tensor(2.)))
# hvp create graph
F=L.autograd.functional; x=L.tensor([1.,2.],requires_grad=True)
o,h=F.hvp(lambda x: (x**4).sum(), x, L.ones(2), create_graph=True); p(o,h); h.sum().backward()
p(x.grad)
# hvp v requires grad
F=L.autograd.functional; v=L.ones(2,requires_grad=True)
o,h=F.hvp(lambda x: (x**4).sum(), L.ones(2), v, create_graph=True); p(o,h); h.sum().backward()
p(v.grad)
# vjp v requires grad
F=L.autograd.functional; v=L.ones(2,requires_grad=True)
o,h=F.vjp(lambda x: (x**4), L.ones(2), v, create_graph=True); p(o,h); h.sum().backward()
p(v.grad)
"""

"""Special functions, which most array libraries lack."""

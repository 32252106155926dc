"""Special functions, which most array libraries do not have."""

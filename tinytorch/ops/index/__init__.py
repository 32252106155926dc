"""Operations that read or write selected elements."""

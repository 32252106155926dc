"""Operations that change shapes, permute dimensions, and join or split tensors."""

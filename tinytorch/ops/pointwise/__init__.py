"""Operations that apply to each element separately."""

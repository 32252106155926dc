"""The tensor: its memory, sizes and place, how it is printed, and who answers in its stead."""

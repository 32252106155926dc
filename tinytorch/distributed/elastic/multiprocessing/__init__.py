"""``torch.distributed.elastic.multiprocessing``: what started programs use of it."""

"""What may reduce the buckets of ``DistributedDataParallel`` in its place."""

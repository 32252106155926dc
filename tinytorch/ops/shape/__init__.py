"""Other sizes, orders and strides of dimensions; joining and splitting."""

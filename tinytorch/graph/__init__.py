"""Graph of recorded operations: nodes, edges, saved tensors, views, the engine. Imports no tensor."""

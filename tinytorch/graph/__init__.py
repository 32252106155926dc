"""Graph of recorded operations and the engine that runs it backward; imports no tensor."""

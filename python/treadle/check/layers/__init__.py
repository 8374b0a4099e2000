"""The probes: one module per layer, each a function from a machine to facts. All of them only read."""

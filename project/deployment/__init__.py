"""How a desk is put on a machine: its processes, their units and health checks, its secrets, what it is made of."""

"""What people judge after a restore (`desk.restores`): what waits to be sent, and what the exchange shows."""

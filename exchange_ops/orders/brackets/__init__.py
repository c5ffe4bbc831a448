"""An order with a stop and a take profit: the stop rests at the exchange, the take profit is watched by the desk."""

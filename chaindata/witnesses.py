"""What of the chain's tables decides or proves something, and what does not, each with its reason."""

from chaindata import models
from desk.rows import witnessed


def register() -> None:
    """Declare the tables; called once at the start."""
    witnessed.register(models.ChainBroadcast, loose=models.ChainBroadcast.table.loose)
    witnessed.register(models.ChainBroadcastEvent)
    for model in (models.WatchedAddress, models.ChainMovement):
        witnessed.register(model, loose=model.table.loose)
    witnessed.register(models.WatchedAddressEvent)
    witnessed.register(models.ChainMovementEvent)
    witnessed.decides_nothing(
        {
            "chaindata.chainanswer": "a kept answer of the service; a proof is checked from its bytes",
            "chaindata.chainheader": "proves itself: hash, target and line are worked out from its bytes",
            "chaindata.chaintip": "the newest header as last heard, asked again every minute",
            "chaindata.chainreorganisation": "tells of blocks that left the chain; nothing rests on it",
        }
    )

"""Whether a block that something rests on has left the chain that is followed, told from our own rows alone."""

from django.db.models import Exists, OuterRef

from chaindata.headers.models import ChainHeader, ChainReorganisation, ChainTip


def is_replaced(*, height: int, block_hash: str) -> bool:
    """Whether another block stands at that height now, or none because the chain is shorter.

    False as long as the chain that is followed doesn't reach down there: then nothing is known.
    """
    active = ChainHeader.objects.filter(height=height, is_active=True).values_list("hash", flat=True).first()
    if active is not None:
        return active != block_hash
    tip = ChainTip.objects.select_related("header").filter(pk=1).first()
    return tip is not None and tip.header is not None and tip.header.height < height


def may_be(*, height: str, seen_at: str) -> Exists:
    """A condition on rows that rest on a block: a reorganisation since they were looked at reached down to it.

    `height` and `seen_at` are the names of their columns.
    """
    reached = ChainReorganisation.objects.filter(common_height__lt=OuterRef(height), found_at__gte=OuterRef(seen_at))
    return Exists(reached)

"""Collectibles: one family, with tokens that stayed, changed hands and were destroyed."""

from chaindata.wire.tokens.payloads import DestroyCollectible, IssueCollectible, IssueCollectibles, TransferCollectible
from sandbox.chain.scenarios.author import Author
from sandbox.chain.scenarios.token_acts import acts, enrich

FAMILY = 1
MOST = 5
NEXT_FREE = 0


def build(author: Author) -> None:
    """Four tokens of five: the second changes hands, the third is destroyed, the last has a number of its own."""
    enrich(author, {"mona": 1}, ("nils", "olga"))
    acts(
        author,
        ("mona", IssueCollectibles("Harbour Stamps", "STMP", "Drawn by hand", "harbour.test/stamps", MOST)),
        ("mona", IssueCollectible(FAMILY, NEXT_FREE, 7, "harbour.test/stamps/1"), "mona"),
        ("mona", IssueCollectible(FAMILY, NEXT_FREE, 11, "harbour.test/stamps/2"), "nils"),
        ("mona", IssueCollectible(FAMILY, NEXT_FREE, 13, "harbour.test/stamps/3"), "nils"),
        ("mona", IssueCollectible(FAMILY, 77, 2**200, "harbour.test/stamps/77"), "olga"),
        ("nils", TransferCollectible(FAMILY, 2), "olga"),
        ("nils", DestroyCollectible(FAMILY, 3)),
        ("nils", TransferCollectible(FAMILY, 1), "olga"),  # not the owner's
        ("olga", IssueCollectible(FAMILY, NEXT_FREE, 0, "harbour.test/stamps/x"), "olga"),  # not the issuer's
    )

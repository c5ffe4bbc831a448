"""Property tokens: a fixed one, a managed one that can be frozen; sales that were closed, are open, and sold out;
and a family of collectibles with tokens that stayed, changed hands and were destroyed.

Prices have no bonus and deadlines are far away, so that what is bought does not depend on when the world begins.
"""

from chaindata.wire.tokens.amounts import frozen_amount
from chaindata.wire.tokens.payloads import (
    ChangeIssuer,
    CloseCrowdsale,
    CreateCrowdsale,
    CreateFixed,
    CreateManaged,
    DestroyCollectible,
    Freeze,
    Grant,
    IssueCollectible,
    IssueCollectibles,
    Participate,
    Revoke,
    SendAll,
    SendToOwners,
    SimpleSend,
    TransferCollectible,
    Unfreeze,
)
from sandbox.chain.scenarios.author import Author
from sandbox.chain.scenarios.token_acts import COIN_SAT, FIRST_TOKEN, act, acts, burn, enrich
from sandbox.chain.tokens.properties_terms import printed

FIXED, MANAGED, CLOSED_SALE, OPEN_SALE, SOLD_OUT = 3, 4, 5, 6, 7
FIXED_TOKEN, MANAGED_TOKEN = 10**2, 10**3  # base units
DEADLINE_S = 4_102_444_800  # 2100-01-01
COLLECTIBLE_FAMILY, MOST_COLLECTIBLES, NEXT_FREE_NUMBER = 1, 5, 0


def build(author: Author) -> None:
    """About a fixed supply, grants, sales, and attempts that were not valid."""
    enrich(author, {"greta": 3, "henry": 2, "iris": 3, "jonas": 3}, ("karla", "lena"))
    _fixed(author)
    _managed(author)
    _sales(author)
    _owners(author)
    _attempts(author)


def leave_waiting(author: Author) -> None:
    """A send and a grant that no block has taken yet. Must be told after the last block."""
    act(author, "greta", SimpleSend(FIXED, 12 * FIXED_TOKEN), "jonas")
    act(author, "henry", Grant(MANAGED, 5 * MANAGED_TOKEN, "Not yet"), "lena")


def _fixed(author: Author) -> None:
    creation = CreateFixed(
        precision=2,
        name="Harbour Points",
        amount=1_000_000 * FIXED_TOKEN,
        category="Shipping",
        subcategory="Loyalty",
        url="harbour.test/points",
        data="One each mile",
    )
    acts(author, ("greta", creation))
    for receiver, units in (("jonas", 100_000), ("karla", 25_050), ("lena", 1_000)):
        act(author, "greta", SimpleSend(FIXED, units), receiver)
    author.mine()
    acts(author, ("greta", SimpleSend(1, 20 * FIRST_TOKEN), "karla"), ("greta", ChangeIssuer(FIXED), "lena"))


def _managed(author: Author) -> None:
    creation = CreateManaged(
        precision=3, name="Harbour Credit", previous_id=1, category="Shipping", url="harbour.test/credit"
    )
    karla, jonas = (printed(author.purse(name).address) for name in ("karla", "jonas"))
    amount = frozen_amount(3)
    acts(
        author,
        ("henry", creation),
        ("henry", Grant(MANAGED, 500 * MANAGED_TOKEN, "First milestone"), "henry"),
        ("henry", Grant(MANAGED, 120 * MANAGED_TOKEN), "jonas"),
        ("henry", Grant(MANAGED, 80 * MANAGED_TOKEN), "karla"),
        ("henry", Revoke(MANAGED, 100 * MANAGED_TOKEN, "Too many")),
        ("henry", Freeze(MANAGED, amount, karla)),
        ("henry", Freeze(MANAGED, amount, jonas)),
        ("henry", Unfreeze(MANAGED, amount, jonas)),
        ("jonas", SimpleSend(MANAGED, 20 * MANAGED_TOKEN), "henry"),
        ("karla", SimpleSend(MANAGED, MANAGED_TOKEN), "jonas"),  # frozen
    )


def _sales(author: Author) -> None:
    first = CreateCrowdsale(
        precision=0,
        name="Harbour Shares A",
        tokens_per_unit=25 * FIRST_TOKEN,
        deadline=DEADLINE_S,
        early_bonus=0,
        total=10_000,
    )
    second = CreateCrowdsale(
        precision=8,
        name="Harbour Shares B",
        tokens_per_unit=FIRST_TOKEN * 3 // 2,
        deadline=DEADLINE_S,
        early_bonus=0,
        total=5_000_000 * 10**8,
        data="Open until the end of the century",
    )
    third = CreateCrowdsale(
        precision=0,
        name="Harbour Berths",
        tokens_per_unit=2 * FIRST_TOKEN,
        deadline=DEADLINE_S,
        early_bonus=0,
        total=10,
    )
    acts(
        author,
        ("iris", first),
        ("jonas", Participate(40 * FIRST_TOKEN), "iris"),
        ("karla", Participate(FIRST_TOKEN * 21 // 20), "iris"),  # a part of it buys nothing and stays
        ("iris", CloseCrowdsale(CLOSED_SALE)),
        ("iris", second),
        ("jonas", Participate(FIRST_TOKEN * 25 // 2), "iris"),
        ("karla", Participate(FIRST_TOKEN // 3), "iris"),
        ("greta", third),
        ("jonas", Participate(8 * FIRST_TOKEN), "greta"),  # more than there is: five are enough
    )


def _owners(author: Author) -> None:
    acts(
        author,
        ("greta", SendToOwners(FIXED, 100 * FIXED_TOKEN, FIXED)),
        ("iris", SendToOwners(CLOSED_SALE, 1_000, FIXED)),
        ("lena", SendAll(), "jonas"),
    )


def _attempts(author: Author) -> None:
    """What the layer saw and did not do."""
    acts(
        author,
        ("lena", SimpleSend(FIXED, 1), "jonas"),  # everything is gone
        ("karla", Grant(MANAGED, MANAGED_TOKEN), "karla"),  # not the issuer
        ("greta", SimpleSend(99, 1), "jonas"),  # no such property
        ("jonas", Participate(FIRST_TOKEN), "greta"),  # nothing is on sale there
    )
    burn(author, "jonas", COIN_SAT // 100)  # less than a coin
    author.mine()


def build_collectibles(author: Author) -> None:
    """A family of five collectibles, of which four are issued: the second changes hands, the third is destroyed, the
    last has a number of its own."""
    enrich(author, {"mona": 1}, ("nils", "olga"))
    acts(
        author,
        (
            "mona",
            IssueCollectibles("Harbour Stamps", "STMP", "Drawn by hand", "harbour.test/stamps", MOST_COLLECTIBLES),
        ),
        ("mona", IssueCollectible(COLLECTIBLE_FAMILY, NEXT_FREE_NUMBER, 7, "harbour.test/stamps/1"), "mona"),
        ("mona", IssueCollectible(COLLECTIBLE_FAMILY, NEXT_FREE_NUMBER, 11, "harbour.test/stamps/2"), "nils"),
        ("mona", IssueCollectible(COLLECTIBLE_FAMILY, NEXT_FREE_NUMBER, 13, "harbour.test/stamps/3"), "nils"),
        ("mona", IssueCollectible(COLLECTIBLE_FAMILY, 77, 2**200, "harbour.test/stamps/77"), "olga"),
        ("nils", TransferCollectible(COLLECTIBLE_FAMILY, 2), "olga"),
        ("nils", DestroyCollectible(COLLECTIBLE_FAMILY, 3)),
        ("nils", TransferCollectible(COLLECTIBLE_FAMILY, 1), "olga"),  # not the owner's
        (
            "olga",
            IssueCollectible(COLLECTIBLE_FAMILY, NEXT_FREE_NUMBER, 0, "harbour.test/stamps/x"),
            "olga",
        ),  # not the issuer's
    )

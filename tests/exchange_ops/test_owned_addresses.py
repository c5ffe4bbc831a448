"""Which addresses of the chain the pages call ours: in whichever form the exchange told them."""

import pytest

from chaindata.shared import owned_addresses
from desk import clock
from exchange_ops.addresses.models import DepositAddress
from exchange_ops.subaccounts.models import SubAccountAddress
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db
PRINTED = "bchtest:qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap"


@pytest.mark.parametrize(
    "address", [PRINTED, "mrLC19Je2BuWQDkWSTriGYPyQJXKkkBmCx", "bchreg:qpm2qsznhks23z7629mms6s4cwef74vcwv6ycwvz78"]
)
def test_a_deposit_address_is_ours_in_every_form(account, settings, address):
    settings.CHAIN_NETWORKS = ("regtest", "test")
    now = clock.now()
    DepositAddress.objects.create(account=account, currency="BCH", address=address, first_seen_at=now, seen_at=now)
    other = "bchtest:qr46wzv0cuma6gskh6swxlpvqdcdrjnzjggqt4exvp"
    assert list(owned_addresses.owners(addresses=[PRINTED, other])) == [PRINTED]


def test_a_sub_accounts_deposit_address_is_ours_too_and_says_whose(account, settings):
    """Two modules told of them under one name, so the later one silenced the earlier."""
    settings.CHAIN_NETWORKS = ("regtest", "test")
    now = clock.now()
    sub = rows.subaccount(7001, now=now)
    SubAccountAddress.objects.create(sub_account=sub, currency="BCH", address=PRINTED, requested_at=now)
    assert owned_addresses.owners(addresses=[PRINTED]) == {PRINTED: "deposit address of sub-account 7001"}


def test_addresses_of_other_coins_and_broken_ones_are_nobodys(account, settings):
    settings.CHAIN_NETWORKS = ("regtest", "test")
    now = clock.now()
    for currency, address in (("BTC", PRINTED), ("BCH", "no address at all")):
        DepositAddress.objects.create(
            account=account, currency=currency, address=address, first_seen_at=now, seen_at=now
        )
    assert owned_addresses.owners(addresses=[PRINTED]) == {}

"""What the form of an address says beyond its network, by vectors of BIP 16, 141 and 173 and well-known addresses."""

import pytest

from exchange_ops.addresses import destinations
from exchange_ops.wire.coin_addresses import BURN, SCRIPT, SYSTEM


@pytest.mark.parametrize(
    ("code", "address", "kind"),
    [
        ("BTC", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", ""),
        ("BTC", "3P14159f73E4gFr7JterCCQh9QjiTjiZrG", SCRIPT),
        ("BTC", "2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc", SCRIPT),
        ("BTC", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", ""),
        ("BTC", "bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3", SCRIPT),
        ("LTC", "MVcg9uEvtWuP5N6V48EHfEtbz48qR8TKZ9", SCRIPT),
        ("BCH", "2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc", SCRIPT),
        ("BCH", "bchreg:qpm2qsznhks23z7629mms6s4cwef74vcwv6ycwvz78", ""),
        ("ETH", "0x0000000000000000000000000000000000000000", BURN),
        ("USDT20", "0x000000000000000000000000000000000000dEaD", BURN),
        ("ETH", "0x52908400098527886E0F7030069857D2E4169EE7", ""),
        ("EOS", "eosio", SYSTEM),
        ("EOS", "eosio.token", SYSTEM),
        ("EOS", "eosioxtoken", ""),
        ("BTC", "no address", ""),
    ],
)
def test_scripts_system_accounts_and_burn_addresses_are_told_from_ordinary_ones(code, address, kind):
    assert destinations.kind(code=code, address=address) == kind

"""Which addresses only look like one that we know, and which characters differ."""

import random
import time

import pytest

from exchange_ops.addresses import lookalikes
from exchange_ops.addresses.lookalikes import KnownAddresses, comparable

ETHEREUM = "0x52908400098527886E0F7030069857D2E4169EE7"
CASH = "bchreg:qpm2qsznhks23z7629mms6s4cwef74vcwv6ycwvz78"
LEGACY = "mrLC19Je2BuWQDkWSTriGYPyQJXKkkBmCx"  # the same hash
WITNESS = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"
BASE58 = "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"
SCRIPT = "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy"
LITECOIN = "ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9"
RIPPLE = "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh"
TRON = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"
DOGE = "DDogepartyxxxxxxxxxxxxxxxxxxw1dfzr"
STELLAR = "GAAZI4TCR3TY5OJHCTJC2A4QSY6CJWJH5IAJTGKIN2ER7LBNVKOCCWN7"
LEGACY_POISON = "mrLC19JdWn1ukSorBmcHvzC3Nio62tXmCx"  # another hash, with a right checksum and the ends of LEGACY


def nearest(code, address, *paid):
    near = KnownAddresses(comparable(code, each) for each in paid).nearest(comparable(code, address))
    return near.text if near else None


@pytest.mark.parametrize(
    ("code", "address", "model"),
    [
        ("ETH", f"{ETHEREUM[:8].lower()}313a99f2c1d0b7e5f60a4c8d2bff{ETHEREUM[-6:].lower()}", ETHEREUM),
        ("ETH", f"0x529{'a' * 34}ee7", ETHEREUM),
        ("ETH", ETHEREUM.replace("4000", "4010").lower(), ETHEREUM),
        ("BCH", "bchreg:qpm2qsznhks23z7629mms6s4cwef74vcwv6ycwvz79", CASH),
        ("BCH", f"qpm2q{'z' * 30}wvz78", LEGACY),
        ("BTC", f"{WITNESS[:7]}{'q' * 30}{WITNESS[-5:]}", WITNESS),
        ("BTC", BASE58.replace("Wet", "Wte"), BASE58),
        ("BTC", BASE58[:-1], BASE58),
        ("EOS", "binancec1eos", "binancecleos"),
        ("EOS", "binanceceos", "binancecleos"),
        ("EOS", "binancecle.s", "binancecleos"),
        ("BTC", f"{SCRIPT[:5]}{'q' * 24}{SCRIPT[-4:]}", SCRIPT),
        ("BTC", SCRIPT.swapcase()[:3] + SCRIPT[3:], SCRIPT),
        ("LTC", f"{LITECOIN[:8].upper()}{'Q' * 26}{LITECOIN[-4:].upper()}", LITECOIN),
        ("LTC", f"{LITECOIN}q", LITECOIN),
        ("XRP", f"{RIPPLE[:5]}{'x' * 25}{RIPPLE[-4:]}", RIPPLE),
        ("XRP", RIPPLE.replace("Wy", "yW"), RIPPLE),
        ("USDTTRX", f"{TRON[:5]}{'x' * 25}{TRON[-4:]}", TRON),
        ("DOGE", f"{DOGE[:6]}{'q' * 24}{DOGE[-4:]}", DOGE),
        ("XLM", f"{STELLAR[:4]}{'Q' * 48}{STELLAR[-4:]}", STELLAR),
        ("USDT20", f"0x529{'b' * 34}ee7", ETHEREUM),
        ("ETH", f"0X529{'B' * 34}EE7", ETHEREUM),
        ("BCH", CASH.partition(":")[2].upper().replace("KS23", "KS24"), CASH),
    ],
)
def test_an_address_that_looks_like_a_known_one_is_recognised(code, address, model):
    assert nearest(code, address, model, ETHEREUM[:-8] + "00000000", "abcdefgh") == (
        comparable(code, model).text if code == "BCH" else model
    )


@pytest.mark.parametrize(
    ("code", "address", "model"),
    [
        ("ETH", ETHEREUM.lower(), ETHEREUM),
        ("BCH", CASH.partition(":")[2], LEGACY),
        ("BCH", LEGACY, CASH),
        ("BTC", WITNESS.upper(), WITNESS),
        ("ETH", f"0x5290{'a' * 36}", ETHEREUM),
        ("BTC", f"1{'q' * 27}JaNVN2", BASE58),
        ("EOS", "bitfinexdep1", "binancecleos"),
        ("EOS", "ab", "cd"),
        ("BCH", CASH.upper(), LEGACY),
        ("LTC", LITECOIN.upper(), LITECOIN),
        ("USDT20", ETHEREUM.lower(), ETHEREUM),
        ("XRP", f"r{'x' * 29}{RIPPLE[-4:]}", RIPPLE),
        ("XRP", f"{RIPPLE[:6]}{'x' * 28}", RIPPLE),
    ],
)
def test_the_same_address_in_another_form_and_one_that_is_quite_different_are_not(code, address, model):
    assert nearest(code, address, model) is None


def test_a_legacy_address_is_compared_as_the_legacy_address_too():
    known = KnownAddresses([*lookalikes.in_each_form("BCH", CASH), *lookalikes.in_each_form("BCH", "no address")])
    cash, legacy = lookalikes.in_each_form("BCH", LEGACY_POISON)
    assert known.nearest(cash) is None, "its cash address is nothing like the known one"
    assert known.nearest(legacy).text == LEGACY
    assert [known.nearest(each) for each in lookalikes.in_each_form("BCH", LEGACY)] == [None, None]
    assert lookalikes.in_each_form("ETH", ETHEREUM) == (comparable("ETH", ETHEREUM),)


def test_the_characters_that_differ_are_marked_and_capital_letters_are_no_difference():
    model = comparable("ETH", ETHEREUM)
    typed = comparable("ETH", ETHEREUM[:12].lower() + "ff" + ETHEREUM[14:].lower())
    alike = lookalikes.likeness(typed, model)
    assert alike.ours == ((ETHEREUM[:12].lower(), False), ("ff", True), (ETHEREUM[14:].lower(), False))
    assert alike.theirs == ((ETHEREUM[:12], False), (ETHEREUM[12:14], True), (ETHEREUM[14:], False))
    assert (alike.differing, alike.length) == (2, 42)
    shorter = lookalikes.likeness(comparable("EOS", "binanceceos"), comparable("EOS", "binancecleos"))
    assert shorter.theirs == (("binancec", False), ("l", True), ("eos", False))


@pytest.mark.parametrize("letters", ["ab", "abcdefgh"])
def test_edits_are_those_of_the_whole_table_as_far_as_the_limit(letters):
    dice = random.Random(letters)
    for _ in range(300):
        one, other = ("".join(dice.choices(letters, k=dice.randint(0, 9))) for _ in range(2))
        limit, distance = dice.randint(1, 3), _distance(one, other)
        assert lookalikes.edits(one, other, limit) == (distance if distance <= limit else None), (one, other, limit)


def test_ten_thousand_known_addresses_are_compared_at_once_and_without_false_alarms():
    dice = random.Random(4)
    paid = [f"0x{dice.getrandbits(160):040x}" for _ in range(10_000)]
    texts = [comparable("ETH", each) for each in paid]
    began = time.process_time()
    addresses = KnownAddresses(texts)
    for each in paid[:20]:
        poisoned = comparable("ETH", f"{each[:7]}{dice.getrandbits(120):030x}{each[-5:]}")
        assert addresses.nearest(poisoned).text == each
    assert time.process_time() - began < 1, "20 answers and the arranging of 10,000 addresses"
    strangers = [comparable("ETH", f"0x{dice.getrandbits(160):040x}") for _ in range(300)]
    assert sum(addresses.nearest(each) is not None for each in strangers) <= 3


def _distance(one, other):
    row = list(range(len(other) + 1))
    for number, letter in enumerate(one, 1):
        last, row[0] = row[0], number
        for place, other_letter in enumerate(other, 1):
            last, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, last + (letter != other_letter))
    return row[-1]

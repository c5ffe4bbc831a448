"""Which addresses and payment ids can be paid to, in which form, and with which sentence the others are refused."""

import pytest

from exchange_ops.addresses import destinations
from exchange_ops.addresses.destinations import CannotUseDestination
from exchange_ops.market.models import Currency
from exchange_ops.wire import coin_addresses

ETHEREUM = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"


def currency(code, *, takes_payment_id=False):
    return Currency(code=code, payout_is_payment_id=takes_payment_id)


def check(code, address, payment_id="", *, takes_payment_id=False):
    return destinations.check(
        currency=currency(code, takes_payment_id=takes_payment_id), address=address, payment_id=payment_id
    )


@pytest.mark.parametrize(
    ("code", "entered", "normal"),
    [
        (
            "BCH",
            "BCHREG:QPM2QSZNHKS23Z7629MMS6S4CWEF74VCWV6YCWVZ78",
            "bchreg:qpm2qsznhks23z7629mms6s4cwef74vcwv6ycwvz78",
        ),
        ("BCH", "qpm2qsznhks23z7629mms6s4cwef74vcwv6ycwvz78", "bchreg:qpm2qsznhks23z7629mms6s4cwef74vcwv6ycwvz78"),
        ("BCH", "mrLC19Je2BuWQDkWSTriGYPyQJXKkkBmCx", "bchreg:qpm2qsznhks23z7629mms6s4cwef74vcwv6ycwvz78"),
        ("BTC", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"),
        ("BTC", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy"),
        ("BTC", "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"),
        (
            "BTC",
            "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
            "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
        ),
        ("DOGE", "DDogepartyxxxxxxxxxxxxxxxxxxw1dfzr", "DDogepartyxxxxxxxxxxxxxxxxxxw1dfzr"),
        ("ETH", ETHEREUM, ETHEREUM),
        ("ETH", ETHEREUM.lower(), ETHEREUM),
        ("USDT20", ETHEREUM.lower(), ETHEREUM),
        ("ZRX", ETHEREUM.lower(), ETHEREUM),
        ("XRP", "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh", "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh"),
        ("USDTTRX", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"),
        ("EOS", "eosio.token", "eosio.token"),
        ("XLM", "GAAZI4TCR3TY5OJHCTJC2A4QSY6CJWJH5IAJTGKIN2ER7LBNVKOCCWN7", None),
    ],
)
def test_an_address_of_the_coin_is_taken_in_its_normal_form(code, entered, normal):
    found = check(code, entered)
    assert found.address == (normal or entered)
    assert "".join(found.groups) == found.address


@pytest.mark.parametrize(
    ("code", "entered", "sentence"),
    [
        ("BCH", "", "Enter the recipient's address"),
        ("BCH", "   ", "Enter the recipient's address"),
        ("BCH", "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a", "main network"),
        ("BCH", "bchreg:qpm2qsznhks23z7629mms6s4cwef74vcwv6ycwvz79", "checksum"),
        ("BCH", "bchreg:qpm2qsznhks23z7629mms6s4cwef74vcwv6ycwvZ78", "mixed"),
        ("BCH", "bchreg:qpm2qsznhks23z7629mms6s4 cwef74vcwv6ycwvz78", "a space at position 32"),
        ("BCH", "bchreg:qpm2qsznhks23z7629mms6s4cwef74vcwv6ycwvz78\u200b", "zero width space"),
        ("BCH", "\u202ebchreg:qpm2qsznhks23z7629mms6s4cwef74vcwv6ycwvz78", "right-to-left override"),
        ("BTC", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN\uff12", "fullwidth digit two"),
        ("BTC", "1\u0412vBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", "cyrillic capital letter ve"),
        ("BTC", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3", "checksum"),
        ("BTC", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVNO", "not used"),
        ("BTC", "DDogepartyxxxxxxxxxxxxxxxxxxw1dfzr", "a different coin"),
        ("BTC", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5", "checksum"),
        ("BTC", "bc1qw508D6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "mixed"),
        ("LTC", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "a different coin"),
        ("ETH", ETHEREUM.replace("aAeb", "aaeb"), "upper and lower case"),
        ("ETH", ETHEREUM.upper(), "upper and lower case"),
        ("ETH", ETHEREUM[:-1], "40 hexadecimal"),
        ("ETH", ETHEREUM[2:], "40 hexadecimal"),
        ("ETH", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", "40 hexadecimal"),
        ("ZRX", ETHEREUM.replace("aAeb", "aaeb"), "upper and lower case"),
        ("XRP", "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTi", "checksum"),
        ("XRP", "X7AcgcsBL6XDcUb289X4mJ8djcdyKaB5hJDWMArnXr61cqZ", "more than an address"),
        ("XRP", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", "checksum"),
        ("EOS", "Eosio.token", "lower-case letters"),
        ("EOS", "eosio.tokens.longer", "lower-case letters"),
        ("EOS", "name6", "lower-case letters"),
        ("XLM", "G/../../etc", "5 to 128 characters"),
        ("XLM", "a", "5 to 128 characters"),
        ("XLM", "A" * 257, "can be up to 256 characters"),
        ("BTC", "1" * 100_000, "can be up to 256 characters"),
        ("ETH", "0x" + "0" * 39 + "\u0660", "arabic-indic"),
        ("ETH", "\ud800" * 42, "u\\+d800"),
        ("ETH", "0x\x00", "u\\+0000"),
    ],
)
def test_anything_else_is_refused_beside_the_field(code, entered, sentence):
    with pytest.raises(CannotUseDestination, match=sentence) as refused:
        check(code, entered)
    assert list(refused.value.problems) == ["address"]


def test_blanks_around_are_left_out_and_it_is_said():
    found = check("ETH", f"\u00a0 {ETHEREUM}\n", "")
    assert found.address == ETHEREUM
    assert found.remarks == ("Spaces around the address were removed.",)


def test_the_chains_coin_shows_its_other_forms():
    found = check("BCH", "bchreg:qpm2qsznhks23z7629mms6s4cwef74vcwv6ycwvz78")
    assert found.network == "regtest"
    assert found.other_forms == (
        ("legacy address", "mrLC19Je2BuWQDkWSTriGYPyQJXKkkBmCx"),
        ("SLP address", "slpreg:qpm2qsznhks23z7629mms6s4cwef74vcwv8yzl8w8w"),
    )
    assert found.groups[:3] == ("bchreg:", "qpm2", "qszn")


def test_an_address_without_a_checksum_is_marked():
    assert check("EOS", "eosio.token").warnings
    assert check("ETH", ETHEREUM.lower()).warnings
    assert not check("ETH", ETHEREUM).warnings


@pytest.mark.parametrize(
    ("code", "takes", "payment_id", "sentence"),
    [
        ("BTC", False, "123", "does not use payment IDs"),
        ("XRP", True, "4294967296", "0 to 4294967295"),
        ("XRP", True, "-1", "0 to 4294967295"),
        ("XRP", True, "007", "leading zeros"),
        ("XRP", True, "1" * 255, "0 to 4294967295"),
        ("XRP", True, "12 34", "whole number from 0"),
        ("EOS", True, "12\u00a034", "or other blank at position"),
        ("XRP", True, "\uff11\uff12", "fullwidth"),
        ("EOS", True, "x" * 256, "can be up to 255 characters"),
        ("EOS", True, "memo\u200d", "zero width joiner"),
        ("EOS", True, "memo\t1", "a tab, line break or other blank at position 5"),
        ("EOS", True, "memo\n1", "a tab, line break or other blank at position 5"),
        ("EOS", True, "Rechnung f\u00fcr M", "u with diaeresis"),
        ("EOS", True, "order \U0001f600", "grinning face"),
        ("EOS", True, "\u043erder", "cyrillic small letter o"),
        ("EOS", True, "memo\u202e1", "right-to-left override"),
        ("EOS", True, "memo\ufffd", "replacement character"),
        ("EOS", True, "memo\0", "is u.0000"),
        ("XRP", True, "+7", "whole number from 0"),
        ("XRP", True, "7.0", "whole number from 0"),
        ("XRP", True, "0x7", "whole number from 0"),
        ("BTC", False, " x ", "does not use payment IDs"),
    ],
)
def test_a_payment_id_that_does_not_fit_is_refused_beside_its_field(code, takes, payment_id, sentence):
    addresses = {
        "BTC": "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2",
        "XRP": "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh",
        "EOS": "eosio.token",
    }
    with pytest.raises(CannotUseDestination, match=sentence) as refused:
        check(code, addresses[code], payment_id, takes_payment_id=takes)
    assert list(refused.value.problems) == ["payment_id"]


@pytest.mark.parametrize(
    ("code", "payment_id", "sent"),
    [
        ("EOS", "order 123", None),
        ("EOS", "a  b   c", None),
        ("EOS", " order 123 ", "order 123"),
        ("EOS", "000123", None),
        ("EOS", "0", None),
        ("EOS", "x" * 200, None),
        ("EOS", "x y" * 85, None),
        ("EOS", "a+b&c=d?e#f;g:h/i", None),
        ("EOS", "=1+1", None),
        ("EOS", "'quoted' \"twice\" <b>", None),
        ("XLM", "0042 7", None),
        ("XLM", "9" * 20, None),
        ("XRP", "0", None),
        ("XRP", "\t4294967295\n", "4294967295"),
        ("XEM", "memo with blanks", None),
    ],
)
def test_what_the_receiver_gave_is_sent_exactly_as_it_is(code, payment_id, sent):
    addresses = {"XRP": "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh", "EOS": "eosio.token"}
    found = check(
        code, addresses.get(code, "NALICELGU3IVY4DPJKHYLSSVYFFWYS5QPLYEZDJJ"), payment_id, takes_payment_id=True
    )
    assert found.payment_id == (payment_id if sent is None else sent)
    blanks = found.payment_id.count(" ")
    assert any("It is sent exactly as entered." in remark for remark in found.remarks) == bool(blanks)


def test_a_missing_payment_id_is_a_warning_where_the_currency_has_them():
    tag = check("XRP", "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh", " 4294967295 ", takes_payment_id=True)
    assert (tag.payment_id, tag.warnings) == ("4294967295", ())
    without = check("XRP", "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh", takes_payment_id=True)
    assert "payment IDs" in without.warnings[0]


def test_both_fields_are_told_at_once():
    with pytest.raises(CannotUseDestination) as refused:
        check("BTC", "x", "1")
    assert set(refused.value.problems) == {"address", "payment_id"}


def test_the_same_destination_is_recognised_in_another_form():
    cash, legacy = "bchreg:qpm2qsznhks23z7629mms6s4cwef74vcwv6ycwvz78", "mrLC19Je2BuWQDkWSTriGYPyQJXKkkBmCx"
    assert destinations.same_address(code="BCH", one=cash, other=legacy)
    assert not destinations.same_address(code="BCH", one=cash, other="1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggu")
    assert destinations.same_address(code="ETH", one=ETHEREUM, other=ETHEREUM.lower())
    assert not destinations.same_address(code="ETH", one=ETHEREUM, other=ETHEREUM[:-1] + "e")
    assert not destinations.same_address(code="XLM", one="", other=ETHEREUM)


def test_capital_letters_of_an_ethereum_address_follow_its_hash():
    for address in (
        "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
        "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
        "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
    ):
        assert coin_addresses.checksummed(address.lower()) == address

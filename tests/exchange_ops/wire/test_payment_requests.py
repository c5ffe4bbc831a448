"""Payment requests: URIs of coins and addresses with their tag in one, by their specifications."""

from decimal import Decimal

import pytest

from exchange_ops.wire.payment_requests import CannotRead, PaymentRequest, read

BITCOIN = "175tWpb8K1S7NmH4Zx6rewF9WQrcZv245W"  # the example of BIP 21
CASH = "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a"
ETHEREUM = "0xfb6916095ca1df60bb79Ce92ce3ea74c37c5d359"  # that of EIP-681
RIPPLE = "rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf"  # that of XLS-5d
STELLAR = "GCALNQQBXAPZ2WIRSDDBMSTAKCUH5SG6U76YBFLQLIXJTF7FE5AX7AOO"


@pytest.mark.parametrize(
    ("code", "text", "request_"),
    [
        ("BTC", f"bitcoin:{BITCOIN}", PaymentRequest("BTC", BITCOIN)),
        (
            "BTC",
            f"bitcoin:{BITCOIN}?amount=20.3&label=Luke-Jr",
            PaymentRequest("BTC", BITCOIN, amount=Decimal("20.3"), label="Luke-Jr"),
        ),
        (
            "",
            f" BITCOIN:{BITCOIN}?amount=50&label=Luke-Jr&message=Donation%20for%20project%20xyz ",
            PaymentRequest("BTC", BITCOIN, amount=Decimal(50), label="Luke-Jr Donation for project xyz"),
        ),
        ("BTC", f"bitcoin:{BITCOIN}?somethingyoudontunderstand=50", PaymentRequest("BTC", BITCOIN)),
        ("BCH", f"{CASH}?amount=0.5", PaymentRequest("BCH", CASH, amount=Decimal("0.5"))),
        ("ETH", f"ethereum:{ETHEREUM}", PaymentRequest("ETH", ETHEREUM)),
        (
            "ETH",
            f"ethereum:pay-{ETHEREUM}@1?value=2.014e18&gas=21000",
            PaymentRequest("ETH", ETHEREUM, amount=Decimal("2.014")),
        ),
        ("USDT20", f"ethereum:{ETHEREUM}", PaymentRequest("USDT20", ETHEREUM)),
        ("XRP", f"{RIPPLE}:12345", PaymentRequest("XRP", RIPPLE, "12345")),
        ("XRP", f"{RIPPLE}?dt=12345", PaymentRequest("XRP", RIPPLE, "12345")),
        (
            "XRP",
            f"ripple:{RIPPLE}?amount=25&dt=7",
            PaymentRequest("XRP", RIPPLE, "7", amount=Decimal(25)),
        ),
        ("XRP", "XVLhHMPHU98es4dbozjVtdWzVrDjtV5fdx1mHp98tDMoQXb", PaymentRequest("XRP", RIPPLE)),
        ("XRP", "XVLhHMPHU98es4dbozjVtdWzVrDjtV8AqEL4xcZj5whKbmc", PaymentRequest("XRP", RIPPLE, "0")),
        ("EOS", "binancecleos?memo=order%20123", PaymentRequest("EOS", "binancecleos", "order 123")),
        ("EOS", "binancecleos:order 123", PaymentRequest("EOS", "binancecleos", "order 123")),
        ("EOS", "binancecleos:a:b", PaymentRequest("EOS", "binancecleos", "a:b")),
        ("EOS", "binancecleos?memo=a+b", PaymentRequest("EOS", "binancecleos", "a+b")),
        ("EOS", "binancecleos?memo=a%2Bb%26c%3Dd", PaymentRequest("EOS", "binancecleos", "a+b&c=d")),
        ("EOS", "binancecleos?memo=&tag=5", PaymentRequest("EOS", "binancecleos", "5")),
        ("EOS", "binancecleos?MEMO=000123", PaymentRequest("EOS", "binancecleos", "000123")),
        ("EOS", "binancecleos?memo=%F0%9F%98%80", PaymentRequest("EOS", "binancecleos", "\U0001f600")),
        ("EOS", f"binancecleos?memo={'x' * 200}", PaymentRequest("EOS", "binancecleos", "x" * 200)),
        ("EOS", "binancecleos?memo=7&payment_id=7", PaymentRequest("EOS", "binancecleos", "7")),
        ("XRP", f"xrpl:{RIPPLE}?dt=0", PaymentRequest("XRP", RIPPLE, "0")),
        ("XRP", f"{RIPPLE}?dt=007", PaymentRequest("XRP", RIPPLE, "007")),
        (
            "XLM",
            f"web+stellar:pay?destination={STELLAR}&amount=120.1234567&memo=skdjfasf&memo_type=MEMO_TEXT&msg=pay%20me",
            PaymentRequest("XLM", STELLAR, "skdjfasf", Decimal("120.1234567"), "pay me"),
        ),
    ],
)
def test_a_payment_request_is_read(code, text, request_):
    assert read(code, text) == request_


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("BTC", BITCOIN),
        ("BCH", CASH),
        ("BCH", "simpleledger:qpm2qsznhks23z7629mms6s4cwef74vcwvln7c5ql2"),
        ("XRP", RIPPLE),
        ("XRP", "XVLhHMPHU98es4dbozjVtdWzVrDjtV5fdx1mHp98tDMoQXc"),
        ("EOS", "binancecleos"),
        ("NANO", "nano:something"),
        ("BTC", ""),
        ("", ""),
    ],
)
def test_a_plain_address_is_no_payment_request(code, text):
    assert read(code, text) is None


@pytest.mark.parametrize(
    ("code", "text", "words"),
    [
        ("BTC", f"bitcoin:{BITCOIN}?req-somethingyoudontunderstand=50", "unsupported option: req-something"),
        ("BTC", f"bitcoin:{BITCOIN}?amount=1&amount=2", "two values for amount"),
        ("BTC", f"bitcoin:{BITCOIN}?amount=1,5", "amount in this payment request"),
        ("BTC", f"bitcoin:{BITCOIN}?amount=0", "amount in this payment request"),
        ("BTC", f"bitcoin:{BITCOIN}?amount=1e3", "amount in this payment request"),
        ("BTC", "bitcoin:?lightning=lnbc1", "has no address"),
        ("BTC", f"litecoin:{BITCOIN}", "for LTC, but BTC is selected"),
        ("ETH", f"ethereum:{ETHEREUM}@137?value=1", "for chain 137"),
        ("ETH", f"ethereum:{ETHEREUM}/transfer?address={ETHEREUM}&uint256=1", "calls a contract"),
        ("ETH", "ethereum:vitalik.eth", "a name instead of an address"),
        ("ETH", f"ethereum:{ETHEREUM}?value=0.5", "amount in this payment request"),
        ("USDT20", f"ethereum:{ETHEREUM}?value=1e18", "for ETH, but USDT20 is selected"),
        ("XRP", f"{RIPPLE}?dt=1&memo=2", "two different payment IDs"),
        ("XLM", "web+stellar:tx?xdr=AAAA", "signing request"),
        ("XLM", f"web+stellar:pay?destination={STELLAR}&asset_code=USDC", "the token USDC"),
    ],
)
def test_one_that_cannot_be_followed_is_refused_with_the_reason(code, text, words):
    with pytest.raises(CannotRead, match=words):
        read(code, text)

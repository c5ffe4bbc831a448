"""The contract of address validation, written from the documents alone. `--target URL` asks another server the same."""

import pytest

from tests.sandbox.chain.conftest import ChainService

VALIDATE = "/v2/util/validateAddress"
HASH = "76a04053bda0a88bda5177b86a15c3b29f559873"
CASH = "bchtest:qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap"
VALID = {
    "isvalid": True,
    "address": CASH,
    "scriptPubKey": f"76a914{HASH}88ac",
    "ismine": False,
    "iswatchonly": False,
    "isscript": False,
}
MAIN = "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a"
SCRIPT = "2N44ThNe8NXHyv4bsX8AoVCXquBRW94Ls7W"


@pytest.mark.parametrize(
    "spelled",
    [
        CASH,
        CASH.upper(),
        CASH.removeprefix("bchtest:"),
        "bchreg:qpm2qsznhks23z7629mms6s4cwef74vcwv6ycwvz78",
        "slptest:qpm2qsznhks23z7629mms6s4cwef74vcwvmvf54x0u",
        "mrLC19Je2BuWQDkWSTriGYPyQJXKkkBmCx",
    ],
)
def test_every_spelling_of_an_address(service: ChainService, spelled: str) -> None:
    assert service.good(f"{VALIDATE}/{spelled}") == VALID
    assert service.good(VALIDATE, {"addresses": [spelled, spelled]}) == [VALID, VALID]


def test_the_address_of_a_script(service: ChainService) -> None:
    found = service.good(f"{VALIDATE}/{SCRIPT}")
    assert (found["isvalid"], found["isscript"], found["address"][:9]) == (True, True, "bchtest:p")
    assert (found["scriptPubKey"][:4], found["scriptPubKey"][-2:]) == ("a914", "87")


@pytest.mark.parametrize(
    "odd",
    [
        "x",
        CASH[:-1],
        CASH[:-1] + "q",
        CASH[:20].upper() + CASH[20:],
        "1BpEi6DfDAUFd7GtittLSdBeYJvcoaVggx",
        MAIN,
        "%20",
        "a" * 5_000,
        "☃",
        "bchtest:",
        ":",
        "0",
    ],
)
def test_what_is_no_address_here(service: ChainService, odd: str) -> None:
    assert service.good(f"{VALIDATE}/{odd}") == {"isvalid": False}


def test_of_several_each_has_to_be_one(service: ChainService) -> None:
    why = "Invalid BCH address. Double check your address is valid: "
    for odd in ("x", "", "0", CASH[:-1]):
        assert service.refused(VALIDATE, {"addresses": [CASH, odd]}) == (400, why + odd)
    other = "Invalid network. Trying to use a testnet address on mainnet, or vice versa."
    assert service.refused(VALIDATE, {"addresses": [MAIN]}) == (400, other)
    assert service.refused(VALIDATE, {"addresses": ["a"] * 21}) == (429, "Array too large.")
    assert service.good(VALIDATE, {"addresses": []}) == []
    not_an_array = "addresses needs to be an array. Use GET for single address."
    for body in ({}, {"addresses": CASH}, {"addresses": {"0": CASH}}, {"address": [CASH]}):
        assert service.refused(VALIDATE, body) == (400, not_an_array)

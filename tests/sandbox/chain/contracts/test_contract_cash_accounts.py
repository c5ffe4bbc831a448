"""The contract of cash accounts, written from the documents alone (chain data, Cash accounts; supplement 1.8 and 4).

Which accounts there are is found out in the blocks themselves, by what the documents say of registrations. `--target`
asks another server with a short chain, whose accounts of one name in one block are told apart.
"""

import hashlib
from typing import Any, NamedTuple

import pytest

from tests.sandbox.chain.conftest import ChainService

UNKNOWN = "No account could be found with the requested parameters."
MALFORMED = "Not a valid CashAccount"
MARK = "6a0401010101"


class Registered(NamedTuple):
    """A registration as it stands in a block."""

    name: str
    txid: str
    block_hash: str
    height: int
    key_hash: str

    @property
    def digits(self) -> str:
        """The ten digits that tell it apart."""
        digest = hashlib.sha256(bytes.fromhex(self.block_hash) + bytes.fromhex(self.txid)).digest()
        return str(int.from_bytes(digest[:4], "big"))[::-1].ljust(10, "0")


@pytest.fixture(scope="module")
def registered(service: ChainService) -> list[Registered]:
    """Every registration of the chain, the oldest first."""
    found = []
    for height in range(101, service.good("/v2/blockchain/getBlockCount") + 1):
        block = service.good(f"/v2/block/detailsByHeight/{height}")
        for place in range(1, len(block["tx"]), 20):
            ids = block["tx"][place : place + 20]
            for each in service.good("/v2/transaction/details", {"txids": ids}):
                for output in each["vout"]:
                    written = output["scriptPubKey"]["hex"]
                    if written.startswith(MARK):
                        length = int(written[12:14], 16)
                        name = bytes.fromhex(written[14 : 14 + 2 * length]).decode()
                        key_hash = written[14 + 2 * length + 4 :][:40]
                        found.append(Registered(name, each["txid"], block["hash"], height, key_hash))
    return found


@pytest.fixture(scope="module")
def offset(service: ChainService, registered: list[Registered]) -> int:
    """What numbers are less than heights here."""
    alone = registered[0]
    for number in range(100, alone.height + 1):
        answer = service.get(f"/v2/cashAccounts/lookup/{alone.name}/{number}")
        if answer.status_code == 200:
            return alone.height - number
    raise AssertionError("no number leads to the first account")


@pytest.fixture(scope="module")
def rivals(registered: list[Registered]) -> list[Registered]:
    """Two of one name in one block."""
    for each in registered:
        same = [other for other in registered if (other.height, other.name.lower()) == (each.height, each.name.lower())]
        if len(same) == 2:
            return same
    raise AssertionError("there are no accounts of one name in one block")


def test_there_are_three_accounts(registered: list[Registered], offset: int) -> None:
    assert len(registered) >= 3
    assert offset <= registered[0].height - 100


def test_an_account_is_found_by_name_and_number(
    service: ChainService, registered: list[Registered], offset: int
) -> None:
    alone = registered[0]
    number = alone.height - offset
    said = service.good(f"/v2/cashAccounts/lookup/{alone.name}/{number}")
    assert set(said) == {"identifier", "information"}
    answer = said["information"]
    assert set(answer) == {"emoji", "name", "number", "collision", "payment"}
    assert said["identifier"] == f"{alone.name}#{number};"
    assert (answer["name"], answer["number"]) == (alone.name, number)
    assert answer["collision"] == {"hash": alone.digits, "count": 0, "length": 0}
    assert (len(answer["emoji"]), answer["emoji"].isascii()) == (1, False)
    assert answer["payment"][0]["type"] == "Key Hash"
    script = service.good(f"/v2/util/validateAddress/{answer['payment'][0]['address']}")["scriptPubKey"]
    assert script == f"76a914{alone.key_hash}88ac"


def test_letter_case_and_a_last_slash_do_not_matter(
    service: ChainService, registered: list[Registered], offset: int
) -> None:
    alone = registered[0]
    path = f"/v2/cashAccounts/lookup/{alone.name}/{alone.height - offset}"
    said = service.good(path)
    for other in (f"{path}/", f"{path}/{alone.digits[:4]}", f"{path}/{alone.digits}", path.replace("cashA", "CASHa")):
        assert service.good(other) == said
    for name in (alone.name.upper(), alone.name.lower()):
        assert service.good(f"/v2/cashAccounts/lookup/{name}/{alone.height - offset}") == said


def test_accounts_of_one_name_in_one_block_are_told_apart_by_their_digits(
    service: ChainService, rivals: list[Registered], offset: int
) -> None:
    number = rivals[0].height - offset
    assert service.refused(f"/v2/cashAccounts/lookup/{rivals[0].name}/{number}") == (500, UNKNOWN)
    for own, other in (rivals, rivals[::-1]):
        length = next(n for n in range(1, 11) if not other.digits.startswith(own.digits[:n]))
        prefix = own.digits[:length]
        said = service.good(f"/v2/cashAccounts/lookup/{rivals[0].name}/{number}/{prefix}")
        assert said["identifier"] == f"{own.name}#{number}.{prefix};"
        assert said["information"]["name"] == own.name
        assert said["information"]["collision"] == {"hash": own.digits, "count": 1, "length": length}
        wrong = prefix[:-1] + str(9 - int(prefix[-1]))
        if not own.digits.startswith(wrong) and not other.digits.startswith(wrong):
            assert service.refused(f"/v2/cashAccounts/lookup/{own.name}/{number}/{wrong}") == (500, UNKNOWN)


def test_every_registration_of_a_name_comes_with_the_proof_of_its_block(
    service: ChainService, rivals: list[Registered], offset: int
) -> None:
    number = rivals[0].height - offset
    said = service.good(f"/v2/cashAccounts/check/{rivals[0].name}/{number}")
    assert (set(said), said["block"]) == ({"identifier", "block", "results"}, rivals[0].height)
    assert said["identifier"] == f"{rivals[0].name}#{number}"
    assert len(said["results"]) == 2
    for each in said["results"]:
        assert set(each) == {"transaction", "inclusionProof"}
        raw = bytes.fromhex(each["transaction"])
        txid = hashlib.sha256(hashlib.sha256(raw).digest()).digest()[::-1].hex()
        assert txid in {rival.txid for rival in rivals}
        assert each["inclusionProof"] == each["inclusionProof"].upper()
        assert service.good(f"/v2/blockchain/verifyTxOutProof/{each['inclusionProof']}") == [txid]
        header = bytes.fromhex(each["inclusionProof"])[:80]
        assert hashlib.sha256(hashlib.sha256(header).digest()).digest()[::-1].hex() == rivals[0].block_hash


@pytest.mark.parametrize("spelling", ["cashAddress", "slpAddress", "legacyAddress"])
@pytest.mark.parametrize("path", ["reverseLookup", "reverselookup"])
def test_the_accounts_of_an_address_are_found_by_any_of_its_forms(
    service: ChainService, registered: list[Registered], offset: int, spelling: str, path: str
) -> None:
    own = [each for each in registered if each.key_hash == registered[0].key_hash]
    number = own[0].height - offset
    address = service.good(f"/v2/cashAccounts/lookup/{own[0].name}/{number}")["information"]["payment"][0]["address"]
    form = service.good(f"/v2/slp/convert/{address}")[spelling]
    found: list[dict[str, Any]] = service.good(f"/v2/cashAccounts/{path}/{form}")["results"]
    assert [(each["nameText"], each["accountNumber"]) for each in found] == [
        (each.name, each.height - offset) for each in own
    ]
    assert [each["accountNumber"] for each in found] == sorted(each["accountNumber"] for each in found)
    for each, registration in zip(found, own, strict=True):
        assert set(each) == {
            *("accountEmoji", "nameText", "accountNumber", "accountHash"),
            *("accountCollisionLength", "payloadType", "payloadAddress"),
        }
        assert each["accountHash"] == registration.digits
        assert (each["payloadType"], each["payloadAddress"]) == (1, address)


@pytest.mark.parametrize(
    ("account", "number"),
    [
        ("nobody", "100"),
        ("nobody", "999999999"),
        ("nobody", "9999999999999999999999"),
        ("nobody", "99"),
        ("nobody", "000"),
        ("nobody", "abc"),
        ("nobody", "-100"),
        ("nobody", "%D9%A1%D9%A0%D9%A0"),
        ("no-body", "100"),
        ("nobody%23100", "100"),
        ("n" * 100, "100"),
        ("%C3%A4", "100"),
    ],
)
def test_unknown_and_malformed_accounts_are_not_found(service: ChainService, account: str, number: str) -> None:
    assert service.refused(f"/v2/cashAccounts/lookup/{account}/{number}") == (500, UNKNOWN)
    assert service.refused(f"/v2/cashAccounts/lookup/{account}/{number}/1") == (500, UNKNOWN)
    is_sound = account == "nobody" and number in ("100", "999999999")
    assert service.refused(f"/v2/cashAccounts/check/{account}/{number}") == (500, UNKNOWN if is_sound else MALFORMED)


def test_a_malformed_collision_is_not_found(service: ChainService, registered: list[Registered], offset: int) -> None:
    path = f"/v2/cashAccounts/lookup/{registered[0].name}/{registered[0].height - offset}"
    for odd in ("x", "12345678901", "%2B1", "1.5", "..1"):
        assert service.refused(f"{path}/{odd}") == (500, UNKNOWN), odd


@pytest.mark.parametrize(
    "odd",
    [
        "x",
        "bchtest:qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap",
        "bitcoincash:qz9tzs6d5097ejpg279rg0rnlhz546q4fslra7mh29",
        "%00",
    ],
)
def test_an_address_without_accounts_is_not_found(service: ChainService, odd: str) -> None:
    assert service.refused(f"/v2/cashAccounts/reverseLookup/{odd}") == (500, UNKNOWN)


def test_an_empty_part_is_named(service: ChainService) -> None:
    assert service.refused("/v2/cashAccounts/lookup/%20/100") == (400, "account name can not be empty")
    assert service.refused("/v2/cashAccounts/lookup/nobody/%20") == (400, "number can not be empty")
    assert service.refused("/v2/cashAccounts/check/%20/100") == (400, "account name can not be empty")
    assert service.refused("/v2/cashAccounts/reverseLookup/%20") == (400, "address can not be empty")
    for path in ("lookup/nobody", "lookup/nobody/", "check/nobody", "check//100", "reverseLookup", "reverseLookup/"):
        assert service.get(f"/v2/cashAccounts/{path}").status_code == 404

"""The fourteen payloads against the worked examples, their bytes explained, and what no node takes."""

import pytest

from chaindata.tools import payloads
from chaindata.tools.payloads import Figure
from chaindata.wire import catalogue

HEAD = {"ecosystem": "1", "propertyPrecision": 3, "previousId": 0, "category": "company", "subcategory": "compute"}
HEAD |= {"name": "luzhiyao", "url": "www.ludete.com", "data": "hello world"}
STRINGS = "636f6d70616e7900636f6d70757465006c757a686979616f007777772e6c75646574652e636f6d0068656c6c6f20776f726c6400"
TO = "bchtest:qr46wzv0cuma6gskh6swxlpvqdcdrjnzjggqt4exvp"
# Supplement 2, Worked examples: operation, precision of its property, members, bytes.
EXAMPLES = (
    ("simple-send", 3, {"propertyId": 115, "amount": "100"}, "000000000000007300000000000186a0"),
    ("simple-send", 8, {"propertyId": 1, "amount": "10"}, "0000000000000001000000003b9aca00"),
    (
        "send-to-owners",
        3,
        {"propertyId": 115, "amount": "1000", "distributionProperty": 1},
        "000000030000007300000000000f424000000001",
    ),
    ("send-all", 8, {"ecosystem": 1}, "0000000401"),
    ("participate", 8, {"amount": "100"}, "000000010000000100000002540be400"),
    ("grant", 3, {"propertyId": 115, "amount": "1242", "memo": ""}, "0000003700000073000000000012f39000"),
    ("revoke", 3, {"propertyId": 115, "amount": "100", "memo": ""}, "000000380000007300000000000186a000"),
    (
        "grant",
        0,
        {"propertyId": 8, "amount": "1000", "memo": "First Milestone Reached!"},
        "000000370000000800000000000003e84669727374204d696c6573746f6e6520526561636865642100",
    ),
    ("change-issuer", 8, {"propertyId": 115}, "0000004600000073"),
    ("close-crowdsale", 8, {"propertyId": 11}, "000000350000000b"),
    ("burn", 8, {}, "00000044"),
    ("fixed", 8, HEAD | {"amount": "10082936279.232"}, f"0000003201000300000000{STRINGS}0000092b9dd5d0c0"),
    ("managed", 8, HEAD, f"0000003601000300000000{STRINGS}"),
    (
        "crowdsale",
        8,
        HEAD
        | {"propertyIdDesired": 1, "tokensPerUnit": "1002", "deadline": 1536565622, "earlyBonus": 1}
        | {"totalNumber": "21231242131"},
        f"0000003301000300000000{STRINGS}00000001000000175462aa00000000005b962176010000001 34f48a53638".replace(
            " ", ""
        ),
    ),
    ("freeze", 2, {"propertyId": 4, "toAddress": TO}, f"000000b9000000040000000000002710{TO.encode().hex()}00"),
    ("unfreeze", 2, {"propertyId": 4, "toAddress": TO}, f"000000ba000000040000000000002710{TO.encode().hex()}00"),
)


def made(slug, precision, values):
    operation = payloads.OPERATIONS[slug]
    figures = {name: Figure(value) if name in ("amount", "tokensPerUnit", "totalNumber") else value
               for name, value in values.items()}  # fmt: skip
    return payloads.make(operation=operation, values=figures, precision=precision)


@pytest.mark.parametrize(("slug", "precision", "values", "expected"), EXAMPLES)
def test_a_payload_has_the_bytes_of_the_worked_example(slug, precision, values, expected):
    found = made(slug, precision, values)
    assert found.raw == expected
    assert "".join(piece.raw for piece in found.pieces) == expected, "every byte is explained, once"
    assert found.carrier.endswith("08776863" + expected)


def test_all_fourteen_operations_can_be_built_with_the_members_of_their_rows():
    rows = {row.name: row for row in catalogue.OPERATIONS if row.group == catalogue.PAYLOADS}
    assert {each.name for each in payloads.OPERATIONS.values()} == set(rows)
    assert {example[0] for example in EXAMPLES} == set(payloads.OPERATIONS)
    for operation in payloads.OPERATIONS.values():
        assert set(operation.fields) == {param.name for param in rows[operation.name].params}, operation.slug


@pytest.mark.parametrize(
    ("slug", "precision", "changes", "field"),
    [
        ("simple-send", 3, {"amount": "1.2345"}, "amount"),
        ("simple-send", 3, {"amount": "0"}, "amount"),
        ("simple-send", 3, {"amount": "9223372036854775.808"}, "amount"),
        ("simple-send", 0, {"amount": "0.5"}, "amount"),
        ("crowdsale", 8, {"propertyIdDesired": 2}, "propertyIdDesired"),
        ("crowdsale", 8, {"tokensPerUnit": "100000000.1"}, "tokensPerUnit"),
        ("crowdsale", 8, {"totalNumber": "99999999999999999"}, "totalNumber"),
        ("crowdsale", 8, {"earlyBonus": 256}, "earlyBonus"),
        ("crowdsale", 8, {"name": ""}, "name"),
        ("crowdsale", 8, {"data": "x" * 256}, "data"),
        ("crowdsale", 8, {"propertyPrecision": 9, "totalNumber": "1"}, "propertyPrecision"),
    ],
)
def test_what_a_node_refuses_is_said_beside_its_field(slug, precision, changes, field):
    values = next(example[2] for example in EXAMPLES if example[0] == slug)
    with pytest.raises(payloads.CannotMake) as problem:
        made(slug, precision, {**values, **changes})
    assert list(problem.value.problems) == [field]


def test_a_precision_is_needed_only_where_the_chain_knows_it():
    needed = {
        slug: payloads.precision_needed(operation=payloads.OPERATIONS[slug], values=values)
        for slug, _, values, _ in EXAMPLES
    }
    assert needed["simple-send"] is None, "the first property is divided into eight places on every chain"
    assert {slug for slug, number in needed.items() if number} == {
        "send-to-owners",
        "grant",
        "revoke",
        "freeze",
        "unfreeze",
    }

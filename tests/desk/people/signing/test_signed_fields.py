"""What is signed of a form, and which earlier signatures count."""

import pytest

from desk.people.signing import signed_fields

DIGEST = "a1" * 32


def test_each_field_and_its_name_is_part_of_what_is_signed():
    texts = [{}, {"comment": "a"}, {"comment": "b"}, {"verdict": "a"}, {"comment": "a", "verdict": "a"}]
    assert len({signed_fields.bind(DIGEST, fields) for fields in texts}) == len(texts)
    assert signed_fields.bind(DIGEST, {}) == DIGEST
    assert signed_fields.bind(DIGEST, {"comment": "a\r\n b "}) == signed_fields.bind(DIGEST, {"comment": "a b"})


@pytest.mark.parametrize(
    ("fields", "counts"),
    [
        ({"comment": "Checked"}, True),
        ({"comment": "Checked", "verdict": "paid"}, False),
        ({"verdict": "paid"}, False),
        ({"holds": "first", "comment": "Checked"}, False),
    ],
)
def test_an_earlier_signature_counts_where_it_left_out_the_reason_alone(fields, counts):
    digests = signed_fields.countable(DIGEST, fields)
    assert signed_fields.bind(DIGEST, fields) in digests
    assert (DIGEST in digests) is counts

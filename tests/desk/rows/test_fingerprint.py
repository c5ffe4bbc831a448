"""Four words for a digest: the list of BIP 39, eleven bits a word, the first bits first."""

import pytest

from desk.rows.fingerprint import words

ONE_TO_FOUR = f"{(1 << 33 | 2 << 22 | 3 << 11 | 4) << 212:064x}"


@pytest.mark.parametrize(
    ("digest", "expected"),
    [
        ("0" * 64, "abandon abandon abandon abandon"),
        ("f" * 64, "zoo zoo zoo zoo"),
        (ONE_TO_FOUR, "ability able about above"),
        (f"{ONE_TO_FOUR[:-1]}f", "ability able about above"),
        ("", ""),
        ("f" * 63, ""),
        ("not a digest", ""),
    ],
)
def test_words(digest, expected):
    assert words(digest) == expected

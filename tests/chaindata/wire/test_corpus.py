"""What fuzzing found and its first seeds, through all readers of the chain; `tools/bench/fuzz_chain.py` adds to it."""

import pytest

from tests.chaindata.parsers import CORPUS, PARSERS, samples

EVERY = [sample for name in PARSERS for sample in samples(name)]


def test_there_are_samples_for_each_parser_and_for_nothing_else():
    assert {path.stem for path in CORPUS.iterdir()} == set(PARSERS)
    for name, parser in PARSERS.items():
        assert any(parser.ends_well(sample) for sample in samples(name)), f"{name} never reads anything"
    assert sum(path.stat().st_size for path in CORPUS.iterdir()) < 200_000


@pytest.mark.parametrize("name", PARSERS)
def test_a_parser_ends_with_a_value_or_with_its_own_error(name):
    """Of its own samples and of everybody else's, cut, repeated and bent as well."""
    parser = PARSERS[name]
    ended_well = [parser.ends_well(raw) for raw in EVERY]
    assert all(ended_well) is not bool(parser.errors)
    for raw in samples(name):
        for changed in (raw[:-1], raw[1:], raw + raw, raw[::-1], raw + b"\x00", bytes(each ^ 0x80 for each in raw)):
            parser.ends_well(changed)

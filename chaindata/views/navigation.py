"""The pages of the chain in the navigation."""

from chaindata import rules
from desk.context import Entry

ENTRIES = (Entry("Chain", "chain", "link", "Chain", key="c", may_see=rules.may_see),)

"""The pages of the chain in the navigation."""

from chaindata import rules
from desk.web.context import Entry

ENTRIES = (
    Entry("Chain", "chain", "link", "Chain", key="c", may_see=rules.may_see),
    Entry("Tokens", "chain-tokens", "database", "Chain", key="k", may_see=rules.may_see),
    Entry("Watched addresses", "chain-watched", "eye", "Chain", may_see=rules.may_see),
    Entry("Cash accounts", "chain-accounts", "user-round", "Chain", may_see=rules.may_see),
    Entry("Tools", "chain-tools", "cpu", "Chain", may_see=rules.may_see),
)

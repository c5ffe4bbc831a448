"""The mutations of all subjects."""

from typing import Final

from tests.project.mutations.desk import DESK
from tests.project.mutations.payouts import PAYOUTS
from tests.project.mutations.rules import RULES
from tests.project.mutations.trading import TRADING

MUTATIONS: Final = (*PAYOUTS, *RULES, *TRADING, *DESK)

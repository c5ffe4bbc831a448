"""The settings of a desk under test that is no demo: the desk's own, but nobody waits for a hash or for a day.

Outside the demo nobody's word counts in the first 24 hours of a second factor. That this holds is shown by
tests/desk/people; a test that goes the whole way from an empty server to a payout can't wait for it.
"""

from tests.house_settings import *  # noqa: F403

FACTOR_REST_SECONDS = 0

"""The two ways in which the sandbox speaks where the specification and live servers differ (exchange
supplement 6; chain supplement 10).

`documented` is what the specifications say, `observed` what servers were seen to answer. The dialect changes answers
and what is taken for right, never what money does; a journal written in one is lived again in either.
"""

from typing import Final

DOCUMENTED: Final = "documented"
OBSERVED: Final = "observed"
DIALECTS: Final = (DOCUMENTED, OBSERVED)

# What differs, for the page and the README: the point, documented, observed.
DIFFERENCES: Final = (
    ("PUT /api/2/order/{clientOrderId} without timeInForce", "10001, Param 'timeInForce' required", "taken as GTC"),
    ("letter case in the exchange's paths", "counts", "does not count"),
    ("GET /v2/rawtransactions/sendRawTransaction", "an array of one id", "the bare id"),
    ("slp/burnTotal of a GENESIS", "0: nothing existed to burn", "inputTotal - outputTotal, so negative"),
)

"""What of the exchange account's tables decides or proves something, and what does not, each with its reason.

A column is named here only when nothing rests on it; every other one is witnessed (`desk.witnessed`).
"""

from desk import guards, witnessed
from exchange_ops import hold_release_triggers, models, order_triggers, subaccount_triggers, transfer_triggers, triggers

_TIMER = "says when to look again; a wrong time delays or repeats a look, and a look decides nothing"
_LEASE = "keeps two workers apart for a minute; what was sent stands in the call"
_WORDS = "a sentence about the last try, for people"
_TOLD = "the exchange's own figure, read again from it"
_CLOCK = "when the row was last written"
_COPY = "a copy of what the exchange says, read again from it"
_QUESTION = "a question for the exchange, and its answer, asked again when it is needed"
_MARKET = "public market data"

_WORK = {"next_action_at": _TIMER, "lease_until": _LEASE, "last_problem": _WORDS, "updated_at": _CLOCK}


def register() -> None:
    """Declare the tables and triggers; called once at the start."""
    for name, source in (
        ("withdrawals", triggers),
        ("transfers", transfer_triggers),
        ("orders", order_triggers),
        ("sub-accounts", subaccount_triggers),
        ("releases of holds", hold_release_triggers),
    ):
        guards.register(name, source.statements)
    _accounts()
    _payouts()
    _transfers()
    _orders()
    _subaccounts()
    witnessed.decides_nothing(
        {
            f"exchange_ops.{name}": reason
            for reason, names in {
                _COPY: "balance marginaccount marginposition currency subaccountreading subaccountbalance",
                _QUESTION: "addressbook addresscheck feeestimate orderreading subaccountaddress",
                _MARKET: "symbol ticker candle publictrade booksnapshot",
                "says what pages look at": "marketlook",
                "a measurement of the exchange's clock, of which the newest counts for minutes": "clockreading",
                "how a follower is doing, for pages and readiness": "followerstate",
                _LEASE: "lease",
                "what a check found when it last ran; it runs again by itself": "checkrun",
            }.items()
            for name in names.split()
        }
    )


def _accounts() -> None:
    used = {"last_used_at": "when it was last used", "last_problem": _WORDS, "last_problem_at": _CLOCK}
    probed = {"probe_asked_at": _TIMER, "probe_problem": _WORDS}
    witnessed.register(models.Account)
    witnessed.register(models.ApiKey, loose=used | probed)
    witnessed.register(models.Fact)
    witnessed.register(models.PolicyVersion, rules=True)
    witnessed.register(models.QuorumTier, rules=True)
    witnessed.register(models.Freeze)
    witnessed.register(models.ThawVote)
    witnessed.register(models.LedgerEntry, loose={"seen_at": _CLOCK})
    witnessed.register(models.LedgerVersion)
    witnessed.register(models.LedgerAside, loose={"seen_at": _CLOCK})
    witnessed.register(models.Watermark, loose={"moved_at": _CLOCK})
    witnessed.register(
        models.DepositAddress,
        loose={"seen_at": _CLOCK, "place": "its place in the exchange's list of the last ten"},
    )
    witnessed.register(models.AddressRequest, loose=_WORK | {"looks": _TIMER})


def _payouts() -> None:
    told = {"exchange_status": _TOLD, "exchange_index": _TOLD, "confirmations": _TOLD}
    witnessed.register(models.Withdrawal, loose=_WORK | told)
    witnessed.register(models.WithdrawalEvent)
    witnessed.register(models.ExternalCall)
    witnessed.register(models.Approval)
    witnessed.register(models.HoldReleaseVote)
    looks = {"tried_at": _CLOCK, "problem": _WORDS, "next_look_at": _TIMER}
    witnessed.register(models.PayoutProof, loose=looks)


def _transfers() -> None:
    witnessed.register(models.Transfer, loose=_WORK | {"looks": _TIMER})
    witnessed.register(models.TransferEvent)
    witnessed.register(models.TransferCall)
    witnessed.register(models.TransferApproval)


def _orders() -> None:
    told = ("status", "cum_quantity", "average_price", "exchange_created_at", "exchange_updated_at", "active")
    read = {"missing_since": _COPY, "read_at": _CLOCK, "margin": _TOLD, "looks": _TIMER}
    witnessed.register(models.Order, loose=_WORK | dict.fromkeys(told, _TOLD) | read)
    witnessed.register(models.OrderEvent)
    witnessed.register(models.OrderCall)
    witnessed.register(models.AccountTrade)


def _subaccounts() -> None:
    told = ("email", "status", "closed_as", "settings_shown", "payout_enabled", "description")
    read = ("observed_at", "missing_since", "settings_at", "balances_asked_at", "balances_tried_at", "balances_at")
    loose = dict.fromkeys(told, _TOLD) | dict.fromkeys(read, _CLOCK) | {"balances_problem": _WORDS}
    witnessed.register(models.SubAccount, loose=loose)
    witnessed.register(models.SubAccountAction, loose=_WORK | {"looks": _TIMER})
    witnessed.register(models.SubAccountEvent)
    witnessed.register(models.SubAccountCall)

"""What of the exchange account's tables decides or proves something, and what does not, each with its reason.

A column is named here only when nothing rests on it; every other one is witnessed (`desk.rows.witnessed`).
"""

from desk.rows import witnessed
from exchange_ops.addresses import models as addresses_models
from exchange_ops.keys import models as keys_models
from exchange_ops.ledger import models as ledger_models
from exchange_ops.margin.models import MarginReport
from exchange_ops.orders import models as orders_models
from exchange_ops.orders.brackets import models as bracket_models
from exchange_ops.policy import models as policy_models
from exchange_ops.policy_changes.models import PolicyChange, PolicyChangeEvent
from exchange_ops.positions import models as positions_models
from exchange_ops.shared import models as shared_models
from exchange_ops.subaccounts import models as subaccounts_models
from exchange_ops.transfers import models as transfers_models
from exchange_ops.withdrawals import models as withdrawals_models

_TIMER = "says when to look again; a wrong time delays or repeats a look, and a look decides nothing"
_LEASE = "keeps two workers apart for a minute; what was sent stands in the call"
_WORDS = "a sentence about the last try, for people"
_READ_AGAIN = "the exchange's own figure, read again from it"
_CLOCK = "when the row was last written"
_COPY = "a copy of what the exchange says, read again from it"
_QUESTION = "a question for the exchange, and its answer, asked again when it is needed"
_COUNT = "for people: what a payment or deposit is, its status and its proof say, and nothing reads the count"
_MARKET = "public market data"
_DRAWN = "figures for people, drawn from balances, the ledger, trades and public prices"


def register() -> None:
    """Declare the tables; called once at the start."""
    _accounts()
    _payouts()
    _transfers()
    _orders()
    _margin()
    _subaccounts()
    witnessed.decides_nothing(
        {
            f"exchange_ops.{name}": reason
            for reason, names in {
                _COPY: "balance marginaccount marginposition currency subaccountreading subaccountbalance",
                _QUESTION: "addressbook addresscheck feeestimate feerates orderreading subaccountaddress candlehistory",
                _MARKET: "symbol ticker candle publictrade booksnapshot",
                _DRAWN: "snapshot snapshotline dailyflow profit profitday progress",
                "says what pages look at": "marketlook",
                "which symbols a person wants to have at hand": "favourite",
                "a measurement of the exchange's clock, of which the newest counts for minutes": "clockreading",
                "how a follower is doing, for pages and readiness": "followerstate",
                "a question that somebody sent from the console, and its answer": "consolecall",
                _LEASE: "lease",
                "what a check found when it last ran; it runs again by itself": "checkrun",
            }.items()
            for name in names.split()
        }
    )


def _accounts() -> None:
    used = {"last_used_at": "when it was last used", "last_problem": _WORDS, "last_problem_at": _CLOCK}
    probed = {"probe_asked_at": _TIMER, "probe_problem": _WORDS}
    witnessed.register(shared_models.Account)
    witnessed.register(keys_models.ApiKey, loose=used | probed)
    witnessed.register(shared_models.Fact)
    witnessed.register(policy_models.PolicyVersion, rules=True)
    witnessed.register(policy_models.QuorumTier, rules=True)
    witnessed.register(policy_models.ValueLimit, rules=True)
    witnessed.register(PolicyChange, loose=PolicyChange.table.loose | {"lease_until": _LEASE})
    witnessed.register(PolicyChangeEvent)
    witnessed.register(policy_models.Freeze)
    witnessed.register(policy_models.ThawVote)
    witnessed.register(ledger_models.LedgerEntry, loose={"seen_at": _CLOCK, "confirmations": _COUNT})
    witnessed.register(ledger_models.LedgerVersion)
    witnessed.register(ledger_models.LedgerAside, loose={"seen_at": _CLOCK})
    witnessed.register(ledger_models.Watermark, loose={"moved_at": _CLOCK})
    witnessed.register(
        addresses_models.DepositAddress,
        loose={"seen_at": _CLOCK, "place": "its place in the exchange's list of the last ten"},
    )
    witnessed.register(addresses_models.AddressRequest, loose=addresses_models.AddressRequest.table.loose)
    witnessed.register(addresses_models.AddressRequestEvent)


def _payouts() -> None:
    witnessed.register(withdrawals_models.Withdrawal, loose=withdrawals_models.Withdrawal.table.loose)
    witnessed.register(withdrawals_models.WithdrawalEvent)
    witnessed.register(withdrawals_models.ExternalCall)
    witnessed.register(withdrawals_models.Approval)
    witnessed.register(withdrawals_models.HoldReleaseVote)
    looks = {"tried_at": _CLOCK, "problem": _WORDS, "next_look_at": _TIMER}
    witnessed.register(withdrawals_models.PayoutProof, loose=looks)


def _transfers() -> None:
    witnessed.register(transfers_models.Transfer, loose=transfers_models.Transfer.table.loose)
    witnessed.register(transfers_models.TransferEvent)
    witnessed.register(transfers_models.TransferCall)
    witnessed.register(transfers_models.TransferApproval)


def _orders() -> None:
    witnessed.register(orders_models.Order, loose=orders_models.Order.table.loose)
    witnessed.register(orders_models.OrderEvent)
    witnessed.register(orders_models.OrderCall)
    witnessed.register(orders_models.OrderApproval)
    witnessed.register(orders_models.AccountTrade)
    witnessed.register(bracket_models.Bracket, loose=bracket_models.Bracket.table.loose)
    witnessed.register(bracket_models.BracketEvent)
    witnessed.register(bracket_models.BracketLeg)


def _margin() -> None:
    witnessed.register(positions_models.MarginAction, loose=positions_models.MarginAction.table.loose)
    witnessed.register(positions_models.MarginActionEvent)
    witnessed.register(positions_models.MarginActionCall)
    witnessed.register(MarginReport)


def _subaccounts() -> None:
    columns = ("email", "status", "closed_as", "settings_shown", "payout_enabled", "description")
    read = ("observed_at", "missing_since", "settings_at", "balances_asked_at", "balances_tried_at", "balances_at")
    loose = dict.fromkeys(columns, _READ_AGAIN) | dict.fromkeys(read, _CLOCK) | {"balances_problem": _WORDS}
    witnessed.register(subaccounts_models.SubAccount, loose=loose)
    witnessed.register(subaccounts_models.SubAccountAction, loose=subaccounts_models.SubAccountAction.table.loose)
    witnessed.register(subaccounts_models.SubAccountEvent)
    witnessed.register(subaccounts_models.SubAccountCall)

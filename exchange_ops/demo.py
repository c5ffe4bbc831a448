"""What this room adds to the demo desk: the account of the sandbox's demo keys, and three of them by their rights."""

from desk import clock
from exchange_ops.keys import store
from exchange_ops.keys.models import ApiKey
from exchange_ops.shared import facts
from exchange_ops.shared.models import Account
from exchange_ops.wire.catalogue import Right
from wire.values import Secret

ACCOUNT = "Main desk"
# Published keys of the sandbox, which are keys of nothing else.
KEYS: dict[str, tuple[Right, ...]] = {
    "demo-read": (Right.HISTORY, Right.PAYMENTS),
    "demo-trade": (Right.ORDERS, Right.HISTORY),
    "demo-withdraw": (Right.PAYMENTS, Right.WITHDRAW),
}


def load() -> None:
    """Make the account and its keys where they are missing. Currencies and prices come with the first refresh."""
    account, _ = Account.objects.get_or_create(name=ACCOUNT)
    if facts.newest(account=account, name=facts.HOLD_END) is None:
        # The sandbox says so itself; a real exchange has to be asked (manage.py probe_exchange --leave-hold).
        facts.note(account=account, name=facts.HOLD_END, value=facts.LAPSES, now=clock.now())
    present = set(ApiKey.objects.filter(account=account).values_list("login", flat=True))
    for login, rights in KEYS.items():
        if login not in present:
            store.add(
                account=account,
                label=login.replace("-", " ").capitalize(),
                login=login,
                secret=Secret(f"{login}-secret"),
                rights=rights,
                actor=None,
                now=clock.now(),
            )

"""The page at `/`: what the sandbox imitates and what it does not, written from its own tables at each call."""

from collections.abc import Iterable, Sequence
from html import escape

from chaindata.wire import catalogue as chain_catalogue
from exchange_ops.wire import catalogue, streams
from sandbox.chain import handlers as chain_handlers
from sandbox.engine.clock import instant_text
from sandbox.exchange import handlers
from sandbox.server.faults.fault_kinds import KINDS, Kind
from sandbox.server.sockets.sockets import METHOD_NAMES, NOTIFICATION_NAMES, PARTS
from sandbox.server.sockets.stream_session import LOGIN
from sandbox.settings.dialects import DIALECTS, DIFFERENCES
from sandbox.world.world import World
from wire.operation import Operation

STYLE = """
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 68rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; } h3 { font-size: 1rem; margin-top: 1.5rem; }
div { overflow-x: auto; } table { border-collapse: collapse; width: 100%; min-width: 44rem; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #8884; }
code { font-family: ui-monospace, monospace; font-size: .9em; }
"""
NOT_YET = "not yet: answers 501"
CONTROL_CALLS = (
    (
        "POST /_sandbox/reset",
        '{"seed": 1}: a fresh world; faults, the log of calls and open sockets end with the old one',
    ),
    ("GET /_sandbox/state", "sandbox time, length of the journal, counts, configuration"),
    ("POST /_sandbox/clock", '{"advance_ms": 60000} or {"frozen": true}'),
    ("POST /_sandbox/config", "changes the named settings (below) and tells all; null switches rate_limits off"),
    ("POST · GET · DELETE /_sandbox/faults", "arms a fault (below), lists the armed ones, takes all of them down"),
    ("GET /_sandbox/calls?operation=&since=", "every call received; since is the number of a call or an ISO datetime"),
    ("GET /_sandbox/ledger", "postings by account and currency; balanced when they sum to zero"),
    ("POST /_sandbox/deposit", '{"currency", "amount", "address"?}: a payin; of BCH a transaction on the chain'),
    ("POST /_sandbox/payouts/{id}", '{"status", "errorCode"?}: moves a payout on, or fails it'),
    ("POST /_sandbox/foreign-withdrawal", "a payout made elsewhere on the same account"),
    ("POST /_sandbox/chain/mine", '{"blocks": 3}: so many blocks now; the first takes in what waits'),
    ("POST /_sandbox/chain/reorg", '{"depth": 2}: other, empty blocks in place of the last; what stood there waits'),
    ("POST /_sandbox/chain/pay", '{"address", "amount"}: pays any address of the chain; waits for the next block'),
)  # fmt: skip
NOT_IMITATED = (
    "The interest of margin positions.",
    "Other nodes: the chain has one miner, no network, and difficulty that never changes.",
    "On the sockets: a repetition of activeOrders after maintenance, interestTaken, the banning of slow readers.",
    "TLS, registration, two-factor confirmation by mail, withdrawal limits and checks that take days.",
)


def page(world: World, *, sealed: bool) -> str:
    """The whole page as HTML."""
    imitated = [operation for operation in catalogue.OPERATIONS if operation.name in handlers.HANDLERS]
    parts = [
        "<h1>Sandbox of the exchange</h1>",
        f"<p>A stateful local server: nothing here is real. Sandbox time {instant_text(world.clock.now_ms())}, "
        f"seed {world.journal.header.seed}. {len(imitated)} of {len(catalogue.OPERATIONS)} documented REST operations "
        "are imitated; the others answer 501 with an error that says so.</p>",
        f"<p>Where the specification and live servers differ it speaks the <b>{world.config.dialect}</b> dialect: what "
        "each of them says is below.</p>",
        *_section("Keys", ("Login", "Secret", "Account", "Rights"), _keys(world)),
        *_operations(catalogue.OPERATIONS),
        *_chain(world),
        *_sockets(),
    ]
    if not sealed:
        calls = [(_code(call), escape(does)) for call, does in CONTROL_CALLS]
        parts += _section("Control plane", ("Call", "Does"), calls)
        parts += _section("Configuration", ("Setting", "Now"), _settings(world))
        parts += _section("Faults", ("Kind", "For", "Does", "Takes"), map(_fault, KINDS.values()))
    parts += _section("Dialects", ("Point", *map(str.capitalize, DIALECTS)), _dialects())
    parts += ["<h2>Not imitated</h2>", "<ul>", *(f"<li>{escape(text)}</li>" for text in NOT_IMITATED), "</ul>"]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Sandbox of the exchange</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n" + "\n".join(parts) + "\n</body>\n</html>\n"
    )


def _chain(world: World) -> Iterable[str]:
    """The chain as it stands, and every operation of the chain-data service."""
    tip, waiting = world.chain.tip, len(world.chain.mempool)
    imitated = sum(chain_handlers.find(operation.name) is not None for operation in chain_catalogue.ALL)
    yield "<h2>Chain-data service</h2>"
    yield (
        f"<p>A chain of its own, by the rules of a regression-test network: block {tip.height:,} is {_code(tip.hash)}, "
        f"{waiting} transactions wait, a block comes every {world.config.block_seconds} seconds. {imitated} of "
        f"{len(chain_catalogue.ALL)} operations are imitated, those beyond the documents included; none needs "
        "credentials.</p>"
    )
    for group in dict.fromkeys(operation.group for operation in chain_catalogue.ALL):
        rows = [_chain_operation(each) for each in chain_catalogue.ALL if each.group == group]
        yield from _section(group, ("Operation", "Call", "Imitated"), rows, level=3)


def _chain_operation(operation: Operation) -> tuple[str, ...]:
    imitated = "yes" if chain_handlers.find(operation.name) is not None else NOT_YET
    if operation.name in chain_catalogue.WITH_PRIVATE_KEY:
        imitated += ", under the setting NON_JS_FRAMEWORK"
    return _code(operation.name), _code(f"{operation.method} {operation.path}"), imitated


def _operations(operations: Sequence[Operation]) -> Iterable[str]:
    yield "<h2>REST operations</h2>"
    for group in dict.fromkeys(operation.group for operation in operations):
        rows = [_operation(operation) for operation in operations if operation.group == group]
        yield from _section(group, ("Operation", "Call", "Right", "Imitated"), rows, level=3)


def _operation(operation: Operation) -> tuple[str, ...]:
    right = "none" if operation.public else str(operation.right.value) if operation.right else "any valid key"
    imitated = "yes" if operation.name in handlers.HANDLERS else NOT_YET
    return _code(operation.name), _code(f"{operation.method} {operation.path}"), escape(right), imitated


def _dialects() -> Iterable[tuple[str, ...]]:
    return (tuple(map(escape, difference)) for difference in DIFFERENCES)


def _settings(world: World) -> Iterable[tuple[str, ...]]:
    for name, value in world.config.as_json().items():
        yield _code(name), _code(str(value))


def _keys(world: World) -> Iterable[tuple[str, ...]]:
    for key in world.keys.values():
        yield _code(key.login), _code(key.secret), escape(key.account), escape("; ".join(sorted(key.rights)))


def _sockets() -> Iterable[str]:
    """The addresses of the sockets, then what they serve."""
    count = f"{len(METHOD_NAMES)} methods and {len(NOTIFICATION_NAMES)} notifications, by JSON-RPC 2.0"
    yield "<h2>Sockets</h2>"
    yield f"<p>{count}. Log in on {_addresses_of(LOGIN)}; market data needs no login.</p>"
    yield from _section("Methods", ("Method", "Params", "Login", "Addresses"), map(_method, METHOD_NAMES), level=3)
    rows = ((_code(name), _addresses_of(name)) for name in NOTIFICATION_NAMES)
    yield from _section("Notifications", ("Notification", "Addresses"), rows, level=3)


def _method(name: str) -> tuple[str, ...]:
    row = streams.by_name[name]
    params = ", ".join(_code(param.name) + (" (required)" if param.required else "") for param in row.params)
    return _code(name), params or "none", "needed" if row.login else "not needed", _addresses_of(name)


def _addresses_of(name: str) -> str:
    """The addresses that serve a method or a notification."""
    serving = (path for path, parts in PARTS.items() if any(name in (*p.methods, *p.notifications) for p in parts))
    return ", ".join(map(_code, serving))


def _fault(kind: Kind) -> tuple[str, ...]:
    members = "; ".join(f"{_code(member.name)}: {escape(member.meaning)}" for member in kind.members)
    scopes = ", ".join(scope.value for scope in kind.scopes)
    return _code(kind.name), escape(scopes), escape(kind.meaning), members


def _section(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]], level: int = 2) -> Iterable[str]:
    """A heading and a table; cells are HTML already."""
    yield f"<h{level}>{escape(title)}</h{level}>"
    yield "<div><table><thead><tr>" + "".join(f"<th>{heading}</th>" for heading in headings) + "</tr></thead><tbody>"
    for row in rows:
        yield "<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>"
    yield "</tbody></table></div>"


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"

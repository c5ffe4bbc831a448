"""Settings of the whole house, read from the environment.

The `#:` above what is read says what it does, and in brackets what the code does not show: unit, form, default, secret.
`manage.py house_tables --write` makes docs/settings.md of it.

Nothing set means the embedded default: the sandbox as the outside world, SQLite and a private Redis under DATA_DIR, and
the demo desk. Addresses of real systems switch the demo off; going live takes nothing else from the code.
"""

import os
import secrets
import sys
from pathlib import Path
from urllib.parse import urlsplit

import dj_database_url

from desk.people import roles
from project import addresses, database_pool, environment, secret_strength
from project.fixed_settings import *  # noqa: F403
from project.rehearsal import marks

# Folder and ports ----------------------------------------------------------------------------------------------------
BASE_DIR = Path(__file__).resolve().parent.parent
#: Folder for all data: database, sandbox journal, demo secrets, collected static files and the heads files.
#: [default: `var/` next to the code]
DATA_DIR = environment.folder("DATA_DIR", BASE_DIR / "var")
#: Port of the desk.
PORT = environment.integer("PORT", 8000, lowest=1, highest=65535)
#: Port of the sandbox; must differ from PORT.
SANDBOX_PORT = environment.integer("SANDBOX_PORT", 8100, lowest=1, highest=65535)
if PORT == SANDBOX_PORT:
    raise environment.OddSetting(
        f"PORT and SANDBOX_PORT are both {PORT}; the desk and the sandbox each need their own port."
    )
# A rehearsal (`manage.py rehearse`) is a demo with people and figures of its own, in a folder with a mark.
REHEARSAL = marks.is_marked(DATA_DIR)
if REHEARSAL:
    marks.require_apart(DATA_DIR)

# External services -------------------------------------------------------------------------------------------------
_sandbox = f"http://127.0.0.1:{SANDBOX_PORT}"
#: REST address of the exchange. Set it together with EXCHANGE_WS_URL or not at all. [default: the sandbox]
EXCHANGE_URL = environment.url("EXCHANGE_URL", _sandbox, schemes=("https", "http"))
#: Address of the exchange's streams. [default: the sandbox]
EXCHANGE_WS_URL = environment.url("EXCHANGE_WS_URL", f"ws://127.0.0.1:{SANDBOX_PORT}", schemes=("wss", "ws"))
#: Address of the chain-data service. [default: the sandbox]
CHAINDATA_URL = environment.url("CHAINDATA_URL", _sandbox, schemes=("https", "http"))
#: Further exchanges for accounts; the one at the two addresses above is called `default`. An account stays on the
#: exchange where it was created. [form: `NAME=REST-ADDRESS STREAM-ADDRESS`, at most 20, separated by commas]
EXCHANGE_PLACES = environment.exchange_places("EXCHANGE_PLACES", taken="default")
_pairs = {("EXCHANGE_URL", "EXCHANGE_WS_URL"): (EXCHANGE_URL, EXCHANGE_WS_URL)} | {
    (f"EXCHANGE_PLACES, REST of {name}", f"EXCHANGE_PLACES, streams of {name}"): (place.url, place.stream_url)
    for name, place in EXCHANGE_PLACES.items()
}
_outside = {name: address for names, pair in _pairs.items() for name, address in zip(names, pair, strict=True)}
_outside["CHAINDATA_URL"] = CHAINDATA_URL
_elsewhere = [name for name, address in _outside.items() if not environment.is_loopback(address)]
for (_rest, _streams), (_address, _stream_address) in _pairs.items():
    if environment.is_loopback(_address) != environment.is_loopback(_stream_address):
        raise environment.OddSetting(
            f"{_rest} is {_address!r} and {_streams} is {_stream_address!r}; "
            "an exchange and its streams are one system: set both or neither."
        )
#: Demo users, keys and published passwords. Rejected while any address above is outside this machine. A new database
#: becomes a demo only if DEMO=1 is set; `manage.py up` sets it unless addresses of real systems are set.
#: [default: on while no address above is set]
DEMO = environment.flag("DEMO", default=not addresses.are_named())
DEMO_IS_NAMED = environment.is_set("DEMO")
if DEMO and _elsewhere:
    raise environment.OddSetting(
        f"DEMO is on, but {_elsewhere[0]} is {_outside[_elsewhere[0]]!r}, which is not this machine's sandbox. "
        "The demo desk has published passwords: unset DEMO or point every address at the sandbox."
    )
for _name in _elsewhere:
    if _outside[_name].split(":", 1)[0] in {"http", "ws"}:
        raise environment.OddSetting(
            f"{_name} is {_outside[_name]!r}; outside this machine only https and wss are allowed."
        )
#: Public explorers that pages link to for coins on other chains. Following such a link reveals to that site which
#: addresses the desk uses. [form: `BTC=https://HOST/{tx} https://HOST/{address}`, separated by commas]
EXPLORERS = environment.explorers("EXPLORERS")
#: Hosts of the addresses above that may be on a private network. Connections to any other non-public address are
#: rejected.
PRIVATE_HOSTS = [host.lower() for host in environment.words("PRIVATE_HOSTS", "")]
for _name, _address in _outside.items():
    environment.refuse_private(
        _name, _address, named=PRIVATE_HOSTS, own_ports=None if DEMO else {SANDBOX_PORT}, named_in="PRIVATE_HOSTS"
    )
if not DEMO:
    addresses.require_all()


def _kept_secret(name: str, file_name: str) -> str:
    """A secret from the environment, else from a file of the data folder; the demo makes that file itself."""
    secret = environment.secret(name)
    path = DATA_DIR / file_name
    if secret:
        return secret
    if not path.exists():
        if not DEMO:
            raise environment.OddSetting(f"{name} is not set, and secrets are generated only in the demo.")
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(48))
    return path.read_text().strip()


#: Key that signs sessions. Without it the file `secret-key` in DATA_DIR is read; outside the demo one of them is
#: required.
#: [secret; form: at least 50 random characters; default: generated once in the demo]
SECRET_KEY = _kept_secret("SECRET_KEY", "secret-key")
if not DEMO:
    secret_strength.require_strong("SECRET_KEY", SECRET_KEY)
#: Key-encryption keys, newest first: the first encrypts, all decrypt. Without it the file `key-ring` in DATA_DIR
#: is read; outside the demo one of them is required.
#: [secret; form: `id:base64 of 32 bytes`, separated by commas; default: generated once in the demo]
KEY_RING = environment.key_ring("KEY_RING")
KEY_RING_FILE = DATA_DIR / "key-ring"
if not (DEMO or KEY_RING or KEY_RING_FILE.exists()):
    raise environment.OddSetting(
        f"KEY_RING is not set and {KEY_RING_FILE} does not exist. Set KEY_RING to the desk's key ring; a new desk "
        "gets one from `manage.py make_secrets`."
    )

DEBUG = False
#: Host names that the desk responds to.
ALLOWED_HOSTS = environment.words("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
#: Further origins that forms may be submitted from, including the scheme.
CSRF_TRUSTED_ORIGINS = environment.words("CSRF_TRUSTED_ORIGINS", "")

# The web process ------------------------------------------------------------------------------------------------------
#: Address that the desk listens on; `0.0.0.0` means all interfaces.
LISTEN = environment.listening_address("LISTEN", "127.0.0.1")
#: Addresses of proxies whose forwarded client addresses are trusted.
TRUSTED_PROXIES = environment.words("TRUSTED_PROXIES", "")
environment.refuse_everybody("TRUSTED_PROXIES", TRUSTED_PROXIES)
#: Lets the demo listen beyond this machine: anyone who can reach it can sign in.
_risk_is_named = environment.flag("DEMO_ANYBODY_MAY_SIGN_IN", default=False)
if DEMO and not environment.is_loopback_address(LISTEN) and not _risk_is_named:
    raise environment.OddSetting(
        f"DEMO is on and LISTEN is {LISTEN!r}: anyone who can reach this machine could sign in with the demo's "
        "published passwords. Listen on 127.0.0.1, or set DEMO_ANYBODY_MAY_SIGN_IN=1 if this is intended."
    )
#: Connections allowed per client address. TRUSTED_PROXIES are exempt: a proxy limits its own clients.
#: [unit: connections]
CONNECTIONS_PER_ADDRESS = environment.integer("CONNECTIONS_PER_ADDRESS", 100, lowest=10, highest=100_000)
#: Addresses that may read `/metrics`. Behind a trusted proxy the forwarded address counts.
METRICS_ALLOW = environment.networks("METRICS_ALLOW", "127.0.0.0/8,::1")
#: Requests that one web process handles at the same time. [unit: threads]
WEB_THREADS = environment.integer("WEB_THREADS", 4, lowest=1, highest=64)
# No page of the desk takes a file, so a request is small or mistaken.
BODY_LIMIT_BYTES = DATA_UPLOAD_MAX_MEMORY_SIZE = 1_048_576
BODY_SECONDS = 20

# Notifications -------------------------------------------------------------------------------------------------------
#: The desk's own address as people open it, including any port: used in messages, and the only one where passkeys
#: work. Its host must be in ALLOWED_HOSTS. [default: `https://` and the first of ALLOWED_HOSTS; in the demo
#: `http://localhost` and PORT]
DESK_URL = environment.url(
    "DESK_URL", addresses.own_default(ALLOWED_HOSTS, demo=DEMO, port=PORT), schemes=("https", "http")
)
addresses.require_own(DESK_URL, allowed=ALLOWED_HOSTS, demo=DEMO)
DESK_HOST, DESK_ORIGIN = urlsplit(DESK_URL).hostname or "localhost", addresses.origin_of(DESK_URL)
# A proxy may leave the port out of Host, and forms come from the desk's own address all the same.
CSRF_TRUSTED_ORIGINS.append(DESK_ORIGIN)
#: Outgoing mail server: `smtps://` with port 465, or `smtp://` with port 587 for STARTTLS. Without it the demo
#: shows its e-mails on a page. [secret; form: `smtps://user:password@host:465`]
_mail = environment.mail_server("EMAIL_URL")
EMAIL_HOST, EMAIL_PORT, EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _mail.host, _mail.port, _mail.user, _mail.password
EMAIL_USE_SSL, EMAIL_USE_TLS, EMAIL_TIMEOUT = _mail.is_tls, _mail.starts_tls, 10
#: Sender of e-mails. [default: `Countersign <countersign@HOST>` with the host of DESK_URL]
DEFAULT_FROM_EMAIL = environment.text("MAIL_FROM", f"Countersign <countersign@{DESK_HOST}>")
#: How long sent notifications are kept. [unit: days]
MESSAGES_KEPT_DAYS = environment.integer("MESSAGES_KEPT_DAYS", 400, lowest=7, highest=4_000)
# In the demo without a mail server a page of the desk shows what was sent.
MAILBOX = DEMO and not EMAIL_HOST
#: Hosts on a private network or on this machine that webhooks may be sent to.
WEBHOOK_PRIVATE_HOSTS = [host.lower() for host in environment.words("WEBHOOK_PRIVATE_HOSTS", "")]

# Apps ---------------------------------------------------------------------------------------------------------------
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "builtins": ["desk.templatetags.desk"],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "desk.web.context.desk",
                "desk.web.personal.on_every_page",
                "desk.views.action.on_every_page",
                "exchange_ops.pages.account_paths.choices",
            ],
        },
    }
]

# Database -----------------------------------------------------------------------------------------------------------
#: Database. [secret: its password; form: `postgres://user:password@host/name` or `sqlite:///path`; default:
#: SQLite in DATA_DIR]
DATABASE_URL = environment.secret("DATABASE_URL") or f"sqlite:///{DATA_DIR / 'desk.sqlite3'}"
try:
    _database = dj_database_url.parse(DATABASE_URL)
except ValueError as error:
    raise environment.OddSetting(f"DATABASE_URL can't be read: {str(error).splitlines()[0]}") from None
if _database.get("ENGINE") == "django.db.backends.sqlite3":
    # WAL and IMMEDIATE: with the deferred default, four writers lost two of three transactions to "database is locked".
    _database["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; "
        "PRAGMA recursive_triggers=ON;",
    }
    # Pages run in a fixed pool of threads, each of which keeps its connection.
    _database["CONN_MAX_AGE"] = 600
elif _database.get("ENGINE") == "django.db.backends.postgresql":
    # Each is made when it is first needed.
    _most = database_pool.most(sys.argv, web_threads=WEB_THREADS)
    _database.setdefault("OPTIONS", {}).setdefault("pool", {"min_size": 1, "max_size": _most, "timeout": 10})
    # After PostgreSQL was restarted, no job gets a connection that ended then.
    _database["CONN_HEALTH_CHECKS"] = True
else:
    raise environment.OddSetting("DATABASE_URL names an engine that is not supported; use postgres:// or sqlite:///.")
# Django's own engines, which witness what a transaction wrote right before they commit it.
_database["ENGINE"] = _database["ENGINE"].replace("django.db.backends", "desk.database")
DATABASES = {"default": _database}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
# In the database, so that sign-in and its limits work while the broker is down.
CACHES = {"default": {"BACKEND": "django.core.cache.backends.db.DatabaseCache", "LOCATION": "desk_cache"}}

#: A backup older than this is reported as overdue; 0 if backups are made without `manage.py backup`. [unit: hours]
BACKUP_OVERDUE_HOURS = environment.integer("BACKUP_OVERDUE_HOURS", 26, lowest=0, highest=1_000)

# Broker ---------------------------------------------------------------------------------------------------------------
REDIS_SOCKET = environment.private_socket(DATA_DIR, "redis.sock")
#: Broker for wake-up calls and hints. [secret: its password; form: `redis://`, `rediss://` or `unix://`; default: a
#: private one on a Unix socket]
REDIS_URL = environment.secret("REDIS_URL") or f"unix://{REDIS_SOCKET}"
if not REDIS_URL.startswith(("redis://", "rediss://", "unix://")):
    raise environment.OddSetting("REDIS_URL must start with redis://, rediss:// or unix://.")
CELERY_APPLICATION = "project.celery.app"

# People -------------------------------------------------------------------------------------------------------------
#: Whether sign-in also requires a second factor; approvals always do.
SIGN_IN_SECOND_FACTOR = environment.flag("SIGN_IN_SECOND_FACTOR", default=not DEMO)
#: The company's directory (OpenID Connect) that people can sign in with; empty: none. [form: the issuer, exactly as
#: its configuration names it]
OIDC_ISSUER = environment.text("OIDC_ISSUER", "")
#: What the directory knows this desk by. Its address to come back to is DESK_URL with `/sign-in/company/callback/`.
OIDC_CLIENT_ID = environment.text("OIDC_CLIENT_ID", "")
#: The secret that belongs to it. [secret]
OIDC_CLIENT_SECRET = environment.secret("OIDC_CLIENT_SECRET")
#: How people call the directory: "Sign in with NAME".
SSO_NAME = environment.text("SSO_NAME", "your company account")
#: Whether a password signs in. Off: a passkey or the company's directory; setting up a new account still uses one.
PASSWORD_SIGN_IN = environment.flag("PASSWORD_SIGN_IN", default=True)
addresses.require_directory(
    OIDC_ISSUER, client=OIDC_CLIENT_ID, secret=OIDC_CLIENT_SECRET, demo=DEMO, passwords=PASSWORD_SIGN_IN
)
# Outside the demo somebody without a second factor reaches nothing but enrolment, and whose factors changed rests from
# approving for a day. The demo's people share a published factor.
SECOND_FACTOR_REQUIRED = not DEMO
FACTOR_REST_SECONDS = 0 if DEMO else 24 * 60 * 60
#: Idle time after which a session ends; it always ends eight hours after sign-in. [unit: seconds]
SESSION_IDLE_SECONDS = environment.integer("SESSION_IDLE_SECONDS", 900, lowest=60, highest=86_400)
SESSION_COOKIE_AGE = 8 * 60 * 60
SESSION_EXPIRE_AT_BROWSER_CLOSE = True
#: Roles that require a passkey. One-time codes of people with such a role confirm nothing, and without a passkey they
#: reach only the page that adds one. [form: `operator`, `treasury`, `admin` or `auditor`, separated by commas]
PASSKEY_ROLES = environment.roles("PASSKEY_ROLES", options=roles.ALL)
if PASSKEY_ROLES:
    addresses.require_passkeys(DESK_URL, by="PASSKEY_ROLES")
#: Networks that a role can be used from, by role. A person with several of these roles needs an address in the networks
#: of each. Behind a proxy, set TRUSTED_PROXIES. [form: `ROLE=NETWORK NETWORK`, separated by commas]
ROLE_NETWORKS = environment.role_networks("ROLE_NETWORKS", options=roles.ALL)

# The browser --------------------------------------------------------------------------------------------------------
# Off in the demo, which runs on plain http on the loopback address; everywhere else TLS is assumed.
SECURE_COOKIES = not DEMO
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_COOKIES
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Strict"
DEVICE_COOKIE_NAME = "__Host-device" if SECURE_COOKIES else "device"
if SECURE_COOKIES:
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-session", "__Host-csrf"
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = True
    SECURE_SSL_REDIRECT = True
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "desk.web.static_files.HashedFiles"},
}

# The API -------------------------------------------------------------------------------------------------------------
#: Rate limit for each API token. [unit: requests per minute]
API_RATE = environment.integer("API_RATE", 300, lowest=1, highest=100_000)
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        # First, because it is the one that names how to come in: without it strangers would get 403 instead of 401.
        "desk.people.tokens.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "desk.api.resources.Described",
    "COERCE_DECIMAL_TO_STRING": True,
    "EXCEPTION_HANDLER": "exchange_ops.shared.api.errors.answer",
    "DEFAULT_THROTTLE_CLASSES": ["desk.people.token_rates.TokenRate"],
    "DEFAULT_THROTTLE_RATES": {"token": f"{API_RATE}/min"},
}

# Logs ----------------------------------------------------------------------------------------------------------------
#: Minimum level of log lines written to standard error.
LOG_LEVEL = environment.choice("LOG_LEVEL", "INFO", options=("DEBUG", "INFO", "WARNING", "ERROR"))
#: Format of log lines.
LOG_FORMAT = environment.choice("LOG_FORMAT", "plain" if DEMO else "json", options=("plain", "json"))
LOGGING_CONFIG = "desk.processes.logs.configure"
LOGGING: dict[str, object] = {"version": 1}

# The chain -----------------------------------------------------------------------------------------------------------
#: Networks whose addresses are accepted; coins sent to another network are lost. [form: `main`, `test`, `regtest`,
#: separated by commas]
CHAIN_NETWORKS = environment.text("CHAIN_NETWORKS", "regtest,test" if DEMO else "main").replace(" ", "").split(",")
if not set(CHAIN_NETWORKS) <= {"main", "test", "regtest"}:
    raise environment.OddSetting("CHAIN_NETWORKS must be one or more of main, test and regtest, separated by commas.")
if not DEMO:
    addresses.require_one_world(_outside, networks=CHAIN_NETWORKS, named=PRIVATE_HOSTS, sandbox_port=SANDBOX_PORT)
#: Whether requests with a private key in their URL are allowed; only `manage.py slp_token` sends them.
CHAIN_KEYED_CALLS = environment.flag("CHAIN_KEYED_CALLS", default=False)
#: Hosts besides this machine that such requests may be sent to, over https.
CHAIN_KEYED_HOSTS = environment.words("CHAIN_KEYED_HOSTS", "")
#: How long responses from the chain-data service are kept after their last use. [unit: days]
CHAIN_ANSWERS_KEPT_DAYS = environment.integer("CHAIN_ANSWERS_KEPT_DAYS", 30, lowest=1, highest=3_650)
#: Maximum number of these responses. [unit: responses]
CHAIN_ANSWERS_KEPT = environment.integer("CHAIN_ANSWERS_KEPT", 50_000, lowest=1_000, highest=10_000_000)
#: Maximum total size of these responses. [unit: megabytes]
CHAIN_ANSWERS_MEGABYTES = environment.integer("CHAIN_ANSWERS_MEGABYTES", 500, lowest=10, highest=1_000_000)
#: Confirmations required before a payout counts as verified on-chain. Before that, a reorganisation raises no
#: incident. [unit: blocks]
PAYOUT_PROOF_DEPTH = environment.integer("PAYOUT_PROOF_DEPTH", 2 if DEMO else 6, lowest=1, highest=100)

# Money --------------------------------------------------------------------------------------------------------------
#: Quote currency of new accounts; each person can choose a different one for totals.
QUOTE_CURRENCY = environment.text("QUOTE_CURRENCY", "USD")
CALL_DEADLINE_SECONDS = 25
#: Whether orders are placed, cancelled and replaced over the trading socket while the account's trading stream is live;
#: off: REST only.
ORDERS_OVER_SOCKET = environment.flag("ORDERS_OVER_SOCKET", default=True)
EXCHANGE_CALLS_PER_SECOND = {
    #: Rate limit for market-data requests, for each process. [unit: requests per second]
    "market": environment.integer("EXCHANGE_MARKET_RATE", 100, lowest=1, highest=100_000),
    #: Rate limit for order requests, for each process and key. [unit: requests per second]
    "trading": environment.integer("EXCHANGE_TRADING_RATE", 300, lowest=1, highest=100_000),
    #: Rate limit for all other exchange requests, for each process and key. [unit: requests per second]
    "other": environment.integer("EXCHANGE_OTHER_RATE", 10, lowest=1, highest=100_000),
}
LEASE_SECONDS = 90
SWEEP_SECONDS = 10

# Market data --------------------------------------------------------------------------------------------------------
#: Symbols whose candles, trades and order books are always kept up to date, even when nobody is viewing them.
MARKET_PINNED = environment.words("MARKET_PINNED", "BTCUSD,ETHBTC" if DEMO else "")
#: Candles kept for each symbol and period. [unit: candles]
MARKET_CANDLES_KEPT = environment.integer("MARKET_CANDLES_KEPT", 2_000, lowest=500, highest=1_000_000)
#: How long public trades are kept. [unit: days]
MARKET_TRADES_KEPT_DAYS = environment.integer("MARKET_TRADES_KEPT_DAYS", 7, lowest=1, highest=3_650)
#: How long the exchange's responses to forms (owner of an address, network fee) and earlier reconciliation readings
#: are kept. [unit: days]
ANSWERS_KEPT_DAYS = environment.integer("ANSWERS_KEPT_DAYS", 30, lowest=1, highest=3_650)
#: How long hourly account values are kept; one value a day is kept permanently. [unit: days]
SNAPSHOT_HOURS_KEPT_DAYS = environment.integer("SNAPSHOT_HOURS_KEPT_DAYS", 35, lowest=1, highest=3_650)

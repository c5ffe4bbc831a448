"""The command `manage.py sandbox` (also `python -m sandbox`): its options, and one sentence for each odd one."""

import argparse
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from sandbox import serving
from sandbox.settings.dialects import DIALECTS

LOWEST_SYMBOLS = 13
MOST_SYMBOLS = 2_000
ROOT = Path(__file__).resolve().parent.parent


def main(words: Sequence[str]) -> int:
    """Serves the sandbox until it is signalled; returns the exit status."""
    options = _parser().parse_args(words)
    # The folder lies in the desk's, where nothing is for others to read.
    os.umask(0o077)
    serving.serve(
        port=options.port,
        host=options.host,
        data_dir=_folder(options.data_dir),
        seed=options.seed,
        symbols=options.symbols,
        dialect=options.dialect,
        fresh=options.fresh,
        sealed=options.sealed,
        still=options.still,
        block_seconds=options.block_seconds,
        non_js_framework=options.non_js_framework,
        figures=options.figures,
    )
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="manage.py sandbox",
        description="A stateful local stand-in for the exchange, for trials and tests without network or credentials.",
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default %(default)s)")
    # A default that is a text is read like an option: an odd SANDBOX_PORT stops the start with the same sentence.
    port = os.environ.get("SANDBOX_PORT", "").strip() or "8100"
    parser.add_argument(
        "--port", type=_whole_number(0, 65535), default=port, help="SANDBOX_PORT or 8100; 0 picks a free one"
    )
    folder = Path(os.environ.get("DATA_DIR", "").strip() or ROOT / "var").expanduser() / "sandbox"
    parser.add_argument("--data-dir", type=Path, default=folder, help="folder for the journal (default %(default)s)")
    parser.add_argument("--seed", type=_whole_number(0, 2**63 - 1), default=1, help="seed of a new world (default 1)")
    parser.add_argument(
        "--symbols", type=_whole_number(LOWEST_SYMBOLS, MOST_SYMBOLS), help="number of symbols in the market"
    )
    parser.add_argument(
        "--dialect",
        choices=DIALECTS,
        default="",
        metavar="|".join(DIALECTS),
        help="which to follow where specification and live servers differ (default: the saved world's or documented)",
    )
    parser.add_argument("--figures", type=Path, help="begin a new world from this file (manage.py rehearse)")
    parser.add_argument("--fresh", action="store_true", help="start a new world instead of resuming the saved one")
    parser.add_argument("--sealed", action="store_true", help="disable the control plane /_sandbox/")
    parser.add_argument("--still", action="store_true", help="no simulated traders")
    parser.add_argument("--block-seconds", type=_whole_number(1, 86_400), help="time between blocks of the chain")
    parser.add_argument(
        "--non-js-framework",
        type=_switch,
        nargs="?",
        const=True,
        #: Whether the sandbox serves calls that make, mint and send tokens with a private key in their path.
        #: [form: `true` or `false`; default: `false`]
        default=os.environ.get("NON_JS_FRAMEWORK", "").strip() or "false",
        metavar="true|false",
        help="allow token requests that carry a private key in the path (default: NON_JS_FRAMEWORK, else false)",
    )
    return parser


def _switch(text: str) -> bool:
    if text.lower() not in ("true", "false", "1", "0"):
        raise argparse.ArgumentTypeError(f"{text!r} is not true or false")
    return text.lower() in ("true", "1")


def _whole_number(lowest: int, highest: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit()) or not lowest <= int(text[:20]) <= highest:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {lowest} to {highest}")
        return int(text)

    return read


def _folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise serving.CannotServe(f"sandbox: the folder {path} can't be created: {problem.strerror}.") from None
    return path

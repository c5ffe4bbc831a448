"""Coverage-guided fuzzing of all readers of the chain: `python -m tools.bench.fuzz_chain --seconds 60 [parser …]`.

Each parser gets its share of the time in a process of its own, begun from the corpus of the tests. What makes one end
otherwise than it promises is printed in hexadecimal, as a line for that corpus, and the run ends with 1. With `--keep`
the inputs that reach code which no other one reaches are added to the corpus.
"""

import argparse
import importlib.util
import re
import subprocess
import sys
import tempfile
from pathlib import Path

MOST_SAMPLE_BYTES = 400
MOST_SAMPLES = 60  # of a parser, in the corpus
_INSIDE = "--inside"  # the process of one parser
_DONE = re.compile(r"Done (\d+) runs in (\d+) second")
_COVERED = re.compile(r"cov: (\d+)")


def main(arguments: list[str]) -> int:
    """Fuzz the named parsers, or all of them; 1 when one of them failed."""
    if arguments[:1] == [_INSIDE]:
        name, folder, seconds = arguments[1:]
        return _fuzz(name, Path(folder), int(seconds))
    from tests.chaindata.parsers import PARSERS

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parsers", nargs="*", metavar="parser", help=", ".join(PARSERS))
    parser.add_argument("--seconds", type=int, default=60, help="in all (default: 60)")
    parser.add_argument("--keep", action="store_true", help="add what was found to the corpus")
    options = parser.parse_args(arguments)
    names = options.parsers or list(PARSERS)
    if unknown := set(names) - set(PARSERS):
        print(f"There is no parser {', '.join(sorted(unknown))}; there are: {', '.join(PARSERS)}.")
        return 1
    if importlib.util.find_spec("atheris") is None:
        print("The fuzzer is not installed; `manage.py bench` installs it on Linux and x86-64, for Python up to 3.13.")
        return 0
    share = max(options.seconds // len(names), 1)
    return 1 if [name for name in names if not _run(name, share, keeps=options.keep)] else 0


def _run(name: str, seconds: int, *, keeps: bool) -> bool:
    """Whether a parser kept its promise for so long."""
    from tests.chaindata.parsers import CORPUS, samples

    with tempfile.TemporaryDirectory() as folder:
        for number, sample in enumerate(samples(name)):
            (Path(folder) / f"sample{number:04}").write_bytes(sample)
        ended = subprocess.run(
            [sys.executable, "-m", "tools.bench.fuzz_chain", _INSIDE, name, folder, str(seconds)],
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds + 60,
        )
        done, covered = _DONE.search(ended.stderr), _COVERED.findall(ended.stderr)
        if ended.returncode or done is None:
            _, _, why = ended.stderr.partition("=== Uncaught Python exception")
            print(f"{name}: did not keep its promise.\n{(why or ended.stderr)[-2_000:]}")
            for culprit in Path(folder).glob("culprit*"):
                print(f"The line for {CORPUS.name}/{name}.hex: {culprit.read_bytes().hex()}")
            return False
        print(f"{name}: {done[1]} inputs in {done[2]} s, {covered[-1]} places reached, nothing found.", flush=True)
        if keeps:
            _keep(name, Path(folder))
    return True


def _fuzz(name: str, folder: Path, seconds: int) -> int:
    """Inside the process of one parser; ends it."""
    import atheris

    with atheris.instrument_imports(include=["chaindata.wire", "sandbox.chain", "wire"]):
        from tests.chaindata.parsers import PARSERS
    options = [f"-max_total_time={seconds}", "-max_len=4096", "-timeout=10", f"-artifact_prefix={folder}/culprit-"]
    atheris.Setup([sys.argv[0], *options, str(folder)], PARSERS[name].ends_well)
    atheris.Fuzz()
    return 0


def _keep(name: str, folder: Path) -> None:
    """Adds the shortest of what was found, as far as there is room, to the samples of a parser."""
    from tests.chaindata.parsers import CORPUS, samples

    corpus = samples(name)
    findings = sorted((path.read_bytes() for path in folder.iterdir()), key=lambda raw: (len(raw), raw))
    for raw in findings:
        if len(corpus) < MOST_SAMPLES and 0 < len(raw) <= MOST_SAMPLE_BYTES and raw not in corpus:
            corpus.append(raw)
    (CORPUS / f"{name}.hex").write_text("".join(f"{raw.hex()}\n" for raw in corpus))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

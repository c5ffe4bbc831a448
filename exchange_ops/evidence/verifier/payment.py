"""The payment: the exchange's record of it, and the transaction on the chain with its proof and headers."""

from decimal import Decimal
from typing import Any

from exchange_ops.evidence.verifier.addresses import script_of
from exchange_ops.evidence.verifier.blocks import (
    NotValid,
    check_header,
    display_hex,
    double_sha256,
    outputs_of,
    proven_in,
)
from exchange_ops.evidence.verifier.report import Report
from exchange_ops.evidence.verifier.trail import Span

COIN = "BCH"
INNER_NODE_BYTES = 64  # a transaction of so many bytes could be two hashes of a tree instead


def owed(columns: dict[str, Any]) -> Decimal | None:
    """What has to reach the address; None while the fee that is taken out of it is not known."""
    if not columns["include_fee"]:
        return Decimal(columns["amount"])
    for item in columns["echo"]:
        if item["field"] == "amount" and item["agrees"]:
            return Decimal(item["theirs"])
    fee = columns["fee_estimate"]
    return None if fee is None else Decimal(columns["amount"]) - Decimal(fee)


def check_exchange(exchange: dict[str, Any], request: dict[str, Any], report: Report) -> None:
    """Compare the exchange's records of this payout with the request."""
    columns, problem = request["columns"], ""
    # The desk compares spellings of one address before the order to pay; the audit rows recorded what agreed.
    compared = (item["theirs"] for item in columns["echo"] if item["field"] == "address" and item["agrees"])
    addresses = {columns["address"], *compared}
    for entry in exchange["entries"]:
        if entry["currency"] != columns["currency"] or entry["exchange_id"] != columns["exchange_id"]:
            problem = problem or "The exchange's record has another currency or number than the request."
        if Decimal(entry["amount"]) not in (Decimal(columns["amount"]), owed(columns)):
            problem = problem or f"The exchange's record is of {entry['amount']}, not of the requested amount."
        if entry["hash"] and columns["hash"] and entry["hash"].lower() != columns["hash"].lower():
            problem = problem or "The exchange's record names another transaction than the request."
        if entry["address"] and entry["address"] not in addresses:
            problem = problem or "The exchange's record has another address than the request."
    count = len(exchange["entries"])
    if count:
        records = "The exchange's record agrees" if count == 1 else f"{count} records of the exchange agree"
        report.check("exchange", not problem, f"{records} with the request.", problem)
    report.believe("The exchange's record, and the desk's record of its calls, are as they were read and sent.")


def check_payment(chain: dict[str, Any], request: dict[str, Any], span: Span, report: Report) -> None:
    """Check the transaction, its proof and the headers, as far as the bundle has them."""
    columns = request["columns"]
    if columns["currency"] != COIN:
        report.believe(
            f"That {columns['currency']} reached the address: on-chain proofs are available for {COIN} only."
        )
        return
    recorded = [row.evidence for row in span.own if row.action.endswith((".proven", ".proven_again"))]
    if recorded:
        is_same = recorded[-1].get("transaction") == columns["hash"].lower()
        report.check("recorded proof", is_same, "The audit rows recorded the proof of this transaction.")
    if not chain["transaction"] or not chain["proof"]:
        report.believe("That the payment reached the address: the bundle has no transaction with a proof yet.")
        return
    try:
        raw, proof = bytes.fromhex(chain["transaction"]), bytes.fromhex(chain["proof"])
        headers = [bytes.fromhex(text) for text in chain["headers"]]
        _check_output(raw, chain["network"], columns, report)
        _check_proof(raw, proof, chain["network"], report)
        _check_headers(proof, headers, chain, report)
    except (ValueError, TypeError, KeyError) as problem:
        report.fails("transaction", f"The transaction, its proof or its headers can't be read ({problem}).")


def _check_output(raw: bytes, network: str, columns: dict[str, Any], report: Report) -> None:
    txid = display_hex(double_sha256(raw))
    report.check(
        "transaction",
        txid == columns["hash"].lower() and len(raw) != INNER_NODE_BYTES,
        f"The {len(raw)} bytes hash to the ID that the exchange named, {txid[:16]}….",
        "The transaction is not the one that the exchange named.",
    )
    amount, script = owed(columns), script_of(columns["address"], network)
    try:
        paid = [value for value, locked in outputs_of(raw) if script is not None and locked == script]
    except NotValid as problem:
        report.fails("amount and recipient", str(problem))
        return
    report.check(
        "amount and recipient",
        amount is not None and int(amount.scaleb(8)) in paid and amount.scaleb(8) % 1 == 0,
        f"An output pays exactly {amount} {columns['currency']} to {columns['address']}.",
        f"No output of the transaction pays exactly {amount} {columns['currency']} to {columns['address']}.",
    )


def _check_proof(raw: bytes, proof: bytes, network: str, report: Report) -> None:
    try:
        header, matches = proven_in(proof)
    except NotValid as problem:
        report.fails("merkle proof", str(problem))
        return
    is_proven = matches == [double_sha256(raw)]
    block = display_hex(double_sha256(header))
    report.check(
        "merkle proof", is_proven, f"The transaction is in block {block[:24]}….", "It proves another transaction."
    )
    try:
        target = check_header(header, network)
    except NotValid as problem:
        report.fails("proof of work", str(problem))
        return
    report.check(
        "proof of work", True, f"The block's hash meets its target: {(1 << 256) // (target + 1):,} hashes of work."
    )


def _check_headers(proof: bytes, headers: list[bytes], chain: dict[str, Any], report: Report) -> None:
    """Check that the headers follow one another from the proven block on, each with its work."""
    problem, before = "", proof[:80]
    if headers[:1] != [before]:
        problem = "The headers do not begin with the block of the proof."
    for header in headers[1:]:
        if header[4:36] != double_sha256(before):
            problem = problem or "A header does not follow the one before it."
        before = header
    try:
        work = sum((1 << 256) // (check_header(header, chain["network"]) + 1) for header in headers)
    except NotValid as reason:
        problem, work = problem or str(reason), 0
    count = len(headers) - 1
    sentence = f"{count} more block{'' if count == 1 else 's'} on top, each with its work: {work:,} hashes in all."
    report.check("headers", not problem, sentence, problem)
    report.believe("That the block is in the chain with the most work. Compare its hash with a node or an explorer.")
    if chain["network"] != "main":
        report.believe("Work on a test network costs nothing, so it proves nothing there.")

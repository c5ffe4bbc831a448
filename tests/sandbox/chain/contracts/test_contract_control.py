"""The contract of what the node tells about itself, written from the documents alone: literal members and types."""

from tests.sandbox.chain.conftest import ChainService

NUMBER = (int, float)
INFO = {
    "version": int,
    "protocolversion": int,
    "blocks": int,
    "timeoffset": int,
    "connections": int,
    "proxy": str,
    "difficulty": NUMBER,
    "testnet": bool,
    "paytxfee": NUMBER,
    "relayfee": NUMBER,
    "errors": str,
}
NETWORK = {
    "version": int,
    "subversion": str,
    "protocolversion": int,
    "localservices": str,
    "localrelay": bool,
    "timeoffset": int,
    "networkactive": bool,
    "connections": int,
    "networks": list,
    "relayfee": NUMBER,
    "excessutxocharge": NUMBER,
    "warnings": str,
}
REACH = {"name": str, "limited": bool, "reachable": bool, "proxy": str, "proxy_randomize_credentials": bool}


def test_the_node(service: ChainService) -> None:
    found = service.good("/v2/control/getInfo")
    assert list(found) == list(INFO)
    assert all(isinstance(found[name], kind) for name, kind in INFO.items())
    assert found["blocks"] <= service.good("/v2/blockchain/getBlockCount")
    assert found["difficulty"] == service.good("/v2/blockchain/getDifficulty")
    assert 0 < found["relayfee"] < 0.001


def test_its_network(service: ChainService) -> None:
    found = service.good("/v2/control/getNetworkInfo")
    assert list(found) == list(NETWORK)
    assert all(isinstance(found[name], kind) for name, kind in NETWORK.items())
    assert {each["name"] for each in found["networks"]} >= {"ipv4", "ipv6"}
    for each in found["networks"]:
        assert list(each) == list(REACH)
        assert all(isinstance(each[name], kind) for name, kind in REACH.items())
    assert int(found["localservices"], 16) & 1, "it has the whole chain"

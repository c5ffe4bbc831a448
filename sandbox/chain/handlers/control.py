"""The node about itself (chain data, Control; supplement 1.5). Its figures are those of a node of 2020."""

from collections.abc import Mapping
from decimal import Decimal

from chaindata.wire import headers
from chaindata.wire.decoding import coins
from sandbox.chain.full_node import FullNode
from sandbox.chain.node.standardness import FEE_RATE_SAT

VERSION = 200_600  # 0.20.6
PROTOCOL_VERSION = 70_015
CONNECTIONS = 8
_NAMES = ("ipv4", "ipv6", "onion")


def get_node_info(node: FullNode, arguments: Mapping[str, object]) -> object:
    """Version, height, difficulty and fees; a node of a regression-test network says that it is no test network."""
    tip = node.chain.tip
    return {
        "version": VERSION,
        "protocolversion": PROTOCOL_VERSION,
        "blocks": tip.height,
        "timeoffset": 0,
        "connections": CONNECTIONS,
        "proxy": "",
        "difficulty": headers.difficulty_of(tip.header.bits),
        "testnet": False,
        "paytxfee": Decimal(0),
        "relayfee": coins(FEE_RATE_SAT),
        "errors": "",
    }


def get_network_info(node: FullNode, arguments: Mapping[str, object]) -> object:
    """What it is connected to."""
    return {
        "version": VERSION,
        "subversion": "/Countersign sandbox:0.20.6(EB32.0)/",
        "protocolversion": PROTOCOL_VERSION,
        "localservices": "0000000000000425",
        "localrelay": True,
        "timeoffset": 0,
        "networkactive": True,
        "connections": CONNECTIONS,
        "networks": [
            {
                "name": name,
                "limited": name == "onion",
                "reachable": name != "onion",
                "proxy": "",
                "proxy_randomize_credentials": False,
            }
            for name in _NAMES
        ],
        "relayfee": coins(FEE_RATE_SAT),
        "excessutxocharge": Decimal(0),
        "warnings": "",
    }


HANDLERS = {each.__name__: each for each in (get_node_info, get_network_info)}

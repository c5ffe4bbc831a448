"""The records of the chain-data service, by annotation, a module for each family of answers.

Members keep their names of the wire: run together (`blockhash`) where the node behind the service speaks, in camel case
elsewhere. Amounts in coins and tokens are exact decimals whether they travel as texts or as numbers; whole numbers of
satoshis are `int`. Members that only some versions send, or only some cases have, may be absent.
"""

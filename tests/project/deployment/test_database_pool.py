"""All processes together fit the hundred connections of a PostgreSQL as it is installed, with ten accounts."""

from project import database_pool
from project.deployment.processes import WEB, WORK

POSTGRESQL = 100 - 3  # three are reserved for its administrator
WEB_THREADS = 4


def test_every_process_at_its_most_fits_the_default_of_postgresql() -> None:
    total = WEB_THREADS + database_pool.SPARE  # pages run in as many threads, each with one
    for process in WORK:
        most = database_pool.most(process.arguments, web_threads=WEB_THREADS)
        if "worker" in process.arguments:
            children = int(process.arguments[process.arguments.index("--concurrency") + 1])
            total += children * most + 1  # and the one that starts them, which looks at the database once
        elif process.name != "beat":
            total += most
    assert total <= POSTGRESQL


def test_the_follower_has_one_for_each_of_its_threads_with_ten_accounts() -> None:
    sweepers, streams_of_an_account, itself_and_the_market = 4, 2, 2
    assert 10 * streams_of_an_account + sweepers + itself_and_the_market < database_pool.OTHERS


def test_a_web_process_with_many_threads_has_one_for_each() -> None:
    assert database_pool.most(WEB.arguments, web_threads=64) > 64
    assert database_pool.most(["manage.py"], web_threads=4) == database_pool.OTHERS

import asyncio
import os
import pickle
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.backends.store import BackgroundStore, DiskStore, SharedStore, empty
from judge.backends.store.redis import RedisStore
from judge.errors import ConfigError, JudgeError, RunError, UsageError
from judge.protocols import Store
from tests.commands import cramped

WRITER = """
import sys
from pathlib import Path
from judge.backends.store import DiskStore
with DiskStore(Path(sys.argv[1])) as store:
    for number in range(int(sys.argv[3])):
        store.put({f"{sys.argv[2]}-{number}-{part}": "差旅标准" * 50 for part in range(3)})
        print(number, flush=True)
"""


class Bomb:
    """Makes a folder when unpickled."""

    def __init__(self, crater: Path) -> None:
        self._crater = crater

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self._crater),)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


class Kind(NamedTuple):
    """A kind of store: each opening leads to the same texts."""

    opened: Callable[[], DiskStore | RedisStore]
    behind: Callable[..., BackgroundStore]


@pytest.fixture(params=["disk", "redis"])
def kind(request: pytest.FixtureRequest, folder: Path) -> Kind:
    if request.param == "disk":
        return Kind(lambda: DiskStore(folder), partial(behind, folder))
    url = request.getfixturevalue("redis").socket
    opened = partial(RedisStore, url)
    return Kind(opened, partial(SharedStore, opened))


@pytest.fixture
def store(folder: Path) -> Iterator[DiskStore]:
    with DiskStore(folder) as store:
        yield store


def plant(folder: Path, statement: str, *values: object) -> None:
    database = sqlite3.connect(folder / "cache.db")
    with database:
        database.execute(statement, values)
    database.close()


def pragma(store: DiskStore, name: str) -> object:
    database = sqlite3.connect(store.directory / "cache.db")
    (value,) = database.execute(f"PRAGMA {name}").fetchone()
    database.close()
    return value


def behind(folder: Path, *, durable: bool = False) -> BackgroundStore:
    return BackgroundStore(lambda: DiskStore(folder, durable=durable), durable=durable)


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def writer(folder: Path, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(folder), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def written(name: str, count: int) -> set[str]:
    return {f"{name}-{number}-{part}" for number in range(count) for part in range(3)}


def test_texts_outlive_the_store(kind: Kind) -> None:
    with kind.opened() as first:
        first.put({"a": "old", "二": "报销流程"})
        first.put({"a": "new", "": ""})
    with kind.opened() as again:
        assert again.get(["二", "absent", "a", ""]) == {"a": "new", "二": "报销流程", "": ""}
        assert again.get([]) == {}


def test_any_text_comes_back_as_it_was(kind: Kind) -> None:
    with kind.opened() as store:

        @given(st.dictionaries(st.text(), st.text(), max_size=4))
        def check(texts: dict[str, str]) -> None:
            store.put(texts)
            assert store.get(list(texts)) == texts

        check()
        store.put({"long": "很长" * 100_000})
        assert store.get(["long"]) == {"long": "很长" * 100_000}


def test_many_keys_and_many_rows_come_in_pages(kind: Kind) -> None:
    texts = {f"key {number}": str(number) for number in range(1201)}
    with kind.opened() as store:
        store.put(texts)
        assert store.get(list(texts)) == texts
        rows = list(store.rows())
        assert sorted(rows) == sorted(texts.items())
        if isinstance(store, DiskStore):
            assert rows == list(texts.items()), "oldest first"


def test_a_transaction_is_whole_or_absent(kind: Kind) -> None:
    with kind.opened() as store:
        store.put({"before": "1"})
        with pytest.raises(RunError, match="UnicodeEncodeError") as caught:
            store.put({"a": "1", "b": "secret \ud800"})
        assert "secret" not in str(caught.value)
        assert list(store.rows()) == [("before", "1")]
        store.put({"after": "2"})
        assert store.get(["before", "after"]) == {"before": "1", "after": "2"}


def test_two_processes_lose_nothing(folder: Path) -> None:
    one, two = writer(folder, "one", 40), writer(folder, "two", 40)
    with DiskStore(folder) as store:
        for number in range(40):
            store.put({f"here-{number}-{part}": "x" for part in range(3)})
        one.communicate()
        two.communicate()
        assert (one.returncode, two.returncode) == (0, 0)
        keys = {key for key, _ in store.rows()}
    assert keys == written("one", 40) | written("two", 40) | written("here", 40)


def test_kill_9_loses_no_committed_row(folder: Path) -> None:
    process = writer(folder, "killed", 100_000)
    assert process.stdout is not None
    seen = [int(process.stdout.readline()) for _ in range(20)]
    process.send_signal(signal.SIGKILL)
    rest, _ = process.communicate()
    last = max([*seen, *(int(line) for line in rest.split("\n")[:-1])])
    with DiskStore(folder) as store:
        keys = {key for key, _ in store.rows()}
        # At most one transaction more than was told of, and that one whole.
        assert keys in (written("killed", last + 1), written("killed", last + 2))
        assert pragma(store, "journal_mode") == "wal"


def test_a_planted_pickle_is_not_unpickled(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    crater = tmp_path / "crater"
    bomb = pickle.dumps(["harmless", Bomb(crater)])
    DiskStore(folder).close()
    plant(folder, "INSERT INTO Cache(key, raw, mode, value) VALUES ('k', 1, 4, ?)", bomb)
    plant(folder, "INSERT INTO Cache(key, raw, mode, value) VALUES (?, 0, 1, 'harmless')", bomb)
    with DiskStore(folder) as store:
        assert store.get(["k"]) == {}
        assert list(store.rows()) == []
        store.put({"k": "ours"})
        assert store.get(["k"]) == {"k": "ours"}
    assert not crater.exists()
    assert [record.name for record in caplog.records] == ["judge"]
    assert str(folder) in caplog.text
    assert "harmless" not in caplog.text
    pickle.loads(bomb)  # noqa: S301  the bomb was armed
    assert crater.exists()


def test_a_row_that_names_a_file_is_not_read_and_the_file_not_removed(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    DiskStore(folder).close()
    victim = folder.with_name("victim")
    victim.write_text("secret")
    row = "INSERT INTO Cache(key, raw, mode, filename) VALUES (?, 1, ?, '../victim')"
    for mode in range(1, 5):
        plant(folder, row, f"{mode}", mode)
    with DiskStore(folder) as store:
        assert store.get(["1", "2", "3", "4"]) == {}
        store.put({"1": "ours"})
        assert list(store.rows()) == [("1", "ours")]
        assert store.clear() == 4
    assert victim.read_text() == "secret"
    assert len(caplog.records) == 1
    assert "secret" not in caplog.text


def test_what_is_no_text_of_ours_is_absent(folder: Path) -> None:
    DiskStore(folder).close()
    row = "INSERT INTO Cache(key, raw, mode, value) VALUES (?, ?, ?, ?)"
    odd = [(1, 1, b"text"), (1, 1, 7), (1, 1, None), (1, 2, "text"), (0, 1, "text"), ("x", 1, "t")]
    for number, values in enumerate(odd):
        plant(folder, row, f"{number}", *values)
    with DiskStore(folder) as store:
        assert store.get([f"{number}" for number in range(len(odd))]) == {}
        assert list(store.rows()) == []


def test_a_row_that_was_changed_is_absent_and_may_be_put_again(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    verdicts = {"1": '{"support":"none"}', "2": '{"support":"full"}', "3": '{"support":"none"}'}
    with DiskStore(folder) as store:
        store.put(verdicts)
    plant(folder, "UPDATE Cache SET value = replace(value, 'none', 'full') WHERE key = '1'")
    # A sound row under another key is no more sound.
    plant(folder, "DELETE FROM Cache WHERE key = '3'")
    plant(folder, "UPDATE Cache SET key = '3' WHERE key = '2'")
    with DiskStore(folder) as store:
        assert store.get(list(verdicts)) == {}
        assert list(store.rows()) == []
        store.put(verdicts)
        assert store.get(list(verdicts)) == verdicts
    assert len(caplog.records) == 1
    # As older versions wrote it: nothing is asked again that was paid for.
    plant(folder, "UPDATE Cache SET tag = NULL")
    with DiskStore(folder) as store:
        assert dict(store.rows()) == verdicts


def spoil(folder: Path, how: str) -> None:
    if how == "no database":
        folder.mkdir()
        (folder / "cache.db").write_bytes(b"no database at all" * 100)
        return
    with DiskStore(folder) as store:
        store.put({str(number): "x" * 5000 for number in range(50)})
    if how == "another schema":
        plant(folder, "DROP TABLE Cache")
        plant(folder, "CREATE TABLE Cache (other)")
    else:
        database = folder / "cache.db"
        database.write_bytes(database.read_bytes()[:40_000])


@pytest.mark.parametrize("how", ["no database", "another schema", "torn"])
def test_a_broken_database_is_named_and_can_be_emptied(folder: Path, how: str) -> None:
    spoil(folder, how)
    (folder / "notes").touch()
    clear = f"`judge cache clear --yes --cache-dir {folder}`"
    with pytest.raises(JudgeError, match=clear), DiskStore(folder) as store:
        list(store.rows())
    assert empty(folder) is None
    assert names(folder) == ["notes"]
    with DiskStore(folder) as store:
        store.put({"k": "v"})
    assert empty(folder) == 1
    assert empty(folder) == 0


def test_clearing_leaves_nothing_to_read(kind: Kind) -> None:
    with kind.opened() as store:
        store.put({f"key {number}": "geheim 机密" * 500 for number in range(200)})
        full = store.size
        assert full > 200 * 500 * 13
        assert store.clear() == 200
        assert list(store.rows()) == []
        assert store.size < full / 10
        if isinstance(store, DiskStore):
            assert not any(b"geheim" in path.read_bytes() for path in store.directory.iterdir())
        store.put({"k": "again"})
        assert store.get(["k"]) == {"k": "again"}


FILLER = """
import resource, sys
from pathlib import Path
from judge.backends.store import DiskStore
from judge.errors import RunError
with DiskStore(Path(sys.argv[1])) as store:
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
    try:
        for number in range(1000):
            store.put({str(number): "x" * 10_000})
    except RunError as error:
        print(number, error)
"""
WITHOUT_USERS = """
import os, sys
from pathlib import Path
del os.geteuid
from judge.backends.store import DiskStore
with DiskStore(Path(sys.argv[1])) as store:
    store.put({"k": "v"})
    print(store.get(["k"]))
"""


def printed(program: str, folder: Path) -> str:
    command = [sys.executable, "-c", program, str(folder)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stderr == ""
    return ran.stdout


def test_a_full_disk_is_named_and_keeps_what_is_there(folder: Path) -> None:
    count, message = printed(FILLER, folder).split(" ", 1)
    assert str(folder) in message
    assert "its disk is full (disk I/O error), and takes no verdict; what is there stays" in message
    assert "--cache-dir" in message
    assert "judge cache clear" not in message, "it would give back what was paid for"
    assert int(count) > 5
    with DiskStore(folder) as store:
        assert [key for key, _ in store.rows()] == [str(number) for number in range(int(count))]


def test_a_cache_can_be_emptied_without_room_for_a_transaction(folder: Path) -> None:
    with DiskStore(folder) as store:
        store.put({"k": "v" * 100_000})
    with cramped(4096):
        assert empty(folder) is None
    assert names(folder) == []


def test_a_system_that_knows_no_users_has_a_cache(folder: Path) -> None:
    assert printed(WITHOUT_USERS, folder) == "{'k': 'v'}\n"


def test_errors_in_mid_run_are_translated_and_quote_no_text(folder: Path) -> None:
    uses: tuple[Callable[[DiskStore], object], ...] = (
        lambda store: store.get(["k"]),
        lambda store: store.put({"k": "secret"}),
        lambda store: list(store.rows()),
        DiskStore.clear,
    )
    for use in uses:
        with DiskStore(folder) as store:
            store.put({"k": "secret"})
            plant(folder, "DROP TABLE Cache")
            with pytest.raises(RunError, match="no such table") as caught:
                use(store)
        assert str(folder) in str(caught.value)
        assert "secret" not in str(caught.value)


def test_a_closed_store_is_the_caller_s_mistake_and_stays_closed(kind: Kind) -> None:
    with kind.opened() as store:
        store.put({str(number): "" for number in range(1200)})
        rows = store.rows()
        next(rows)
    uses = (lambda: store.get(["1"]), lambda: store.put({"k": "v"}), store.clear)
    for use in (*uses, lambda: list(rows)):
        with pytest.raises(UsageError, match="closed; ask while its `with` is open") as caught:
            use()
        assert not isinstance(caught.value, ConfigError | RunError)
        assert store.place in str(caught.value)
    with kind.opened() as again:
        assert len(list(again.rows())) == 1200


# As diskcache 5.6.3, by which older versions kept their rows, makes a database.
OLDER = """
CREATE TABLE Settings (key TEXT NOT NULL UNIQUE, value);
INSERT INTO Settings VALUES ('count', 0), ('size', 0), ('sqlite_journal_mode', 'delete'),
    ('sqlite_synchronous', 0), ('eviction_policy', 'none'), ('_directory', '/elsewhere');
CREATE TABLE Cache (rowid INTEGER PRIMARY KEY, key BLOB, raw INTEGER, store_time REAL,
    expire_time REAL, access_time REAL, access_count INTEGER DEFAULT 0, tag BLOB,
    size INTEGER DEFAULT 0, mode INTEGER DEFAULT 0, filename TEXT, value BLOB);
CREATE UNIQUE INDEX Cache_key_raw ON Cache(key, raw);
CREATE INDEX Cache_expire_time ON Cache (expire_time);
CREATE TRIGGER Settings_count_insert AFTER INSERT ON Cache FOR EACH ROW BEGIN
    UPDATE Settings SET value = value + 1 WHERE key = "count"; END;
CREATE TRIGGER Settings_size_update AFTER UPDATE ON Cache FOR EACH ROW BEGIN
    UPDATE Settings SET value = value + NEW.size - OLD.size WHERE key = "size"; END;
INSERT INTO Cache(key, raw, store_time, access_time, mode, tag, value) VALUES
    ('k', 1, 1.7e9, 1.7e9, 1, NULL, '{"support":"none"}'),
    ('差', 1, 1.7e9, 1.7e9, 1, 'a3b5cc0572de60f4', '旅');
"""


def test_a_cache_of_an_older_version_is_read_and_added_to(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    with closing(sqlite3.connect(folder / "cache.db")) as older:
        older.executescript(OLDER)
    with DiskStore(folder) as store:
        assert dict(store.rows()) == {"k": '{"support":"none"}', "差": "旅"}
        store.put({"k": "new", "more": "x"})
        assert store.get(["k", "差", "more"]) == {"k": "new", "差": "旅", "more": "x"}
        assert pragma(store, "journal_mode") == "wal"
        assert store.clear() == 3


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_only_its_owner_enters_the_folder(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with DiskStore(tmp_path / "a" / "new") as store:
            store.put({"k": "v"})
            assert {mode(path) for path in store.directory.iterdir()} == {0o600}
    finally:
        os.umask(before)
    empty = tmp_path / "empty"
    empty.mkdir()
    empty.chmod(0o755)
    DiskStore(empty).close()
    linked = tmp_path / "linked"
    linked.symlink_to(empty)
    empty.chmod(0o775)  # one that holds a cache by now
    DiskStore(linked).close()
    assert [mode(tmp_path / "a" / "new"), mode(empty)] == [0o700, 0o700]


def test_a_folder_of_other_things_stays_as_it_is(tmp_path: Path) -> None:
    shared = tmp_path / "project"
    shared.mkdir()
    shared.chmod(0o755)
    (shared / "file").touch()
    with pytest.raises(ConfigError, match=r"project.*holds other things.*another cache directory"):
        DiskStore(shared)
    assert mode(shared) == 0o755
    assert names(shared) == ["file"]


def somebody_elses(tmp_path: Path) -> Path:
    if os.geteuid() != 0:
        return Path("/")
    folder = tmp_path / "theirs"
    folder.mkdir()
    os.chown(folder, 12345, 12345)
    return folder


def test_places_that_cannot_be_trusted_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "trap").mkdir()
    (tmp_path / "trap" / "cache.db").symlink_to(tmp_path / "file")
    for place, why in (
        (tmp_path / "file", "File exists"),
        (tmp_path / "dangling", "File exists"),
        (tmp_path / "trap", "cache.db in it is a link"),
        (tmp_path / "$PATH", "bears a variable's name"),
        (somebody_elses(tmp_path), "another user's"),
    ):
        for use in (DiskStore, empty):
            with pytest.raises(ConfigError, match="name another cache directory") as caught:
                use(place)
            assert why in str(caught.value)
            assert str(place) in str(caught.value)
    assert (tmp_path / "file").read_text() == "mine"


async def test_many_callers_are_answered_each_with_its_own(kind: Kind) -> None:
    async with kind.behind() as opened:
        store: Store = opened
        assert await store.get([]) == {}
        await asyncio.gather(*(store.put({f"{n}": f"text {n}", "last": "x"}) for n in range(600)))
        keys = [[f"{n}", f"{n + 1}", "absent"] for n in range(600)]
        found = await asyncio.gather(*(store.get(each) for each in keys))
    assert found[7] == {"7": "text 7", "8": "text 8"}
    assert found[599] == {"599": "text 599"}
    with kind.opened() as later:
        assert len(list(later.rows())) == 601
    if isinstance(later, DiskStore):
        assert names(later.directory) == ["cache.db"], "nobody has it open"


class Slow(DiskStore):
    """Tells when it is asked, and answers when it is let."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.asked, self.go = threading.Event(), threading.Event()

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        self.asked.set()
        self.go.wait(10)
        return super().get(keys)


async def test_who_is_given_up_before_its_look_up_leaves_no_error_behind(folder: Path) -> None:
    keeper = Slow(folder)
    async with BackgroundStore(lambda: keeper) as store:
        asking = [asyncio.create_task(store.get(["a"]))]
        await asyncio.to_thread(keeper.asked.wait, 10)
        asking += [asyncio.create_task(store.get(["b"]))]
        await asyncio.sleep(0)
        for each in asking:
            each.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert len(left) == 2, "a look-up for each"
        # While the store is being closed.
        asyncio.get_running_loop().call_later(0.05, keeper.go.set)
    await asyncio.wait(left)
    assert [each.exception() for each in left] == [None, None]


async def test_what_waits_for_another_process_stops_nobody_else(folder: Path) -> None:
    async with behind(folder) as store:
        await store.put({"known": "before"})
    async with behind(folder, durable=True) as store, behind(folder) as slow:
        with closing(sqlite3.connect(folder / "cache.db")) as other:
            other.execute("BEGIN IMMEDIATE")
            keeping = asyncio.create_task(store.put({"k": "kept"}))
            given_up = asyncio.create_task(store.put({"l": "kept, too"}))
            assert await store.get(["known", "k"]) == {"known": "before"}, "k does not count yet"
            given_up.cancel()
            with pytest.raises(asyncio.CancelledError):
                await given_up
            assert not keeping.done()
            await slow.put({"m": "in a moment"})
            assert await slow.get(["known", "m"]) == {"known": "before", "m": "in a moment"}
            many = [asyncio.create_task(slow.put({f"{n}": "x"})) for n in range(1000)]
            await slow.get(["n"])
            assert not all(task.done() for task in many), "memory stays bounded"
            other.rollback()
            await asyncio.gather(*many)
        await keeping
        assert await store.get(["m"]) == {"m": "in a moment"}
    with DiskStore(folder) as later:
        assert later.get(["l"]) == {"l": "kept, too"}, "what was paid for is not lost"


@pytest.mark.parametrize("durable", [False, True])
async def test_a_failure_is_raised_by_the_next_use_or_on_leaving(
    folder: Path, *, durable: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(store: BackgroundStore, *, otherwise: bool = False) -> None:
        async with store:
            await store.get(["k"])
            plant(folder, "DROP TABLE Cache")
            gets = (store.get(["k"]), store.get(["l"]))
            told = await asyncio.gather(*gets, return_exceptions=True)
            assert [type(each) for each in told] == [RunError, RunError]
            await store.put({"k": "secret"})
            if otherwise:
                raise KeyError("another")

    store = behind(folder, durable=durable)
    with pytest.raises(RunError, match="no such table") as caught:
        await fail(store)
    for use in (store.get(["k"]), store.put({"k": "v"})):
        with pytest.raises(UsageError, match="closed"):
            await use
    assert caplog.text == ""
    if not durable:
        with pytest.raises(KeyError, match="another"):
            await fail(behind(folder), otherwise=True)
        assert "no such table" in caplog.text
    assert "secret" not in str(caught.value) + caplog.text


BEHIND = """
import asyncio, sys
from functools import partial
from pathlib import Path
from judge.backends.store import BackgroundStore, DiskStore
async def main(folder, durable):
    disk = DiskStore(folder)
    opened = partial(DiskStore, folder, durable=durable)
    async with BackgroundStore(opened, durable=durable) as store:
        for number in range(100_000):
            await store.put({f"killed-{number}-{part}": "x" for part in range(3)})
            while not disk.get(["killed-0-0"]):  # the moment passes
                assert not durable
            print(number, flush=True)
asyncio.run(main(Path(sys.argv[1]), sys.argv[2] == "durable"))
"""


@pytest.mark.parametrize("how", ["durable", "behind"])
def test_kill_9_loses_the_last_moment_at_most(folder: Path, how: str) -> None:
    command = [sys.executable, "-c", BEHIND, str(folder), how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = [process.stdout.readline() for _ in range(20)]
        process.kill()
        told += process.stdout.read().split("\n")[:-1]
    last = int(told[-1])
    with DiskStore(folder) as store:
        keys = {key for key, _ in store.rows()}
    there = len(keys) // 3
    assert keys == written("killed", there), "all up to one, and each whole"
    assert (last + 1 if how == "durable" else 1) <= there <= last + 2


def transactions(folder: Path) -> int:
    """Frames of the write-ahead log that end one (https://sqlite.org/fileformat2.html#walformat)."""
    log = (folder / "cache.db-wal").read_bytes()
    size = 24 + int.from_bytes(log[8:12])
    frames = [log[at : at + 16] for at in range(32, len(log), size)]
    return sum(each[8:] == log[16:24] and any(each[4:8]) for each in frames)


async def test_what_many_answers_bring_shares_a_transaction(folder: Path) -> None:
    with DiskStore(folder) as other:  # whoever closes it last removes the log
        before = transactions(folder)
        async with behind(folder) as store:
            for number in range(640):
                await store.put({f"{number}": "text"})
        assert len(list(other.rows())) == 640
        # In twenty, and some more where the machine was busy for 50 ms.
        assert 1 <= transactions(folder) - before < 80


async def test_whatever_ends_a_run_all_is_kept(kind: Kind) -> None:
    async def end(by: type[BaseException]) -> None:
        async with kind.behind() as store:
            await store.put({by.__name__: "paid for"})
            raise by

    for error in (KeyError, KeyboardInterrupt, asyncio.CancelledError):
        with pytest.raises(error):
            await end(error)
    with kind.opened() as later:
        assert len(list(later.rows())) == 3


def test_a_folder_removed_meanwhile_is_begun_anew_and_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with DiskStore(tmp_path / "cache") as store:
        store.put({"a": "1"})
        shutil.rmtree(tmp_path / "cache")
        store.put({"b": "2"})
        store.put({"c": "3"})
        assert store.get(["a", "b", "c"]) == {"b": "2", "c": "3"}
    assert [record.getMessage().count("removed meanwhile") for record in caplog.records] == [1]
    with DiskStore(tmp_path / "cache") as store:
        assert dict(store.rows()) == {"b": "2", "c": "3"}

import asyncio
import gc
import os
import pickle
import sqlite3
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.backends.store.cache import BackgroundStore, DiskStore, empty
from judge.backends.store.redis import RedisStore
from judge.errors import JudgeError
from judge.protocols import Store


class Bomb:
    """Makes a folder when unpickled."""

    def __init__(self, crater: Path) -> None:
        self._crater = crater

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self._crater),)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


Opened = Callable[[], DiskStore | RedisStore]


@pytest.fixture(params=["disk", "redis"])
def opened(request: pytest.FixtureRequest, folder: Path) -> Opened:
    """Opens a store of each kind; each opening leads to the same texts."""
    if request.param == "disk":
        return partial(DiskStore, folder)
    return partial(RedisStore, request.getfixturevalue("redis").socket)


def plant(folder: Path, statement: str, *values: object) -> None:
    database = sqlite3.connect(folder / "cache.db")
    with database:
        database.execute(statement, values)
    database.close()


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def test_any_text_is_returned_unchanged(opened: Opened) -> None:
    with opened() as store:

        @given(st.dictionaries(st.text(), st.text(), max_size=4))
        def check(texts: dict[str, str]) -> None:
            store.put(texts)
            assert store.get(list(texts)) == texts

        check()
        store.put({"long": "很长" * 100_000, "a": "old"})
        store.put({"a": "new", "": ""})
    with opened() as again:
        assert again.get(["long", "absent"]) == {"long": "很长" * 100_000}
        assert again.get(["a", ""]) == {"a": "new", "": ""}
        assert again.get([]) == {}


def test_a_transaction_is_whole_or_absent(opened: Opened) -> None:
    with opened() as store:
        store.put({"before": "1"})
        with pytest.raises(UnicodeEncodeError):
            store.put({"a": "1", "b": "\ud800"})
        store.put({"after": "2"})
        assert store.get(["before", "a", "b", "after"]) == {"before": "1", "after": "2"}


def test_a_row_that_is_no_text_is_absent_and_not_unpickled(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    crater = tmp_path / "crater"
    bomb = pickle.dumps(["harmless", Bomb(crater)])
    DiskStore(folder).close()
    plant(folder, "INSERT INTO Cache(key, raw, mode, value) VALUES ('k', 1, 4, ?)", bomb)
    plant(folder, "INSERT INTO Cache(key, raw, mode, value) VALUES (?, 0, 1, 'harmless')", bomb)
    odd = [(1, 1, b"text"), (1, 1, 7), (1, 1, None), (1, 2, "text"), (0, 1, "text"), ("x", 1, "t")]
    for number, values in enumerate(odd):
        row = "INSERT INTO Cache(key, raw, mode, value) VALUES (?, ?, ?, ?)"
        plant(folder, row, f"{number}", *values)
    with DiskStore(folder) as store:
        assert store.get(["k", *map(str, range(len(odd)))]) == {}
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
    assert victim.read_text() == "secret"
    assert len(caplog.records) == 1
    assert "secret" not in caplog.text


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
    assert empty(folder) > 1_000
    assert names(folder) == ["notes"]
    with DiskStore(folder) as store:
        store.put({"k": "v"})


def test_a_run_goes_on_with_a_cache_that_is_emptied_beside_it(folder: Path) -> None:
    with DiskStore(folder) as running:
        running.put({"before": "1"})
        empty(folder)
        running.put({"after": "2"})
    with DiskStore(folder) as store:
        assert store.get(["before", "after"]) == {"after": "2"}


def test_a_new_folder_is_private_to_its_owner(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        DiskStore(tmp_path / "a" / "new").close()
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a" / "new").stat().st_mode) == 0o700


async def test_concurrent_callers_get_their_own_texts(opened: Opened) -> None:
    async with BackgroundStore(opened) as entered:
        store: Store = entered
        assert await store.get([]) == {}
        await asyncio.gather(*(store.put({f"{n}": f"text {n}", "last": "x"}) for n in range(600)))
        keys = [[f"{n}", f"{n + 1}", "absent"] for n in range(600)]
        found = await asyncio.gather(*(store.get(each) for each in keys))
    assert found[7] == {"7": "text 7", "8": "text 8"}
    assert found[599] == {"599": "text 599"}
    with opened() as later:
        assert len(later.get([f"{n}" for n in range(600)])) == 600
    if isinstance(later, DiskStore):
        assert names(later.directory) == ["cache.db"], "the database is closed"


async def test_a_cancelled_caller_leaves_no_look_up_behind(
    opened: Opened, caplog: pytest.LogCaptureFixture
) -> None:
    async with BackgroundStore(opened) as store:
        callers = [asyncio.create_task(store.get([f"{n}"])) for n in range(2)]
        await asyncio.sleep(0)
        callers.append(asyncio.create_task(store.get(["2"])))
        await asyncio.sleep(0)
        for caller in callers:
            caller.cancel()
        await asyncio.gather(*callers, return_exceptions=True)
    gc.collect()
    assert caplog.text == ""


async def test_texts_of_a_cancelled_caller_are_stored(opened: Opened) -> None:
    async with BackgroundStore(opened) as store:
        putting = asyncio.create_task(store.put({"key": "text"}))
        await asyncio.sleep(0)
        putting.cancel()
        await asyncio.gather(putting, return_exceptions=True)
    with opened() as later:
        assert later.get(["key"]) == {"key": "text"}

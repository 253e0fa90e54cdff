import os
import stat
from pathlib import Path

import pytest

from judge.backends.store import DiskStore, empty
from judge.errors import ConfigError


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_only_its_owner_enters_the_folder(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        DiskStore(tmp_path / "a" / "new").close()
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
    assert [path.name for path in shared.iterdir()] == ["file"]


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


def test_only_their_owner_reads_the_files(tmp_path: Path) -> None:
    names = ["cache.db", "cache.db-wal", "cache.db-shm"]
    before = os.umask(0)
    try:
        with DiskStore(tmp_path / "new") as store:
            store.put({"k": "v"})
            assert [mode(tmp_path / "new" / name) for name in names] == [0o600] * 3
            for name in names:
                (tmp_path / "new" / name).chmod(0o644)
            with DiskStore(tmp_path / "new") as second:  # of an earlier version's files
                assert second.get(["k"]) == {"k": "v"}
                assert [mode(tmp_path / "new" / name) for name in names] == [0o600] * 3
    finally:
        os.umask(before)

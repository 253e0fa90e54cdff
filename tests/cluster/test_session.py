"""How Ray is reached, or not; no Ray is started."""

import os
import signal
import socket
from unittest.mock import Mock

import pytest

pytest.importorskip("ray.data")
import ray
import ray.data
from ray.exceptions import (
    ActorDiedError,
    AuthenticationError,
    OwnerDiedError,
    RayTaskError,
    UserCodeException,
)

from judge.cluster import session
from judge.cluster.session import connected
from judge.errors import ConfigError, WorkerLost

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")


def test_who_takes_a_call_and_says_nothing_is_no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "_PATIENCE", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        address = f"127.0.0.1:{mute.getsockname()[1]}"
        with (
            pytest.raises(ConfigError, match=f"--address {address}: timed out"),
            connected(address),
        ):
            pass


class _Ray:
    """It hears signals itself; asked for the cluster near by, it finds a token in ~/.ray."""

    data = ray.data

    def init(self, address: str, **_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if address == "auto":
            os.environ["RAY_AUTH_MODE"] = "token"
        if address == "local":
            raise AuthenticationError("No token was found. To make one, see elsewhere.")

    def is_initialized(self) -> bool:
        return False

    def remote(self, _: object) -> "_Ray":
        return self

    def options(self, **_: object) -> Mock:
        return Mock()

    def get(self, _: object) -> None:
        """A worker of a cluster without one."""

    def shutdown(self) -> None: ...


def test_ray_is_kept_in_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(session, "ray", _Ray())
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    with connected("near"):
        assert signal.getsignal(signal.SIGTERM) is before
    with pytest.raises(ConfigError, match="set RAY_AUTH_MODE=disabled"), connected("auto"):
        pass
    with pytest.raises(ConfigError, match="cannot be started here: No token was found; RAY_TMPDIR"):
        connected("local").__enter__()
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    for error, kind in {
        RayTaskError("read", "", OwnerDiedError("", None, "")): WorkerLost,
        RayTaskError("read", "", KeyError("ours")): RayTaskError,
        RayTaskError("read", "", UserCodeException()): RayTaskError,
        ActorDiedError(): WorkerLost,
    }.items():
        with pytest.raises(kind), connected("near"):
            raise error

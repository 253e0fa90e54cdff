"""`judge serve`: the HTTP service."""

import asyncio
import os
import signal
from pathlib import Path

import typer

from judge.cli.app import SIGNALLED
from judge.cli.options import takes_options
from judge.config import SERVICE_TOKENS, Config
from judge.errors import extra


@takes_options
def serve(
    *,
    host: str = typer.Option("127.0.0.1", help="Address; other than loopback only with tokens."),
    port: int = typer.Option(8080, min=0, max=65535, help="Port; 0 for a free one."),
    data: Path = typer.Option(Path("batches"), metavar="DIR", help="The folder of the batches."),
    queue: int = typer.Option(256, min=0, metavar="N", help="Live requests that may wait."),
    running: int = typer.Option(2, min=1, metavar="N", help="Batches that are judged at a time."),
    max_body: float = typer.Option(16.0, min=0.001, metavar="MB", help="Size of a live request."),
    max_batch: float = typer.Option(4096.0, min=0.001, metavar="MB", help="Size of a batch."),
    allow_host: list[str] | None = typer.Option(
        None, metavar="NAME", help="Another name of the service, as of a proxy; may be repeated."
    ),
    settings: Config,
) -> None:
    """Serve HTTP: judge answers as they come, and whole files as batches.

    JUDGE_SERVICE_TOKENS lists the accepted tokens, as NAME:TOKEN or NAME:ROLE:TOKEN with
    commas between; the roles are read, write and admin. Without it, the service listens only at a
    loopback address. TLS is left to a proxy. On SIGTERM the service accepts no more connections,
    live requests end, batches stop and are resumed at the next start; exit code 0.

    A browser gets the list of batches at /, and from there their reports and a page to label on.
    judge/service/README.md says how to run the service under systemd and in a container.

    Example: judge serve --data batches --model gpt-5-mini
    """
    with extra("service", "the service"):
        from judge.service.app import application  # noqa: PLC0415
        from judge.service.app import serve as served  # noqa: PLC0415
        from judge.service.monitoring import LOG, log_json  # noqa: PLC0415
        from judge.service.requests import Limits, read_tokens  # noqa: PLC0415
    tokens = read_tokens(os.environ.get(SERVICE_TOKENS, ""))
    limits = Limits(queue, running, max_body, max_batch)
    app = application(settings, data, limits, tokens, host, allow_host or ())
    log_json()

    def started(url: str) -> None:
        LOG.info("serving", extra={"entry": {"url": url, "data": str(data)}})

    ended = asyncio.run(served(app, settings, host, port, started))
    if ended == signal.SIGINT:
        raise typer.Exit(SIGNALLED + ended)

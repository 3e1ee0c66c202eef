"""``hyperacuity warm``: compile kernels now, so that nothing waits for them later."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from hyperacuity.cli import common
from hyperacuity.cli.options import Json


def warm(
    steps: Annotated[
        list[str] | None, Argument(metavar="[WHAT]…", help="Such as boundary, edges, stereo (default: everything).")
    ] = None,
    workers: Annotated[
        int | None, Option(min=1, help="Parallel processes (default: one per processor).", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """Compile the kernels of benchmarks and detectors for this machine, in parallel processes.

    Otherwise each is compiled once, on first use. Compiled kernels are stored in the user's cache folder, or under
    NUMBA_CACHE_DIR: call this when you build a container or before many jobs start on one file system.

    Example: [bold]hyperacuity warm boundary edges[/bold]

    Example: [bold]NUMBA_CACHE_DIR=/opt/kernels hyperacuity warm[/bold]
    """
    import time

    from hyperacuity.evaluation.warming import warm_all
    from hyperacuity.kernels.caching import require_private_folder
    from hyperacuity.machine import cache_base

    require_private_folder()
    began = time.monotonic()
    with common.messages.status("compiling kernels for this machine"):
        done = warm_all(steps or (), workers)
    seconds = round(time.monotonic() - began, 1)
    if json:
        common.print_json({"warm": done, "seconds": seconds, "folder": cache_base()})
    else:
        common.results.print(f"kernels of {', '.join(done)} are ready in {cache_base()} ({seconds:g} s)", markup=False)

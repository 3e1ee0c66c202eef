"""``hyperacuity studio choose``: the two-alternative forced choice on trials of the audit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hyperacuity.cli import common
from hyperacuity.cli.studio_options import Browser, Host, Port, Token, open_page, require

if TYPE_CHECKING:
    from hyperacuity.studio.server import Address
    from hyperacuity.studio.state import State


def choose(
    trials: Annotated[
        Path,
        typer.Argument(
            metavar="TRIALS", help="Folder with trials.csv and key.csv, as hyperacuity audit --trials writes them."
        ),
    ],
    images: Annotated[Path, typer.Option(metavar="DIR", help="The photographs, named as in the trials.")],
    participants: Annotated[int, typer.Option(min=0, max=1000, help="Make sure of so many invitations.")] = 0,
    per_person: Annotated[
        int | None, typer.Option(min=1, help="Trials that each person is asked (default: all).", show_default=False)
    ] = None,
    practice: Annotated[int, typer.Option(min=0, max=20, help="Practice trials before the first.")] = 3,
    check_every: Annotated[int, typer.Option(min=2, help="One attention check in so many trials.")] = 20,
    break_every: Annotated[int, typer.Option(min=1, help="A break after so many trials.")] = 50,
    fixation: Annotated[float, typer.Option(min=0, max=5, help="Seconds of a cross before each trial.")] = 0.5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of orders and sides.")] = 0,
    state: Annotated[
        Path | None,
        typer.Option(help="File that keeps everything (default: TRIALS/studio.sqlite).", show_default=False),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the answers so far as CSV, and leave.", show_default=False),
    ] = None,
    host: Host = "127.0.0.1",
    port: Port = 0,
    token: Token = None,
    browser: Browser = True,
) -> None:
    """Ask people which of two pieces of boundary is stronger, a system's false alarm or a human label.

    Participants come by invitation links; nothing that they are sent tells which piece is whose. The page that opens is the
    experimenter's: it makes links and shows the risk as answers come in. After Hou, Yuille & Koch (2013), section 3.

    Example: [bold]hyperacuity studio choose trials --images photos --participants 5[/bold]
    """
    require()
    from hyperacuity.studio.choose.page import LAYOUT, Choose
    from hyperacuity.studio.choose.plan import Design
    from hyperacuity.studio.choose.trials import load_study
    from hyperacuity.studio.server import choose_token
    from hyperacuity.studio.state import State

    study = load_study(trials, images)
    with State(state or trials / "studio.sqlite", [LAYOUT]) as kept:
        design = Design(seed, per_person, practice, check_every)
        page = Choose(study, kept, design, break_every=break_every, fixation=fixation)
        if export is not None:
            _export(export, kept)
            return
        common.tell_failures((f"trial {name}", why) for name, why in study.failed.items())
        if len(study.obvious) < practice:
            common.warn(
                f"{len(study.obvious)} photographs have an answer plain enough for practice and attention checks"
            )
        invited = page.ensure_invitations(participants)
        remembered, port = before(kept, host, port)

        def tell(address: Address) -> None:
            remember_for_next_time(kept, address)
            for number, one in enumerate(invited, 1):
                common.messages.print(f"invitation {number}: {address.base}/take/{one}", markup=False, soft_wrap=True)

        own = choose_token(host, token or remembered, always=True)
        open_page(page.page, host=host, port=port, token=own, browser=browser, tell=tell)


def _export(path: Path, state: State) -> None:
    from hyperacuity.errors import UsageError
    from hyperacuity.studio.choose.results import all_answers, answer_table

    try:
        path.write_text(answer_table(state.read_now(all_answers)), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror})") from error
    common.messages.print(f"answers in {path}", markup=False)


def before(state: State, host: str, port: int) -> tuple[str | None, int]:
    """The experimenter's token and the port of last time, if it is free: links that were sent out stay good."""
    from hyperacuity.errors import UsageError
    from hyperacuity.studio.choose.plan import setting
    from hyperacuity.studio.server import listen

    token = state.read_now(lambda file: setting(file, "token"))
    last = state.read_now(lambda file: setting(file, "port"))
    if port == 0 and last is not None:
        try:
            listen(host, int(last)).close()
            port = int(last)
        except UsageError:
            common.warn(f"port {last}, which earlier invitations name, is taken: their links need another port now")
    return token, port


def remember_for_next_time(state: State, address: Address) -> None:
    """Keep what :func:`before` finds."""
    from hyperacuity.studio.choose.plan import remember

    port = address.base.rpartition(":")[2]
    state.write_now(lambda file: remember(file, "port", port))
    state.write_now(lambda file: remember(file, "token", address.token))

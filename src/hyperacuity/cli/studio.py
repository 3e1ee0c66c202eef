"""``hyperacuity studio``: pages where people label and judge, in the browser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from hyperacuity import small_files
from hyperacuity.cli import common
from hyperacuity.cli.options import Folder, grouped
from hyperacuity.errors import UsageError, not_installed
from hyperacuity.outputs import output_path

if TYPE_CHECKING:
    from hyperacuity.studio.image_page import ImagePage
    from hyperacuity.studio.server import Address
    from hyperacuity.studio.state import State
    from hyperacuity.studio.web import Page

app = typer.Typer(help="Pages where people label and judge, in the browser.", no_args_is_help=True)


class OrderStart(StrEnum):
    """Starting points of an order."""

    net = "net"


StateFile = Annotated[
    Path | None, Option(metavar="FILE", help="File that stores every action.", show_default="DIR/studio.sqlite")
]


Links = Annotated[
    bool, Option("--links", help="Print everyone's personal link, for those who have lost theirs, and exit.")
]


@dataclass(frozen=True)
class Server:
    """Options of a page's server."""

    host: Annotated[str, Option(help="Address to listen on; any but loopback lets other machines in.")] = "127.0.0.1"
    port: Annotated[int, Option(min=0, max=65535, help="Port to listen on (0: a free one).")] = 0
    token: Annotated[
        str | None,
        Option(
            envvar="HYPERACUITY_TOKEN",
            help="Token that visitors need (default: a new one). Other users of this machine can read what stands on a command "
            "line; the environment they cannot.",
        ),
    ] = None
    public_url: Annotated[
        str | None,
        Option(
            metavar="URL",
            help="Address under which an HTTPS proxy serves this: https://studio.example.org, or https://example.org/studio.",
        ),
    ] = None
    browser: Annotated[bool, Option("--browser/--no-browser", help="Open the page in the browser.")] = True

    def require(self) -> None:
        """Fail at once, not after images have been read, where packages are missing or the token is not valid."""
        try:
            import jinja2  # noqa: F401
            import starlette  # noqa: F401
            import uvicorn  # noqa: F401
        except ImportError as error:
            raise not_installed(f"the studio needs the package {error.name}", "studio") from error
        from hyperacuity.studio.server import choose_token, public_address

        choose_token(self.host, self.token)
        if self.public_url is not None:
            public_address(self.public_url)

    def serve_again(self, page: Page, state: State, name: str, announce: Callable[[Address], None]) -> None:
        """As :meth:`serve`, where the page ``name`` was served last if that is possible: people have saved their links."""
        from hyperacuity.studio.server import last_address, last_or_free, store_address

        last = last_address(state, name)
        token = self.token or (last.token if last else None)

        def store_and_announce(address: Address) -> None:
            store_address(state, name, address)
            announce(address)

        again = replace(self, port=last_or_free(self.host, self.port, last), token=token)
        again.serve(page, announce=store_and_announce)

    def serve(
        self,
        page: Page,
        *,
        announce: Callable[[Address], None] = lambda _: None,
        note: str = "Ctrl-C stops the server; everything is saved as it happens.",
    ) -> None:
        """Serve a page until Ctrl-C, having said where it is. Everyone needs a token: other users of a machine are others too."""
        from hyperacuity.studio.server import choose_token, is_loopback, public_address, serve

        public = None if self.public_url is None else public_address(self.public_url)
        if not is_loopback(self.host) and not (public or "").startswith("https:"):
            common.warn(
                "this page uses plain HTTP: anyone on the network path can read the token and change what is sent. "
                "Beyond a network that you trust, put it behind an HTTPS proxy and say where: --public-url https://…"
            )

        def say(address: Address) -> None:
            common.messages.print(f"{page.title}: {address.front}", markup=False, soft_wrap=True)
            announce(address)
            common.messages.print(note, markup=False)

        token = choose_token(self.host, self.token, always=True)
        serve(page, host=self.host, port=self.port, token=token, public=public, browser=self.browser, announce=say)
        common.messages.print("stopped", markup=False)


@app.command("choose")
@grouped
def choose(
    trials: Annotated[Path, Argument(metavar="TRIALS", help="What audit --trials wrote: trials.csv and key.csv.")],
    images: Annotated[Path, Folder(help="The photographs, named as in the trials.")],
    participants: Annotated[int, Option(min=0, max=1000, help="Have at least this many invitations.")] = 0,
    per_person: Annotated[int | None, Option(min=1, help="Trials that each person is asked (default: all).")] = None,
    practice: Annotated[int, Option(min=0, max=20, help="Practice trials before the first.")] = 3,
    check_every: Annotated[int, Option(min=2, help="One attention check in this many trials.")] = 20,
    break_every: Annotated[int, Option(min=1, help="A break after this many trials.")] = 50,
    fixation: Annotated[float, Option(min=0, max=5, help="Seconds of a cross before each trial.")] = 0.5,
    seed: Annotated[int, Option(min=0, help="Seed of orders and sides.")] = 0,
    state: Annotated[
        Path | None, Option(metavar="FILE", help="File that stores everything.", show_default="TRIALS/studio.sqlite")
    ] = None,
    consent: Annotated[
        Path | None,
        Option(metavar="FILE", help="Text that participants agree to first; empty lines separate paragraphs."),
    ] = None,
    ask: Annotated[
        list[str],
        Option(
            metavar="QUESTION",
            help='Ask participants about themselves: "Age", or with answers "Vision: normal | corrected"; may be repeated. '
            "They may skip it.",
        ),
    ] = [],  # noqa: B006 (never changed)
    completion_code: Annotated[
        str | None, Option(metavar="CODE|own", help="Code shown at the end: this one, or everyone their own.")
    ] = None,
    hasty: Annotated[float, Option(min=0, max=10, help="Flag answers faster than this many seconds.")] = 0.3,
    enlarge: Annotated[bool, Option("--enlarge", help="Show both pieces enlarged beside the photograph.")] = False,
    export: Annotated[Path | None, Option(metavar="FILE", help="Write the answers so far as CSV, and exit.")] = None,
    export_data: Annotated[
        Path | None, Folder(help="Write data.csv (a row per trial) and codebook.csv to this folder, and exit.")
    ] = None,
    *,
    server: Server,
) -> None:
    """Ask people which of two pieces of boundary is stronger, a system's false alarm or a human label.

    Participants come by invitation links; nothing that they are sent tells which piece is whose. The page that opens is the
    experimenter's: it creates links and shows the risk as answers come in. After Hou, Yuille & Koch (2013), section 3.

    Example: [bold]hyperacuity studio choose trials --images photos --participants 5[/bold]

    Example: [bold]hyperacuity studio choose trials --images photos --consent c.txt[/bold]

    Example: [bold]hyperacuity studio choose trials --images photos --export-data data[/bold]
    """
    server.require()
    from hyperacuity.studio.choose import plan, results
    from hyperacuity.studio.choose.long import export_long
    from hyperacuity.studio.choose.page import ChoosePage
    from hyperacuity.studio.choose.session import Session, read_question
    from hyperacuity.studio.choose.trials import load_study
    from hyperacuity.studio.state import State

    session = Session(
        consent=None if consent is None else read_text(consent),
        questions=tuple(map(read_question, ask)),
        completion=completion_code,
        hasty=hasty,
        enlarge=enlarge,
    )
    study = load_study(trials, images)
    with State(state or trials / "studio.sqlite", [plan.SCHEMA]) as opened:
        design = plan.Design(seed, per_person, practice, check_every)
        page = ChoosePage(study, opened, design, break_every=break_every, fixation=fixation, session=session)
        if export_data is not None:
            export_long(opened, common.output_folder(export_data), study, session)
            common.messages.print(f"data and codebook in {export_data}", markup=False)
            return
        if export is not None:
            results.export(opened, output_path(export))
            common.messages.print(f"answers in {export}", markup=False)
            return
        common.report_failures((f"trial {name}", why) for name, why in study.failed.items())
        if len(study.obvious) < practice:
            common.warn(
                f"{len(study.obvious)} photographs have an answer plain enough for practice and attention checks"
            )
        invitations = page.ensure_invitations(participants)

        def announce(address: Address) -> None:
            for number, one in enumerate(invitations, 1):
                line = f"invitation {number}: {address.base}/take/{one}"
                common.messages.print(line, markup=False, soft_wrap=True)

        server.serve_again(page.page, opened, "choose", announce)


@app.command("label")
@grouped
def label(
    images: Annotated[list[Path], Argument(metavar="IMAGES", help="Pictures, or folders of pictures.")],
    out: Annotated[Path, Folder("--out", help="Folder for edge maps, MAT files and provenance.")],
    candidates: Annotated[
        list[str],
        Option(
            metavar="gradient|DETECTOR|DIR",
            help="Source of candidates: the gradient, a detector by name (pb, gpb, net, …), or a folder of your own "
            "detector's soft maps; may be repeated.",
        ),
    ] = ["gradient"],  # noqa: B006 (never changed)
    state: StateFile = None,
    links: Links = False,
    *,
    server: Server,
) -> None:
    """Label edges: candidates of the masks [-1 0 1], or of a detector, from which people erase and to which they add.

    Everyone works under a name of their own. When someone is done with an image, DIR gets edges/ANNOTATOR/NAME.png (one pixel
    wide), groundTruth/NAME.mat (all annotators, as in BSDS) and provenance/ANNOTATOR/NAME.json. DIR/edges and DIR/groundTruth
    are truths for the commands edges and boundary. After Abdulrahman, Magnier & Montesinos (2017), section 3.1.

    Example: [bold]hyperacuity studio label photos --out labels[/bold]

    Example: [bold]hyperacuity studio label photos --out labels --candidates net[/bold]

    Example: [bold]hyperacuity studio label photos --out labels --candidates maps/mine[/bold]

    Example: [bold]hyperacuity studio label photos --out labels --links[/bold]
    """
    server.require()
    if links:
        print_links(state or out / "studio.sqlite", "label")
        return
    from hyperacuity.data.datasets.pairing import pictures_of
    from hyperacuity.studio.items import items_of
    from hyperacuity.studio.label.page import LabelPage
    from hyperacuity.studio.label.sources import sources_of

    sources = sources_of(candidates)
    items = items_of(pictures_of(images))
    folder = common.output_folder(out)
    serve_images(server, state or folder / "studio.sqlite", lambda opened: LabelPage(items, opened, folder, sources))


@app.command("order")
@grouped
def order(
    images: Annotated[Path, Argument(metavar="IMAGES", help="Folder of images.")],
    out: Annotated[Path, Folder("--out", help="Folder for the orders; created if missing.")],
    segmentation: Annotated[
        Path | None, Folder(help="Label maps, .seg, BSDS .mat or ucm2, by name; without, regions at a level to choose.")
    ] = None,
    annotator: Annotated[int, Option(min=1, metavar="N", help="Which segmentation, where an image has several.")] = 1,
    start: Annotated[
        OrderStart | None,
        Option(help="Start from an order to correct: the network's, and its regions unless others are given."),
    ] = None,
    level: Annotated[
        float | None,
        Option(
            min=0, max=1, help="Level of the network's regions to start with; higher has fewer.", show_default="0.25"
        ),
    ] = None,
    state: StateFile = None,
    links: Links = False,
    *,
    server: Server,
) -> None:
    """Order regions by depth: click them from near to far, or drag from a region to one behind it.

    Every action is stored as it happens. Done writes an order map and who owns which boundary; never a contradiction.

    DIR/order is a truth for the command ordering, with one annotator per person.

    Example: [bold]hyperacuity studio order photos --out orders[/bold]

    Example: [bold]hyperacuity studio order photos --segmentation labels --out o[/bold]

    Example: [bold]hyperacuity studio order photos --out orders --start net --level 0.3[/bold]
    """
    server.require()
    if level is not None and (start is None or segmentation is not None):
        raise UsageError("--level is for the regions of --start net, without --segmentation")
    if links:
        print_links(state or out / "studio.sqlite", "order")
        return
    from hyperacuity.detect.net.network import shipped
    from hyperacuity.studio.order.page import OrderPage
    from hyperacuity.studio.order.regions import find_inputs

    if start is not None:
        shipped()  # fail at once where onnxruntime is missing
    options = {} if level is None else {"level": level}
    inputs = find_inputs(images, segmentation, annotator=annotator, net=start is not None, **options)
    folder = common.output_folder(out)
    common.report_failures((inputs.items[item].title, why) for item, why in inputs.failed.items())
    serve_images(server, state or folder / "studio.sqlite", lambda opened: OrderPage(inputs, opened, folder))


def read_text(path: Path) -> str:
    """A text for people to read. ``UsageError`` for a file without any."""
    text = small_files.read_text(path, "the text that participants agree to, in UTF-8")
    if not text.strip():
        raise UsageError(f"{path}: is empty, expected the text that participants agree to")
    return text


def serve_images(server: Server, path: Path, make: Callable[[State], ImagePage]) -> None:
    """Write files of finished work that are missing or damaged, then serve a page on which people work through images."""
    from rich.progress import Progress

    from hyperacuity.studio import actions, people
    from hyperacuity.studio.state import State

    with State(path, [people.SCHEMA, actions.SCHEMA]) as opened:
        page = make(opened)
        with Progress(console=common.messages, transient=True, disable=not common.messages.is_terminal) as progress:
            failed = page.write_missing(partial(progress.track, description="finished work"))
        common.report_failures(failed)

        def announce(address: Address) -> None:
            link = page.overview.supervisor.link(address)
            common.messages.print(f"Overview, for you alone: {link}", markup=False, soft_wrap=True)

        server.serve_again(page.page, opened, page.NAME, announce)


def print_links(path: Path, name: str) -> None:
    """Print everyone's own link to the page ``name``, where it was served last."""
    from hyperacuity.studio.people import SCHEMA, People
    from hyperacuity.studio.server import last_address
    from hyperacuity.studio.state import State

    nobody = UsageError(f"{path}: nobody has worked here yet, so there are no links: start the studio without --links")
    if not path.is_file():
        raise nobody
    with State(path, [SCHEMA]) as state:
        address, everybody = last_address(state, name), People(state, name).everybody()
    if address is None or not everybody:
        raise nobody
    for person in everybody:
        common.results.print(f"{person.name}: {person.link(address)}", markup=False, soft_wrap=True)

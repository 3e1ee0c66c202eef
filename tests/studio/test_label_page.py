"""Labelling as a person does it: Chromium, a mouse, a keyboard, two fingers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

from hyperacuity.data import read_boundary_truths, read_edges, write_png
from hyperacuity.data.scenes import make_scene
from hyperacuity.edges import psi
from hyperacuity.studio import actions, people
from hyperacuity.studio.items import item_id, items_of
from hyperacuity.studio.label.log import read_log
from hyperacuity.studio.label.map import find_candidates
from hyperacuity.studio.label.page import LabelPage
from hyperacuity.studio.state import State

from .labelling import replay

pytestmark = pytest.mark.browser

SIZE = (240, 160)
EIGHT = np.ones((3, 3), bool)
DIGEST = "0" * 64


@pytest.fixture(scope="module")
def scene():
    return make_scene(2, size=SIZE, leaves=12)


@pytest.fixture(scope="module")
def photos(tmp_path_factory, scene):
    folder = tmp_path_factory.mktemp("photos")
    write_png(folder / "leaves.png", scene.image)
    step = np.zeros((40, 60), np.uint8)
    step[:, 30:] = 200
    step[:, 29] = 100
    write_png(folder / "step.png", step)
    (folder / "torn.png").write_bytes(b"\x89PNG\r\n\x1a\nnot any more")
    return folder


@pytest.fixture
def state(tmp_path):
    with State(tmp_path / "studio.sqlite", [people.SCHEMA, actions.SCHEMA]) as opened:
        yield opened


@pytest.fixture
def address(photos, state, tmp_path, live):
    return live(LabelPage(items_of(sorted(photos.iterdir())), state, tmp_path / "out").page).base


class Hand:
    """A person at the page of one image."""

    def __init__(self, tab, state, name, image):
        self.tab, self.state, self.item = tab, state, item_id(name)
        self.candidates = find_candidates(image)
        self.height, self.width = image.shape[:2]
        self.wait()

    def wait(self):
        self.tab.wait_for_selector("#stage[data-ready]")
        return self

    def at(self, pixel):
        """Where a pixel (row, column) lies on the screen while the whole image is shown."""
        box = self.tab.locator("#stage").bounding_box()
        scale = min(box["width"] / self.width, box["height"] / self.height) * 0.97
        left = box["x"] + (box["width"] - scale * self.width) / 2
        top = box["y"] + (box["height"] - scale * self.height) / 2
        return left + (pixel[1] + 0.5) * scale, top + (pixel[0] + 0.5) * scale

    def click(self, pixel):
        self.tab.mouse.click(*self.at(pixel))

    def drag(self, *pixels):
        self.tab.mouse.move(*self.at(pixels[0]))
        self.tab.mouse.down()
        for pixel in pixels[1:]:
            self.tab.mouse.move(*self.at(pixel))
        self.tab.mouse.up()

    def press(self, *keys):
        for key in keys:
            self.tab.keyboard.press(key)

    def saved(self):
        """The log, once the page says that all of it is saved."""
        self.tab.wait_for_selector("#saved[data-saved=true]")

        def look(file):
            found = file.execute("SELECT person, digest FROM log_summaries WHERE item = ?", (self.item,)).fetchone()
            who, digest = found or ("", DIGEST)
            return read_log(file, who, self.item, digest)

        return self.state.read_now(look)

    def edges(self):
        return replay(self.candidates, self.saved().actions)[0]

    def finish(self):
        self.press("d")
        self.tab.wait_for_selector("#finished[open]")
        return self.tab.text_content("#finished-text")


@pytest.fixture
def sit_down(address, state, visit, scene, photos):
    """``sit_down("Ada", "leaves")``: someone opens an image and says who they are."""
    from hyperacuity.data import read_image

    def go(who, name="leaves", **options):
        tab = visit(f"{address}/image/{item_id(name)}", **{"width": 1000, "height": 600} | options)
        if tab.locator("#name").count():
            tab.fill("#name", who)
            tab.keyboard.press("Enter")
        return Hand(tab, state, name, read_image(photos / f"{name}.png"))

    return go


def far_from(edges, distance):
    return ndimage.distance_transform_edt(~edges) > distance


def boxes_of_clutter(clutter, near_truth, *, fewest):
    """Rectangles (top, bottom, left, right) that hold clutter and nothing near the truth, those with the most first."""
    clutter, boxes = clutter.copy(), []
    while True:
        best = (fewest - 1, None)
        for row, column in np.argwhere(clutter)[::9]:
            box = [row, row + 1, column, column + 1]
            grown = True
            while grown:
                grown = False
                for side, step in ((0, -4), (1, 4), (2, -4), (3, 4)):
                    wider = box.copy()
                    wider[side] = int(np.clip(wider[side] + step, 0, clutter.shape[side // 2]))
                    if wider != box and not near_truth[wider[0] : wider[1], wider[2] : wider[3]].any():
                        box, grown = wider, True
            count = clutter[box[0] : box[1], box[2] : box[3]].sum()
            best = max(best, (count, box), key=lambda found: found[0])
        if best[1] is None:
            return boxes
        top, bottom, left, right = best[1]
        clutter[top:bottom, left:right] = False
        boxes.append(best[1])


def ways_along(mask, *, step, shortest):
    """Points along each connected piece of a thin mask, from one end to the other, some pixels apart."""
    pieces, count = ndimage.label(mask, EIGHT)
    for piece in range(1, count + 1):
        pixels = {tuple(pixel) for pixel in np.argwhere(pieces == piece)}
        if len(pixels) < shortest:
            continue
        way = walk(pixels, walk(pixels, min(pixels))[-1])
        yield [*way[:-1:step], way[-1]]


def walk(pixels, start):
    """The shortest way within a set of pixels from one to that farthest away."""
    came = {start: None}
    for pixel in (queue := [start]):
        for row, column in ((r, c) for r in (-1, 0, 1) for c in (-1, 0, 1)):
            beside = (pixel[0] + row, pixel[1] + column)
            if beside in pixels and beside not in came:
                came[beside] = pixel
                queue.append(beside)
    way = [queue[-1]]
    while came[way[-1]] is not None:
        way.append(came[way[-1]])
    return way[::-1]


def test_a_scene_can_be_labelled_precisely(sit_down, scene, tmp_path):
    truth = scene.boundaries
    near = ~far_from(truth, 1.5)
    hand = sit_down("Ada")
    tab = hand.tab
    scores = [psi(truth, hand.edges())]

    tab.focus("#threshold")
    hand.press("Home", *["PageUp"] * 3)
    assert hand.saved().actions[-1].kind == "threshold"
    tab.focus("#stage")
    hand.press("l")
    for top, bottom, left, right in boxes_of_clutter(hand.edges() & ~near, near, fewest=8):
        corners = [
            (top - 0.5, left - 0.5),
            (top - 0.5, right - 0.5),
            (bottom - 0.5, right - 0.5),
            (bottom - 0.5, left - 0.5),
        ]
        hand.drag(*corners, corners[0])
    scores.append(psi(truth, hand.edges()))

    tab.reload()  # in the middle of it
    hand.wait()
    assert tab.get_attribute("[data-tool=lasso]", "aria-pressed") == "true"
    hand.press("c")
    edges = hand.edges()
    pieces, count = ndimage.label(edges, EIGHT)
    tab.keyboard.down("Shift")
    for piece in range(1, count + 1):
        if not (near & (pieces == piece)).any():
            hand.click(np.argwhere(pieces == piece)[0])
    tab.keyboard.up("Shift")
    scores.append(psi(truth, hand.edges()))
    for step in (10, 5):  # the second time with a closer look
        hand.press("e")
        for way in ways_along(hand.edges() & ~near, step=1, shortest=1):
            hand.drag(*way)
        hand.press("p")
        for way in ways_along(truth & far_from(hand.edges(), 1.5), step=step, shortest=3):
            for point in way:
                hand.click(point)
            hand.press("Escape")
        scores.append(psi(truth, hand.edges()))
    drawn = hand.edges()

    text = hand.finish()
    written = read_edges(tmp_path / "out/edges/Ada/leaves.png")
    score = psi(truth, written)
    print([round(float(one), 4) for one in scores], score, len(hand.saved().actions), "actions")
    assert score < 0.05 < scores[0]
    assert {action.kind for action in hand.saved().actions} == {"threshold", "lasso", "chain", "erase", "path"}
    assert f"{written.sum()} edge pixels" in text
    assert f"Thinning removed {drawn.sum() - written.sum()} pixels." in text
    tab.wait_for_selector(f"#count-thinned:text-is('{drawn.sum() - written.sum():,}')")  # counted at a moment of rest


def test_many_steps_back_and_forth(sit_down, many):
    hand = sit_down("Ada", "step")
    hand.press("a")
    steps = many(30, 100)
    for i in range(steps + 5):
        hand.click((3 + 2 * (i // 10), 3 + 2 * (i % 10)))
    edges = hand.edges()
    assert len(hand.saved().actions) == steps + 5
    hand.press(*["z"] * steps)
    assert len(hand.saved().actions) == 5
    assert hand.edges().sum() == edges.sum() - steps
    hand.tab.reload()
    hand.wait()
    assert not hand.tab.is_disabled("#redo")
    hand.press(*["Control+Shift+Z"] * (steps // 2), *["Shift+Z"] * (steps // 2))
    assert np.array_equal(hand.edges(), edges)
    assert hand.tab.is_disabled("#redo")
    assert f"{steps + 5} pixels stand alone, the first at x 3, y 3." in hand.finish()
    hand.tab.click("text=Stay here")
    assert hand.tab.is_hidden("#finished")


def test_everything_can_be_done_from_the_keyboard(sit_down):
    hand = sit_down("Ada", "step")
    line = 29  # the grey column
    assert np.array_equal(np.unique(np.argwhere(hand.edges())[:, 1]), [line])
    hand.press("e", "ArrowLeft", "Enter")
    assert not hand.edges()[20, line]
    hand.press("z")
    assert hand.edges()[20, line]
    hand.press("c", "Enter")
    assert not hand.edges().any()

    hand.press(*["+"] * 8, "p", *["ArrowUp"] * 5, "Enter", "Shift+ArrowDown", "Enter", "Enter")
    assert np.argwhere(hand.edges()).tolist() == [[row, line] for row in range(15, 26)]
    hand.press("a", "Enter", *["ArrowRight"] * 3, "Enter")
    assert hand.edges()[25, 32]
    hand.press("l", "ArrowUp", "Enter", *["ArrowRight"] * 3, "Enter", *["ArrowDown"] * 3, "Enter")
    hand.press(*["ArrowLeft"] * 6, "Enter", "Enter")
    assert not hand.edges()[25, 32]
    assert hand.edges().sum() == 11, "the line lies outside of the lasso"

    hand.press("[", "[")
    assert hand.saved().actions[-1].kind == "threshold"
    for key, name in (("2", "gradient"), ("3", "plain"), ("1", "image")):
        hand.press(key)
        assert hand.tab.get_attribute(f"[data-background={name}]", "aria-pressed") == "true"
    hand.press("o")
    assert not hand.tab.is_checked("#overlay")
    hand.press("w")
    assert hand.tab.is_checked("#written")
    hand.press("?")
    assert hand.tab.is_visible("#help")
    hand.press("Escape")
    assert not hand.tab.is_visible("#help")
    hand.finish()
    assert hand.tab.inner_text("#finished-next:focus") == "Next image"
    hand.press("Enter")
    hand.tab.wait_for_url(f"**/{item_id('leaves')}")
    hand.wait().press("PageDown")
    hand.tab.wait_for_url(f"**/{item_id('step')}")
    hand.wait().press("PageUp")
    hand.tab.wait_for_url(f"**/{item_id('leaves')}")


def test_the_image_keeps_its_place_whatever_the_line_below_says(sit_down):
    hand = sit_down("Ada", "step")
    before = hand.tab.locator("#stage").bounding_box()
    said = set()
    for key in "mpaeckl":
        hand.press(key)
        said.add(hand.tab.inner_text("#where"))
        assert hand.tab.locator("#stage").bounding_box() == before
    assert max(map(len, said)) > 80, "which takes more than a line here"


def test_an_undone_piece_of_a_path_is_drawn_anew_from_its_beginning(sit_down):
    hand = sit_down("Ada", "step")
    hand.press("c")
    hand.click((20, 29))
    hand.press("p")
    for row in (5, 15, 25):
        hand.click((row, 29))
    assert np.argwhere(hand.edges())[[0, -1]].tolist() == [[5, 29], [25, 29]]
    hand.press("z")
    hand.click((20, 29))
    hand.press("Escape")
    hand.click((35, 29))
    assert np.argwhere(hand.edges())[[0, -1]].tolist() == [[5, 29], [20, 29]]
    assert [action.kind for action in hand.saved().actions] == ["chain", "path", "path"]


def test_two_people_work_on_one_image_at_once(sit_down, tmp_path):
    ada, grace = sit_down("Ada", "step"), sit_down("Grace", "step", width=390, height=844)
    for hand in (ada, grace):
        hand.press("p" if hand is ada else "c")
    ada.click((10, 10))
    grace.click((20, 29))
    ada.click((10, 20))
    for hand in (ada, grace):
        hand.tab.wait_for_selector("#saved[data-saved=true]")
    grace.press("a")
    grace.drag((5, 5), (5, 9))
    ada.finish()
    assert "done by Ada" in grace.tab.context.new_page().goto(grace.tab.url.split("/image")[0] + "/").text()
    grace.finish()
    first, second = read_boundary_truths([tmp_path / "out/groundTruth/step.mat"])
    assert np.argwhere(second).tolist() == [[5, column] for column in range(5, 10)]
    assert first[1:-1, 29].all()
    assert np.array_equal(first, read_edges(tmp_path / "out/edges/Ada/step.png"))


def test_a_second_window_is_stopped_before_it_overwrites_the_first(sit_down, visit):
    first = sit_down("Ada", "step", expected=("409",))
    second = Hand(
        visit(first.tab.url, context=first.tab.context, expected=("409",)),
        first.state,
        "step",
        np.zeros((40, 60), np.uint8),
    )
    for hand in (first, second):
        hand.press("a")
    first.click((3, 3))
    first.saved()
    second.click((30, 3))
    second.tab.wait_for_selector("#stopped[open]")
    assert "another window" in second.tab.text_content("#stopped-text")
    second.press("Escape")
    assert second.tab.is_visible("#stopped")
    second.tab.click("#reload")
    second.wait()
    second.press("a")
    second.click((30, 3))
    assert [action.runs for action in second.saved().actions] == [(3 * 60 + 3, 1), (30 * 60 + 3, 1)]


def test_a_server_that_goes_away_is_waited_for(sit_down):
    hand = sit_down("Ada", "step", expected=("ERR_FAILED", "Failed to load"))
    hand.tab.route("**/entries", lambda route: route.abort())
    hand.press("a")
    for column in (3, 5, 7):
        hand.click((3, column))
    hand.tab.wait_for_selector("#problem:visible")
    assert "Not saved yet" in hand.tab.text_content("#problem")
    assert hand.tab.text_content("#saved") == "Saving …"
    hand.tab.unroute("**/entries")
    assert len(hand.saved().actions) == 3
    assert hand.tab.is_hidden("#problem")


def test_wheel_fingers_and_space_move_and_zoom(sit_down):
    hand = sit_down("Ada", "step", has_touch=True)
    tab = hand.tab
    zoom = lambda: int(tab.text_content("#zoom").rstrip(" %"))  # noqa: E731
    whole = zoom()
    tab.mouse.move(*hand.at((20, 29)))
    tab.mouse.wheel(0, -600)
    tab.wait_for_function(f"parseInt(document.getElementById('zoom').textContent) > {2 * whole}")
    tab.mouse.move(*hand.at((20, 29)))
    assert "x 29, y 20" in tab.text_content("#where"), "the wheel zooms about the pointer"
    tab.keyboard.down("Space")
    x, y = hand.at((20, 29))
    tab.mouse.down()
    tab.mouse.move(x + 100, y)
    tab.mouse.up()
    tab.keyboard.up("Space")
    tab.mouse.move(x + 100, y)
    assert "x 29, y 20" in tab.text_content("#where"), "the image follows the hand"
    hand.press("0")
    assert zoom() == whole

    touch = tab.context.new_cdp_session(tab)

    def fingers(kind, *points):
        touch.send(
            "Input.dispatchTouchEvent",
            {"type": kind, "touchPoints": [{"x": x, "y": y, "id": i} for i, (x, y) in points]},
        )

    hand.press("c")
    x, y = hand.at((20, 29))
    fingers("touchStart", (0, (x, y)))
    fingers("touchEnd")
    assert [action.kind for action in hand.saved().actions] == ["chain"], "one finger uses the tool"
    hand.press("z")
    fingers("touchStart", (0, (x, y)))
    fingers("touchStart", (0, (x, y)), (1, (x + 50, y)))
    fingers("touchEnd")
    fingers("touchStart", (0, (x - 50, y)))
    fingers("touchStart", (0, (x - 50, y)), (1, (x + 50, y)))
    for far in (70, 100, 150):
        fingers("touchMove", (0, (x - far, y)), (1, (x + far, y)))
    fingers("touchEnd")
    tab.wait_for_function(f"parseInt(document.getElementById('zoom').textContent) > {2.5 * whole}")
    assert hand.saved().actions == (), "two fingers erase nothing"


def test_a_broken_image_is_named_and_passed_by(sit_down, address):
    hand = sit_down("Ada", "step", expected=("422",))
    tab = hand.tab
    tab.goto(f"{address}/image/{item_id('torn')}")
    assert "torn: is damaged" in tab.text_content(".failed")
    tab.goto(address)
    assert tab.locator("li", has_text="torn").locator(".failed").count() == 1
    tab.fill("#find", "le")
    assert tab.locator("#images li:visible").all_text_contents()[0].split()[0] == "leaves"
    tab.click("[data-state=done]")
    assert tab.is_visible("#none")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), pytest.param("dark", 390, marks=pytest.mark.repeat)])
def test_pages_have_no_serious_fault_of_access(sit_down, address, serious, scheme, width):
    hand = sit_down("Ada", "step", width=width, height=860, color_scheme=scheme)
    tab = hand.tab
    hand.press("a")
    hand.click((3, 3))
    hand.saved()
    assert serious(tab) == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tab.click("#help-open")
    assert serious(tab) == []
    hand.press("Escape")
    hand.finish()
    assert serious(tab) == []
    tab.goto(address)
    assert serious(tab) == []
    tab.click(".own summary")
    assert tab.input_value("#own-link").startswith(f"{address}/me/")
    assert serious(tab) == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tab.once("dialog", lambda asked: asked.dismiss())
    tab.click("#leave")
    assert tab.is_visible("#leave")
    tab.once("dialog", lambda asked: asked.accept())
    tab.click("#leave")
    tab.wait_for_selector("#name")

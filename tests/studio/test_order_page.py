"""Ordering as a person does it: by clicks, drags, fingers and keys, in a browser."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.data import read_order
from hyperacuity.data.scenes import make_scene, name_of, write_scenes
from hyperacuity.studio import actions, people
from hyperacuity.studio.items import item_id
from hyperacuity.studio.order.page import OrderPage
from hyperacuity.studio.order.regions import Regions, find_inputs, load_image, regions_at
from hyperacuity.studio.state import State

pytestmark = pytest.mark.browser

SEED, OPTIONS = 4, {"size": (240, 160), "leaves": 6, "annotators": 1}
NAME = name_of(SEED)


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scenes")
    write_scenes(folder, [SEED, 7], **OPTIONS)
    return folder


@pytest.fixture(scope="module")
def depths():
    """The regions of the scene, those of one sheet together, the nearest sheet first."""
    scene = make_scene(SEED, **OPTIONS)
    order = [int(scene.order[scene.labels == region][0]) for region in range(scene.labels.max() + 1)]
    return [[region for region, depth in enumerate(order) if depth == one] for one in sorted(set(order), reverse=True)]


@dataclass
class Desk:
    """Someone at the page: knows where regions are, and waits until what they did has been answered."""

    tab: Any
    regions: Regions
    version: int = field(default=0)

    def point(self, region: int) -> tuple[float, float]:
        """Where a region's anchor is in the window, while the whole picture is shown."""
        box = self.tab.locator("#stage").bounding_box()
        height, width = self.regions.labels.shape
        scale = min(box["width"] / width, box["height"] / height) * 0.985
        row, column = self.regions.anchors[region] + 0.5
        left, top = (box["width"] - width * scale) / 2, (box["height"] - height * scale) / 2
        return box["x"] + left + column * scale, box["y"] + top + row * scale

    def answered(self, actions: int = 1) -> None:
        self.version += actions
        self.tab.wait_for_selector(f'body[data-version="{self.version}"]')

    def click(self, region: int, *, tie: bool = False) -> None:
        if tie:
            self.tab.keyboard.down("Shift")
        self.tab.mouse.click(*self.point(region))
        if tie:
            self.tab.keyboard.up("Shift")
        self.answered()

    def drag(self, a: int, b: int, *, tie: bool = False) -> None:
        if tie:
            self.tab.keyboard.down("Shift")
        self.tab.mouse.move(*self.point(a))
        self.tab.mouse.down()
        self.tab.mouse.move(*self.point(b), steps=3)
        self.tab.mouse.up()
        if tie:
            self.tab.keyboard.up("Shift")
        self.answered()

    def press(self, *keys: str, actions: int = 0) -> None:
        for key in keys:
            self.tab.keyboard.press(key)
        if actions:
            self.answered(actions)

    def finish_anyway(self) -> None:
        self.tab.click("#done")
        self.tab.click("#finish-anyway")
        self.answered()

    def text(self, selector: str) -> str:
        return self.tab.locator(selector).inner_text()


@pytest.fixture
def sit(scenes, tmp_path, live, visit):
    """``sit(name)``: someone of that name at the page, with the scene before them. One server for all."""
    states: list[State] = []
    servers: dict[bool, Any] = {}

    def go(person: str = "Ada", *, hierarchy: bool = False, item: str = NAME, **options: Any) -> Desk:
        inputs = find_inputs(scenes / "images", None if hierarchy else scenes / "labels")
        if hierarchy not in servers:
            states.append(State(tmp_path / f"studio-{hierarchy}.sqlite", [actions.SCHEMA, people.SCHEMA]))
            servers[hierarchy] = live(OrderPage(inputs, states[-1], tmp_path / "out").page)
        address = servers[hierarchy]
        image = load_image(inputs, inputs.items[item_id(item)])
        tab = visit(f"{address.base}/items/{item_id(item)}", **options)
        if "context" not in options:  # else someone who is known already
            tab.fill("#name", person)
            tab.click("button:text-is('Start')")
        tab.wait_for_selector("body[data-version]")
        version = int(tab.locator("body").get_attribute("data-version"))
        return Desk(tab, regions_at(image, image.first), version)

    yield go
    for state in states:
        state.close()


def consistency(prediction: Path, scenes: Path) -> dict[str, Any]:
    """What ``hyperacuity ordering`` says of a folder of order maps."""
    result = CliRunner().invoke(app, ["ordering", str(prediction), str(scenes), "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)["systems"][prediction.name]


class TestOrdering:
    def test_clicks_from_near_to_far_order_a_scene_without_fault(self, sit, depths, scenes, tmp_path, serious):
        desk = sit("Ada")
        for regions in depths:
            for n, region in enumerate(regions):
                desk.click(region, tie=n > 0)
        assert desk.text("#share-pairs") == "100 %"
        desk.tab.click("#done")
        desk.answered()
        assert desk.text("#written") == "✓ done"
        score = consistency(tmp_path / "out/order/Ada", scenes)
        assert score["gdc"]["fmin"] == score["gdc"]["fmax"] == 1
        assert score["ldc"]["fmin"] == 1
        assert score["racc"] == score["bacc"] == 1
        assert serious(desk.tab) == []
        desk.tab.click("text=All images")
        assert f"● done: {desk.regions.count} of {desk.regions.count} regions" in desk.text(".items")
        assert serious(desk.tab) == []

    def test_done_says_what_is_missing_and_takes_it_on_purpose(self, sit, tmp_path, serious):
        desk = sit("Abe")
        count = desk.regions.count
        for region in (0, 1, 2):
            desk.click(region)
        desk.press("d")
        desk.tab.wait_for_selector("#incomplete[open]")
        assert desk.text("#incomplete-list") == f"{count - 3} of {count} regions have no order."
        assert serious(desk.tab) == []
        desk.press("Enter")  # on "Continue ordering"
        desk.click(3)
        assert not (tmp_path / "out/order/Abe").exists()
        desk.press("d")
        desk.tab.wait_for_selector("#incomplete[open]")
        desk.press("Tab", "Enter", actions=1)
        assert desk.text("#written") == "done, incomplete"
        told = json.loads((tmp_path / "out/provenance/Abe" / f"{NAME}.json").read_text())
        assert (told["complete"], len(told["missing"]["regions"])) == (False, count - 4)
        desk.tab.click("text=All images")
        assert f"● done, incomplete: 4 of {count} regions" in desk.text(".items")

    def test_drags_between_regions_order_a_scene_without_fault(self, sit, depths, scenes, tmp_path):
        desk = sit("Bea")
        for here, behind in zip(depths, [*depths[1:], None], strict=True):
            for region in here[1:]:
                desk.drag(here[0], region, tie=True)
            if behind:
                desk.drag(here[0], behind[0])
        assert desk.text("#share-pairs") == "100 %"
        desk.press("d", actions=1)
        score = consistency(tmp_path / "out/order/Bea", scenes)
        assert score["gdc"]["fmin"] == score["ldc"]["fmin"] == 1
        owners = read_order(tmp_path / "out/ownership/Bea" / f"{NAME}.npy")
        assert np.array_equal(np.nan_to_num(owners), make_scene(SEED, **OPTIONS).ownership)

    def test_keys_alone_will_do(self, sit, depths, scenes, tmp_path):
        desk = sit("Cid")
        flat = [(region, n > 0) for regions in depths for n, region in enumerate(regions)]
        at = -1
        for region, tie in flat:
            desk.press(*["n" if region > at else "p"] * abs(region - at))
            at = region
            desk.press("Shift+Enter" if tie else "Enter", actions=1)
        desk.press("d", actions=1)
        assert consistency(tmp_path / "out/order/Cid", scenes)["gdc"]["fmin"] == 1
        first = desk.regions.count - 1
        desk.press(*"n" * ((first - at) % desk.regions.count))
        assert desk.text("#spot").startswith(f"Region {first + 1} ·")
        desk.press("Delete", actions=1)
        assert "not ordered yet" in desk.text("#spot")
        desk.press("1", "Enter", actions=1)
        assert "position 1 in the list" in desk.text("#spot")
        desk.press("]", actions=1)
        assert "depth 2 · position 2" in desk.text("#spot")
        desk.press("f", "n", "Enter", actions=1)
        assert f"R{first + 1} in front of R1" in " ".join(desk.text("#pairs").split())
        desk.press("f", "n", "Shift+Enter", actions=1)
        desk.press("ArrowLeft", "ArrowUp", "Escape")

    def test_regions_can_be_put_in_between_and_moved(self, sit):
        desk = sit()
        for region in (0, 1, 2):
            desk.click(region)
        desk.press(",", ",")
        assert desk.text("#hint") == "The next click goes after position 1."
        desk.click(3)
        assert "depth 2 · position 2" in desk.text("#spot")
        desk.press("[", actions=1)
        assert "depth 1 · position 1" in desk.text("#spot")
        desk.tab.mouse.click(*desk.point(0))
        assert "position 1 in the list" in desk.text("#spot")
        desk.press(".")
        assert desk.text("#hint") == "The next click is position 4."
        desk.press("t")
        assert desk.text("#hint") == "The next click shares position 3."
        desk.press("u")
        assert desk.text("#spot").startswith("Region 5 · not ordered yet")
        desk.tab.click("#positions button >> nth=-1")
        assert desk.text("#spot").startswith("Region 3 ·")
        desk.press("t")

    def test_relations_are_changed_in_their_list_and_all_is_cleared(self, sit):
        desk = sit()
        desk.drag(4, 5)
        for button, words in (("Swap", "R6 in front of R5"), ("Same depth", "R5 at the same depth as R6")):
            desk.tab.click(f"#pairs [aria-label^='{button}']")
            desk.answered()
            assert words in " ".join(desk.text("#pairs").split())
        desk.tab.click("#pairs [aria-label^='Remove']")
        desk.answered()
        assert desk.tab.locator("#no-pairs").is_visible()
        desk.click(0)
        desk.tab.click("#clear")
        desk.answered()
        assert desk.text("#share-regions").startswith("0 /")

    def test_an_image_is_flagged_and_skipped_and_the_others_are_turned_to(self, sit, looks_well):
        desk = sit()
        other = f"**/items/{item_id(name_of(7))}"
        desk.press("!")
        desk.tab.wait_for_selector("#flag-dialog[open]")
        looks_well(desk.tab)
        desk.tab.click("#flag-dialog button[value='']")
        assert desk.tab.get_attribute("#flag", "aria-pressed") == "false"
        desk.tab.click("#flag")
        desk.tab.fill("#flag-note", "no regions to be seen")
        desk.tab.click("#flag-dialog button[value=flag]")
        desk.tab.wait_for_selector("#flag[aria-pressed=true]")
        desk.tab.click("#after")
        desk.tab.wait_for_url(other)
        desk.tab.wait_for_selector("body[data-version]")
        desk.tab.click("#before")
        desk.tab.wait_for_url(f"**/items/{item_id(NAME)}")
        desk.tab.wait_for_selector("body[data-version]")
        desk.tab.click("#flag")
        desk.tab.click("text=Flag and skip")
        desk.tab.wait_for_url(other)
        desk.tab.click("text=All images")
        assert "⚑ skipped: no regions to be seen" in desk.text(".items")
        looks_well(desk.tab)
        desk.tab.go_back()
        desk.tab.go_back()
        desk.tab.wait_for_selector("body[data-version]")
        desk.tab.click("#flag")
        desk.tab.click("#flag-remove")
        desk.tab.wait_for_selector("#flag[aria-pressed=false]")

    def test_fingers_will_do(self, sit, serious):
        desk = sit("Dot", width=390, height=844, has_touch=True)
        for region in (0, 1):
            desk.tab.touchscreen.tap(*desk.point(region))
            desk.answered()
        desk.tab.tap("#tie")
        desk.tab.touchscreen.tap(*desk.point(2))
        desk.answered()
        assert desk.text("#share-regions") == f"3 / {desk.regions.count}"
        assert desk.tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert serious(desk.tab) == []


class TestContradictions:
    def test_a_circle_is_named_at_once_and_not_written(self, sit, tmp_path, serious):
        desk = sit()
        desk.drag(0, 1)
        desk.drag(1, 2)
        desk.drag(2, 0, tie=True)
        assert desk.tab.locator("#conflict").is_visible()
        words = desk.text("#conflict-words")
        assert words == (
            "Region 1 was drawn in front of region 2, region 2 was drawn in front of region 3, "
            "but region 3 is at the same depth as region 1."
        )
        assert desk.tab.locator("#done").is_disabled()
        assert desk.text("#said").startswith("Contradiction: region 1")
        assert serious(desk.tab) == []
        desk.press("d")
        desk.tab.wait_for_selector("#problem:visible")
        assert "not written, because it contradicts itself" in desk.text("#problem")
        assert not (tmp_path / "out/order").exists()
        desk.tab.click("text=All images")
        assert "Contradiction" in desk.text(".items")
        desk.tab.go_back()
        desk.tab.click("#conflict-steps li:nth-child(3) button")
        desk.answered()
        assert desk.tab.locator("#conflict").is_hidden()
        desk.finish_anyway()
        assert (tmp_path / "out/order/Ada" / f"{NAME}.npy").exists()

    @pytest.fixture
    def visit(self, visit):
        """The refusal that these tests provoke is no complaint."""
        return lambda address, **options: visit(address, expected=("422",), **options)


class TestKeeping:
    def test_many_steps_are_undone_and_done_again(self, sit, many):
        desk = sit()
        desk.click(0)
        desk.click(1)
        steps = many(26, 100)
        desk.press(*"[]" * (steps // 2 - 1), actions=steps - 2)
        assert "position 2 in the list" in desk.text("#spot")
        desk.press("z", actions=1)
        assert "position 1 in the list" in desk.text("#spot")
        desk.press(*["Control+z"] * (steps - 1), actions=steps - 1)
        assert desk.tab.locator("#undo").is_disabled()
        assert desk.text("#share-regions") == f"0 / {desk.regions.count}"
        desk.press(*["Shift+Z"] * (steps // 2), *["Control+Shift+z"] * (steps - steps // 2), actions=steps)
        assert desk.tab.locator("#redo").is_disabled()
        assert desk.text("#share-regions") == f"2 / {desk.regions.count}"

    def test_reloading_in_the_middle_loses_nothing(self, sit, depths, scenes, tmp_path):
        desk = sit("Eve")
        flat = [(region, n > 0) for regions in depths for n, region in enumerate(regions)]
        for n, (region, tie) in enumerate(flat):
            if n in (1, len(flat) // 2):
                desk.tab.reload()
                desk.answered(0)
            desk.click(region, tie=tie)
        desk.tab.click("#done")
        desk.answered()
        assert consistency(tmp_path / "out/order/Eve", scenes)["gdc"]["fmin"] == 1

    def test_two_people_at_once_do_not_meet(self, sit, tmp_path):
        ada, bea = sit("Ada"), sit("Bea")
        for a, b in ((0, 1), (1, 2)):
            ada.drag(a, b)
            bea.drag(b, a)
        for desk in (ada, bea):
            desk.finish_anyway()
        first, second = (read_order(tmp_path / f"out/order/{name}/{NAME}.npy") for name in ("Ada", "Bea"))
        known = ~np.isnan(first)
        assert np.array_equal(first[known], 4 - second[known])

    def test_a_second_tab_is_refused_and_shows_how_it_stands(self, sit, visit):
        desk = sit("Ada", expected=("409",))
        other = sit("Ada", context=desk.tab.context, expected=("409",))
        desk.drag(0, 1)
        other.tab.mouse.click(*other.point(2))
        other.answered()
        assert "changed in another tab" in other.text("#problem")
        assert other.text("#pair-count") == "(1)"
        other.click(2)
        assert other.tab.locator("#problem").is_hidden()


class TestView:
    def test_a_drag_that_comes_back_or_ends_outside_says_nothing(self, sit):
        desk = sit()
        x, y = desk.point(0)
        for end in ((x, y), (2, 2)):
            desk.tab.mouse.move(x, y)
            desk.tab.mouse.down()
            desk.tab.mouse.move(*desk.point(1), steps=2)
            desk.tab.mouse.move(*end)
            desk.tab.mouse.up()
        desk.click(2)
        assert desk.text("#share-regions") == f"1 / {desk.regions.count}"

    def test_clicks_meet_their_region_when_zoomed_and_moved(self, sit):
        desk = sit()
        x, y = desk.point(3)
        desk.tab.mouse.move(x, y)
        desk.tab.mouse.wheel(0, -900)
        desk.tab.mouse.click(x, y)
        desk.answered()
        assert desk.text("#spot").startswith("Region 4 ·")
        desk.tab.click("#tool-move")
        desk.tab.mouse.move(x, y)
        desk.tab.mouse.down()
        desk.tab.mouse.move(x + 90, y - 60, steps=2)
        desk.tab.mouse.up()
        desk.tab.click("#tool-order")
        desk.tab.mouse.move(x + 90, y - 60)
        assert desk.text("#spot").startswith("Region 4 ·")
        desk.tab.click("#fit")
        views = [desk.tab.locator("#stage").screenshot()]
        for button in ("#in", "#out", "#fit"):
            desk.tab.click(button)
            views.append(desk.tab.locator("#stage").screenshot())
        assert views[1] != views[0] == views[3]
        desk.click(1)
        assert desk.text("#spot").startswith("Region 2 ·")

    def test_levels_change_live_until_ordering_has_begun_then_after_a_question(self, sit):
        desk = sit(hierarchy=True)
        first = desk.text("#level-words")
        desk.tab.locator("#level").focus()
        desk.press("ArrowRight", "ArrowRight", actions=2)
        chosen = desk.text("#level-words")
        assert chosen != first
        desk.press("Tab")
        desk.tab.locator("#stage").focus()
        desk.press("n", "Enter", actions=1)
        assert desk.tab.locator("#level").is_disabled()
        desk.tab.click("#level-change")
        desk.tab.click("text=Keep the level")
        assert desk.tab.locator("#level").is_disabled()
        desk.tab.click("#level-change")
        desk.tab.click("dialog button[value=yes]")
        desk.tab.wait_for_selector("#level:focus")
        desk.press("ArrowLeft", actions=1)
        assert desk.text("#share-regions").startswith("0 /")
        desk.press("Control+z", actions=1)
        assert desk.text("#level-words") == chosen
        assert desk.text("#share-regions").startswith("1 /")

    def test_help_can_be_opened_and_read_and_letters_switched_off(self, sit, serious):
        desk = sit()
        desk.press("?")
        assert desk.tab.locator("#help").is_visible()
        assert serious(desk.tab) == []
        desk.press("Escape")
        desk.click(0)
        whole = desk.tab.locator("#stage").screenshot()
        desk.press("+")
        assert desk.tab.locator("#stage").screenshot() != whole, "it is larger"
        desk.press("0", "c")
        assert desk.text("#look") == "View: photograph"
        desk.tab.click("#look")
        assert desk.text("#look") == "View: colours"
        desk.press("?")
        desk.tab.uncheck("#letters")
        desk.press("Escape", "z")
        assert desk.tab.locator("#redo").is_disabled(), "a letter does nothing"
        desk.press("Control+z", actions=1)
        desk.press("?")
        desk.tab.check("#letters")
        desk.press("Escape", "Shift+Z", actions=1)
        assert desk.text("#share-regions").startswith("1 /")
        desk.tab.click("text=All images")
        assert f"◐ started: 1 of {desk.regions.count} regions" in desk.text(".items")
        assert "○ not started" in desk.text(".items")
        assert desk.text("#leave") == "Switch user"
        desk.tab.go_back()
        desk.answered(0)
        desk.tab.click("#theme")
        desk.tab.click("#theme")
        assert serious(desk.tab) == []

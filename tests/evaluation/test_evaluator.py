"""An evaluator gives what ``tally`` and ``collect`` give, whatever the batches, threads and processes."""

from __future__ import annotations

import copy
import multiprocessing
import operator
import os
import pickle
import signal
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import hyperacuity as ha
from hyperacuity import boundary, tasks
from hyperacuity.errors import InputError, UsageError

from .conftest import inputs

TASKS = list(tasks.BUILT_IN)
truth = np.zeros((12, 16), bool)
truth[6] = True
soft = np.where(truth, np.float32(0.8), 0)


def same_scores(one, other):
    np.testing.assert_equal(_numbers(one), _numbers(other))


def _numbers(score):
    if hasattr(score, "__dataclass_fields__"):
        return {name: _numbers(getattr(score, name)) for name in score.__dataclass_fields__}
    if isinstance(score, dict):
        return {name: _numbers(value) for name, value in score.items()}
    several = isinstance(score, Sequence) and not isinstance(score, str)
    return [_numbers(value) for value in score] if several else score


@pytest.fixture(scope="module")
def samples():
    return {task: [inputs(task, seed) for seed in range(3)] for task in TASKS}


def judged(task, samples, **options):
    judge = ha.Evaluator(task, **options)
    for prediction, truths, extras in samples:
        judge.update(prediction, truths, **extras)
    return judge


@pytest.mark.parametrize("task", TASKS)
class TestEveryTask:
    def test_the_score_is_that_of_tally_and_collect(self, task, samples):
        known = tasks.task(task)
        judge = judged(task, samples[task])
        by_hand = {}
        for n, (prediction, truths, extras) in enumerate(samples[task], 1):
            truths = truths if isinstance(truths, list) else [truths]
            prediction = [prediction] if task == "regions" else prediction
            named = {"image": f"#{n}"} if known.by_name else {}
            by_hand[f"#{n}"] = known.tally(prediction, truths, known.protocol(), **extras, **named)
        assert judge.tallies == by_hand
        same_scores(judge.score(), known.collect(by_hand))
        criteria = known.criteria(known.protocol())
        values = criteria.rescore(list(by_hand.values()), np.ones((1, 3), np.int64))[0]
        expected = dict(zip(criteria.names, values.tolist(), strict=True))
        np.testing.assert_equal(judge.numbers(), {name: expected[name] for name in criteria.usual})

    def test_threads_change_nothing(self, task, samples):
        alone, threads = judged(task, samples[task]), judged(task, samples[task], workers=2)
        assert list(threads.tallies) == list(alone.tallies)
        assert threads.tallies == alone.tallies

    def test_shares_are_merged_after_a_journey(self, task, samples):
        whole = judged(task, samples[task])
        first, second = judged(task, samples[task][:2]), judged(task, samples[task][2:])
        joined = first.merge(pickle.loads(pickle.dumps(second)))  # noqa: S301
        assert joined is first
        if not tasks.task(task).by_name:  # what is drawn at random depends on the name that an image had
            assert joined.tallies == whole.tallies
        assert joined.signature == whole.signature

    def test_reset_forgets(self, task, samples):
        judge = judged(task, samples[task], workers=1)
        judge.reset()
        with pytest.raises(UsageError, match="no image was evaluated"):
            judge.score()
        judge.update(samples[task][0][0], samples[task][0][1], **samples[task][0][2])
        assert list(judge.tallies) == ["#1"]


def test_a_batch_is_its_images():
    one, batch = ha.Evaluator("boundary", thresholds=9), ha.Evaluator("boundary", thresholds=9)
    maps, truths = [soft, soft / 2, np.roll(soft, 1, axis=0)], [truth, np.roll(truth, 2, axis=0), truth]
    for prediction, of in zip(maps, truths, strict=True):
        one.update(prediction, of)
    batch.update(np.stack(maps)[:, None], np.stack(truths))
    assert batch.tallies == one.tallies


def test_masks_and_regions_of_a_batch_belong_to_its_images():
    samples = [inputs("disparity", seed) for seed in range(2)]
    one = judged("disparity", samples)
    batch = ha.Evaluator("disparity")
    masks = [extras["masks"] for *_, extras in samples]
    batch.update(np.stack([p for p, *_ in samples]), np.stack([t for _, t, _ in samples]), masks=masks)
    assert batch.tallies == one.tallies
    assert "masks:given" in str(one.signature)
    orders = [inputs("ordering", seed) for seed in range(2)]
    labels = [inputs("regions", seed)[1] for seed in range(2)]
    each, batch = ha.Evaluator("ordering"), ha.Evaluator("ordering")
    for (prediction, truths, _), regions in zip(orders, labels, strict=True):
        each.update(prediction, truths, regions=regions)
    batch.update([p for p, *_ in orders], [t for _, t, _ in orders], regions=labels)
    assert batch.tallies == each.tallies
    assert "regions:given" in str(each.signature)
    assert each.tallies != judged("ordering", orders).tallies


class TestNames:
    def test_images_are_numbered_or_called_by_their_names(self, watched):
        judge = ha.Evaluator("watched")
        judge.update(soft, truth)
        judge.update(soft, truth, name="goat")
        judge.update([soft, soft], [truth, truth], name=["a", "b"])
        judge.update([soft, soft], [truth, truth])
        assert list(judge.score()) == ["#1", "goat", "a", "b", "#5", "#6"]

    def test_a_name_is_given_once(self, watched):
        judge = ha.Evaluator("watched", workers=1)
        judge.update(soft, truth, name="goat")
        with pytest.raises(UsageError, match=r"^the image goat was judged already: give each image a name of its own"):
            judge.update(soft, truth, name="goat")
        with pytest.raises(UsageError, match=r"^the image a was judged already"):
            judge.update([soft, soft], [truth, truth], name=["a", "a"])
        with pytest.raises(UsageError, match=r"^there are 2 images but 1 names: expected one for each$"):
            judge.update([soft, soft], [truth, truth], name="both")
        assert list(judge.score()) == ["goat"]

    def test_ranks_that_share_an_image_count_it_once(self, watched):
        one, other = ha.Evaluator("watched"), ha.Evaluator("watched")
        one.update(soft, truth, name="100007")
        other.update([soft, soft], [truth, truth], name=["100007", "12003"])
        other.update(soft, truth)
        assert one.merge(other).score() == {"100007": 16, "12003": 16, "#3": 16}
        other.reset()
        other.update(np.ones_like(soft), truth, name="12003")
        with pytest.raises(UsageError, match=r"^the image 12003 was judged twice, with different counts"):
            one.merge(other)


class TestSharing:
    """Threads, processes and ranks may share the work, and every image counts once."""

    @pytest.mark.parametrize("workers", [None, 2])
    def test_unnamed_updates_of_several_threads_all_count(self, watched, workers):
        judge = ha.Evaluator("watched", workers=workers)
        watched.before = lambda prediction: time.sleep(0.002)

        def judged_by_one(_):
            for _ in range(10):
                judge.update(soft, truth)

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(judged_by_one, range(4)))
        assert judge.score() == {f"#{n}": 16 for n in range(1, 41)}

    def test_an_evaluator_is_not_merged_with_itself(self, watched):
        judge = ha.Evaluator("watched")
        judge.update(soft, truth)
        with pytest.raises(UsageError, match="merged with itself: its images would count twice"):
            judge.merge(judge)
        assert list(judge.tallies) == ["#1"]

    def test_ranks_that_pad_with_an_unnamed_image_are_refused(self, watched):
        """As a sampler does that gives two ranks equally many of three images: the first comes again at the end."""
        shares = [[0.2, 0.4], [0.6, 0.2]]
        ranks = [ha.Evaluator("watched", workers=w) for w in (None, 1)]
        for rank, values in zip(ranks, shares, strict=True):
            for value in values:
                rank.update(np.where(truth, np.float32(value), 0), truth)
        with pytest.raises(
            UsageError, match=r"image #1 here and image #2 there have the same arrays.* give images names"
        ):
            ranks[0].merge(pickle.loads(pickle.dumps(ranks[1])))  # noqa: S301
        assert len(ranks[0].tallies) == 2, "nothing was added"

    def test_the_same_share_is_merged_once(self, watched):
        one, other = ha.Evaluator("watched"), ha.Evaluator("watched")
        other.update(soft, truth)
        one.merge(other)
        with pytest.raises(UsageError, match="would count twice"):
            one.merge(other)

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
    @pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
    def test_a_fork_goes_on_with_what_was_judged(self, watched):
        judge = ha.Evaluator("watched", workers=2)
        watched.before = lambda prediction: time.sleep(0.05)
        for _ in range(3):
            judge.update(soft, truth)
        child = os.fork()
        if child == 0:
            signal.alarm(10)  # ends a child that hangs
            judge.update(soft, truth)
            os._exit(len(judge.tallies))
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 4
        judge.update([soft, soft], [truth, truth])
        assert len(judge.score()) == 5


class TestWorkers:
    def test_update_returns_at_once(self, watched):
        gate = threading.Event()
        watched.before = lambda prediction: gate.wait(10)
        judge = ha.Evaluator("watched", workers=2)
        judge.update([soft, soft, soft], [truth] * 3)
        assert not judge._tallies
        gate.set()
        assert judge.score() == {"#1": 16, "#2": 16, "#3": 16}

    def test_images_that_wait_are_not_many(self, watched, monkeypatch):
        monkeypatch.setattr("hyperacuity.evaluation.evaluator.WAITING", 3)
        judge = ha.Evaluator("watched", workers=1)
        for _ in range(20):
            judge.update(soft, truth)
            assert len(judge._waiting) <= 4
        assert len(judge.score()) == 20

    def test_arrays_may_be_overwritten_after_update(self, watched):
        gate = threading.Event()
        watched.before = lambda prediction: gate.wait(10)
        judge = ha.Evaluator("watched", workers=1)
        buffer = soft.copy()
        judge.update(buffer, truth)
        buffer[:] = 1
        gate.set()
        assert judge.score() == {"#1": 16}

    def test_without_workers_nothing_is_copied(self, watched):
        ha.Evaluator("watched").update(soft[None, None], truth)
        assert len(watched.calls) == 1
        assert np.shares_memory(watched.calls[0], soft)

    def test_an_error_comes_with_the_score_and_the_name_until_reset(self, watched):
        judge = ha.Evaluator("watched", workers=2)
        judge.update(soft, truth, name="good")
        judge.update(soft * 255, truth, name="goat")
        for _ in range(2):
            with pytest.raises(
                InputError, match=r"^image goat: prediction: values run from 0 to 204, .*divide by 255$"
            ):
                judge.score()
        judge.reset()
        judge.update(soft, truth)
        assert judge.score() == {"#1": 16}

    def test_there_is_at_least_one(self):
        with pytest.raises(UsageError, match=r"^cannot count with 0 workers: expected at least one"):
            ha.Evaluator("boundary", workers=0)


class TestBadInput:
    @pytest.mark.parametrize(
        ("prediction", "sentence"),
        [
            (soft * 255, r"^prediction: values run from 0 to 204, expected \[0, 1\]: divide by 255$"),
            (soft * 8 - 4, r"^prediction: values run from -4 to 2.4, expected \[0, 1\]: apply a sigmoid first"),
            (
                np.where(truth, np.nan, 0),
                r"^prediction: 16 of 192 values are NaN, expected numbers throughout: set them",
            ),
            (soft[:, :8], r"^prediction is 8×12 but truth is 16×12: they must have the same size, so crop or resize$"),
            (np.stack([soft] * 3)[None], r"^prediction: has shape 1×3×12×16, expected one channel N×1×H×W: choose one"),
        ],
    )
    def test_it_is_refused_in_a_sentence_that_says_the_cure(self, prediction, sentence):
        judge = ha.Evaluator("boundary", thresholds=9)
        with pytest.raises(InputError, match=sentence):
            judge.update(prediction, truth)
        assert judge.tallies == {}

    def test_of_a_bad_batch_nothing_is_counted(self):
        judge = ha.Evaluator("boundary", thresholds=9)
        with pytest.raises(InputError, match=r"^image 2 of 3: prediction: values run from 0 to 204"):
            judge.update([soft, soft * 255, soft], [truth] * 3)
        assert judge.tallies == {}
        judge.update(soft, truth)
        assert list(judge.tallies) == ["#1"]

    def test_the_benchmark_and_its_options_are_known(self):
        with pytest.raises(UsageError, match=r"^there is no benchmark 'bondary'; there are boundary, edges"):
            ha.Evaluator("bondary")
        with pytest.raises(UsageError, match=r"^boundary has no option 'thresold'; there are tolerance"):
            ha.Evaluator("boundary", thresold=9)
        with pytest.raises(UsageError, match=r"^there is no protocol 'nyu'; there are bsds, nyud"):
            ha.Evaluator("boundary", "nyu")
        with pytest.raises(UsageError, match=r"^the protocol is one of boundary, expected one of edges$"):
            ha.Evaluator("edges", boundary.Protocol())


def test_processes_join_their_shares():
    samples = [inputs("boundary", seed) for seed in range(3)]
    shares = [judged("boundary", samples[:2], thresholds=9), judged("boundary", samples[2:], thresholds=9, workers=1)]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        joined = pool.apply(operator.methodcaller("merge", shares[1]), (shares[0],))
    assert len(shares[0].tallies) == 2  # it was another process
    same_scores(joined.score(), judged("boundary", samples, thresholds=9).score())


def test_a_copy_goes_its_own_way(watched):
    judge = ha.Evaluator("watched", workers=1)
    judge.update(soft, truth)
    other = copy.deepcopy(judge)
    other.update(soft, truth)
    assert (len(judge.tallies), len(other.tallies)) == (1, 2)
    assert other.workers == 1


def test_a_call_gives_the_numbers_of_these_images_alone():
    truth = np.zeros((32, 32), bool)
    truth[16] = True
    judge = ha.Evaluator("boundary", thresholds=9)
    judge.update(truth.T * 0.8, truth)
    before = judge.numbers()
    assert judge([truth * 0.8, truth * 0.6], [truth, truth])["ods"] == 1
    assert judge.numbers() == before
    assert before["ods"] < 0.5

"""Step sizes of the chains' own."""

import numpy as np

from probmodel.adaptation.own_steps import (
    ON_ITS_WAY,
    PATIENCE,
    rescue,
    search,
    share,
    steer,
    whole_steps,
)


def test_search_finds_each_chains_decade():
    limits = np.array([2.0, 0.5, 3e-7, 2e-40])
    own = search(lambda steps: (steps <= limits).astype(float), 4)
    np.testing.assert_allclose(own.factor, [1.0, 0.1, 1e-7, 1e-40], rtol=1e-10)


def test_search_ends_where_nothing_is_accepted():
    assert (search(lambda steps: np.zeros(2), 2).factor > 0.0).all()


def test_steer_moves_each_chain_towards_its_target():
    own = steer(whole_steps(3), np.array([1.0, 0.5, 0.0]), 0.5)
    assert own.factor[0] > 1.0
    assert own.factor[1] == 1.0
    assert own.factor[2] < 1.0


def test_chain_on_its_way_is_noticed_and_forgotten():
    own = whole_steps(2)
    for _ in range(ON_ITS_WAY):
        assert not own.on_their_way
        own = steer(own, np.array([1.0, 0.5]), 0.574)
    assert own.on_their_way
    assert not steer(own, np.array([0.3, 0.5]), 0.574).on_their_way


def test_share_keeps_only_shorter_steps():
    own = whole_steps(3)._replace(factor=np.array([0.01, 1.5, 30.0]))
    np.testing.assert_allclose(share(own, 1.5).factor, [0.01 / 1.5, 1.0, 1.0])
    own = whole_steps(2)._replace(factor=np.array([0.25, 1.0]))
    np.testing.assert_allclose(share(own, 0.5).factor, [0.5, 1.0])
    np.testing.assert_allclose(share(own, 0.1).factor, [1.0, 1.0])


def test_patience_then_shorter_steps_until_the_chain_has_caught_up():
    own = whole_steps(2)
    accepted = np.array([False, True])
    for _ in range(PATIENCE - 1):
        own = rescue(own, accepted)
    assert own.whole.all()
    for _ in range(3):
        own = rescue(own, accepted)
    np.testing.assert_array_equal(own.factor, [0.125, 1.0])
    own = rescue(own, ~accepted)
    assert own.factor[0] == 0.25
    own = rescue(own, accepted)  # still lagging: no patience now
    assert own.factor[0] == 0.125
    for _ in range(3):
        own = rescue(own, np.array([True, True]))
    assert own.whole.all()

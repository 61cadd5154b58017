"""Machine code of hidden Markov models: log likelihoods of series and all their derivatives.

    e      log densities of what was seen, given each state               (stack, T, K)
    p, A   probabilities of the first state, and of the next in each row  (stack, K), (stack, K, K)
    a      probability of a state, given all that was seen so far         (T, K)
    w      probability of the state before, given a state and what was seen before  (T, K, K)

On the way forward, a_t[k] is sum_j a_t-1[j] A[j, k] times exp(e_t[k]), scaled to a sum of one; what
each j adds to the sum is w_t[j, k]. Back, with the posterior probabilities q of the states,
q_t-1[j] = sum_k w_t[j, k] q_t[k], no exponential is left to do.

If each state can follow each other, a probability that underflows would not have mattered: the
state may be entered anew. If one cannot, with a probability of zero in A, it may be that only what
underflowed explains the rest of the series. Then the way forward is on the scale of logarithms,

    l      log a, but for what is the same for all states                 (T, K)

with l_t[k] = log sum_j exp(l_t-1[j] + log A[j, k]) + e_t[k], which takes K times as many
exponentials.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from probmodel.compiler.control import INT
from probmodel.compiler.lanes import Mask
from probmodel.compiler.matrix_code import Reader, reader_of

if TYPE_CHECKING:
    from probmodel.compiler.emission import Emission
    from probmodel.compiler.symbols import Symbol

_POSSIBLE = 1e-100  # a probability in A from which on a state can follow another


class HiddenMarkovWriter:
    """Writes one operation: (stack, 1 + T K + K + K K), the value and the derivatives."""

    def __init__(self, emission: Emission, symbol: Symbol) -> None:
        self.e, self.b, self.symbol = emission, emission.b, symbol
        self._stack, self._times, self._states = symbol.args[0].shape
        K = self._states
        sizes = {"value": 1, "states": self._times * K, "initial": K, "transition": K * K}
        starts = np.cumsum([0, *sizes.values()])
        self._starts = dict(zip(sizes, map(int, starts[:-1]), strict=True))
        self._width = int(starts[-1])
        self._kept = emission.scratch(K * K * (self._times + 1))  # log A, then w

    def write(self) -> None:
        """Write it for each series of the stack."""
        densities, initial, transition = (reader_of(self.e, a) for a in self.symbol.args)
        with self.e.count_to(INT(self._stack)) as s:
            with self.b.if_else(self._impossible(s, transition)) as (some, none):
                with some:
                    self._by_logarithms(s, densities, initial, transition)
                with none:
                    self._by_probabilities(s, densities, initial, transition)
            if self._times > 1:
                with self.e.count_to(INT(self._times - 1), down=True) as t:
                    self._back(s, t)
            self._derivatives(s, initial, transition)

    def _impossible(self, s: Any, transition: Reader) -> Any:
        """Whether a state cannot follow another, in any chain."""
        e, b, K = self.e, self.b, INT(self._states)
        least = e.variable(np.inf)
        with e.count_to(K) as j, e.count_to(K) as k:
            probability = transition(s, j, k)
            self._put(s, "transition", self._at(j, k), e.splat(0.0))
            lower = b.fcmp_unordered("<", probability, b.load(least))  # or not a number
            b.store(b.select(lower, probability, b.load(least)), least)
        low = b.fcmp_unordered("<", b.load(least), e.splat(_POSSIBLE))
        return e.arithmetic.any(Mask(e.arithmetic, low))

    # -- forward, by probabilities -----------------------------------------------------------------

    def _by_probabilities(
        self, s: Any, densities: Reader, initial: Reader, transition: Reader
    ) -> None:
        e, K = self.e, INT(self._states)
        with e.count_to(K) as k:
            log = self.b.fadd(self._f("log", initial(s, INT(0), k)), densities(s, INT(0), k))
            self._put(s, "states", k, log)
        self._put(s, "value", INT(0), e.splat(0.0))
        self._see(s, INT(0), lambda k: self._get(s, "states", k), None)
        if self._times > 1:
            with e.count_to(INT(self._times), start=INT(1)) as t:
                self._follow(s, t, transition)
                self._see(
                    s, t, lambda k: densities(s, t, k),
                    lambda k: self._get(s, "states", self._at(t, k)),
                )  # fmt: skip

    def _follow(self, s: Any, t: Any, transition: Reader) -> None:
        """Keep the probabilities of the states, given what was seen before."""
        e, b, K, before = self.e, self.b, INT(self._states), self.b.sub(t, INT(1))
        with e.count_to(K) as k:
            total = e.variable(0.0)
            with e.count_to(K) as j:
                both = b.fmul(self._get(s, "states", self._at(before, j)), transition(s, j, k))
                self._keep(t, j, k, both)
                b.store(b.fadd(b.load(total), both), total)
            self._scale_kept(t, k, b.load(total))
            self._put(s, "states", self._at(t, k), b.load(total))

    def _see(
        self, s: Any, t: Any, log: Callable[[Any], Any], prior: Callable[[Any], Any] | None
    ) -> None:
        """Weigh the states by the density of what is seen; its logarithm goes to the value."""
        e, b, K = self.e, self.b, INT(self._states)
        top, total = self._largest(log), e.variable(0.0)
        with e.count_to(K) as k:
            part = self._f("exp", b.fsub(log(k), top))
            part = part if prior is None else b.fmul(part, prior(k))
            self._put(s, "states", self._at(t, k), part)
            b.store(b.fadd(b.load(total), part), total)
        self._scale_states(s, t, b.load(total))
        self._add_to_value(s, b.fadd(self._f("log", b.load(total)), top))

    # -- forward, by logarithms --------------------------------------------------------------------

    def _by_logarithms(
        self, s: Any, densities: Reader, initial: Reader, transition: Reader
    ) -> None:
        self._begin(s, densities, initial, transition)
        if self._times > 1:
            with self.e.count_to(INT(self._times), start=INT(1)) as t:
                self._forward(s, t, densities)
        self._end(s)

    def _begin(self, s: Any, densities: Reader, initial: Reader, transition: Reader) -> None:
        """Take logarithms of probabilities, and begin with the first time."""
        e, b, K = self.e, self.b, INT(self._states)
        with e.count_to(K) as j, e.count_to(K) as k:
            self._keep(INT(0), j, k, self._f("log", transition(s, j, k)))
        self._put(s, "value", INT(0), e.splat(0.0))
        with e.count_to(K) as k:
            log = b.fadd(self._f("log", initial(s, INT(0), k)), densities(s, INT(0), k))
            self._put(s, "states", k, log)
        self._level(s, INT(0))

    def _forward(self, s: Any, t: Any, densities: Reader) -> None:
        e, b, K = self.e, self.b, INT(self._states)
        with e.count_to(K) as k:
            largest, total = e.variable(-np.inf), e.variable(0.0)
            with e.count_to(K) as j:
                before = self._get(s, "states", self._at(b.sub(t, INT(1)), j))
                log = b.fadd(before, self._known(INT(0), j, k))
                self._keep(t, j, k, log)
                b.store(self._f("maximum", b.load(largest), log), largest)
            top = self._finite(b.load(largest))
            with e.count_to(K) as j:
                part = self._f("exp", b.fsub(self._known(t, j, k), top))
                self._keep(t, j, k, part)
                b.store(b.fadd(b.load(total), part), total)
            self._scale_kept(t, k, b.load(total))
            log = b.fadd(b.fadd(self._f("log", b.load(total)), top), densities(s, t, k))
            self._put(s, "states", self._at(t, k), log)
        self._level(s, t)

    def _level(self, s: Any, t: Any) -> None:
        """Take what is the same for all states out, into the value."""
        e, b, K = self.e, self.b, INT(self._states)
        top = self._largest(lambda k: self._get(s, "states", self._at(t, k)))
        with e.count_to(K) as k:
            log = b.fsub(self._get(s, "states", self._at(t, k)), top)
            self._put(s, "states", self._at(t, k), log)
        self._add_to_value(s, top)

    def _end(self, s: Any) -> None:
        """Add up the states of the last time; what each adds is its probability."""
        e, b, K, last = self.e, self.b, INT(self._states), INT(self._times - 1)
        total = e.variable(0.0)
        with e.count_to(K) as k:
            part = self._f("exp", self._get(s, "states", self._at(last, k)))
            self._put(s, "states", self._at(last, k), part)
            b.store(b.fadd(b.load(total), part), total)
        self._scale_states(s, last, b.load(total))
        self._add_to_value(s, self._f("log", b.load(total)))

    # -- back --------------------------------------------------------------------------------------

    def _back(self, s: Any, t: Any) -> None:
        """From the probabilities at the time after t to those at t."""
        e, b, K, after = self.e, self.b, INT(self._states), self.b.add(t, INT(1))
        with e.count_to(K) as j:
            total = e.variable(0.0)
            with e.count_to(K) as k:
                both = b.fmul(self._known(after, j, k), self._get(s, "states", self._at(after, k)))
                b.store(b.fadd(b.load(total), both), total)
                seen = self._get(s, "transition", self._at(j, k))
                self._put(s, "transition", self._at(j, k), b.fadd(seen, both))
            self._put(s, "states", self._at(t, j), b.load(total))

    def _derivatives(self, s: Any, initial: Reader, transition: Reader) -> None:
        """From derivatives in logarithms to those in probabilities."""
        e, b, K = self.e, self.b, INT(self._states)
        with e.count_to(K) as k:
            share = self._inverse(initial(s, INT(0), k))
            self._put(s, "initial", k, b.fmul(self._get(s, "states", k), share))
        with e.count_to(K) as j, e.count_to(K) as k:
            at = self._at(j, k)
            share = self._inverse(transition(s, j, k))
            self._put(s, "transition", at, b.fmul(self._get(s, "transition", at), share))

    # -- numbers -----------------------------------------------------------------------------------

    def _f(self, name: str, *args: Any) -> Any:
        return self.e.function_of_numbers(name, list(args))

    def _scale_kept(self, t: Any, k: Any, total: Any) -> None:
        """Divide what each state before adds to a state by what they add up to."""
        share = self._inverse(total)
        with self.e.count_to(INT(self._states)) as j:
            self._keep(t, j, k, self.b.fmul(self._known(t, j, k), share))

    def _scale_states(self, s: Any, t: Any, total: Any) -> None:
        """Divide the states at a time by what they add up to."""
        share = self._inverse(total)
        with self.e.count_to(INT(self._states)) as k:
            part = self.b.fmul(self._get(s, "states", self._at(t, k)), share)
            self._put(s, "states", self._at(t, k), part)

    def _add_to_value(self, s: Any, log: Any) -> None:
        self._put(s, "value", INT(0), self.b.fadd(self._get(s, "value", INT(0)), log))

    def _largest(self, log: Callable[[Any], Any]) -> Any:
        """Return the largest of a logarithm of each state; zero if all are minus infinity."""
        largest = self.e.variable(-np.inf)
        with self.e.count_to(INT(self._states)) as k:
            self.b.store(self._f("maximum", self.b.load(largest), log(k)), largest)
        return self._finite(self.b.load(largest))

    def _finite(self, x: Any) -> Any:
        """Return a number, or zero in place of minus infinity."""
        nothing = self.b.fcmp_ordered("==", x, self.e.splat(-np.inf))
        return self.b.select(nothing, self.e.splat(0.0), x)

    def _inverse(self, x: Any) -> Any:
        """Return the reciprocal, or zero of zero."""
        zero = self.b.fcmp_ordered("==", x, self.e.splat(0.0))
        return self.b.select(zero, self.e.splat(0.0), self._f("reciprocal", x))

    def _at(self, row: Any, k: Any) -> Any:
        return self.b.add(self.b.mul(row, INT(self._states)), k)

    def _place(self, s: Any, part: str, i: Any) -> Any:
        return self.b.add(self.b.mul(s, INT(self._width)), self.b.add(INT(self._starts[part]), i))

    def _get(self, s: Any, part: str, i: Any) -> Any:
        return self.e.get(self.symbol, self._place(s, part, i))

    def _put(self, s: Any, part: str, i: Any, value: Any) -> None:
        self.e.put(self.symbol, self._place(s, part, i), value)

    def _known(self, t: Any, j: Any, k: Any) -> Any:
        return self.e.load_at(self._kept, self._at(self._at(t, j), k))

    def _keep(self, t: Any, j: Any, k: Any, value: Any) -> None:
        self.e.store_at(self._kept, self._at(self._at(t, j), k), value)

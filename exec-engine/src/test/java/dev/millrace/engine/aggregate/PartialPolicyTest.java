package dev.millrace.engine.aggregate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.aggregate.partial.PartialGain;
import dev.millrace.engine.aggregate.partial.PartialLimit;
import org.junit.jupiter.api.Test;

/** When a first phase passes its groups on, and when it passes rows on instead. */
class PartialPolicyTest {
    @Test
    void groupsArePassedOnWhenThereAreAsManyAsTheLimit() {
        PartialLimit limit = new PartialLimit(10, 35);
        assertFalse(limit.isReached(100, 9));
        assertTrue(limit.isReached(1, 10));
    }

    @Test
    void theLimitGrowsWhileFewRowsComeTogether() {
        PartialLimit limit = new PartialLimit(10, 35);
        limit.isReached(39, 10);
        limit.passedOn(10); // fewer than four rows a group
        assertFalse(limit.isReached(0, 19));
        assertTrue(limit.isReached(80, 20));
        limit.passedOn(20); // four: enough
        assertTrue(limit.isReached(40, 20));
        limit.restart();
        limit.isReached(79, 20);
        limit.passedOn(20);
        assertFalse(limit.isReached(0, 34));
        assertTrue(limit.isReached(0, 35), "the greatest limit");
        limit.passedOn(35);
        assertTrue(limit.isReached(0, 35));
    }

    @Test
    void rowsBeforeTheLastTimeDoNotCount() {
        PartialLimit limit = new PartialLimit(10, 100);
        limit.isReached(1_000, 10);
        limit.passedOn(10);
        limit.isReached(39, 10);
        limit.passedOn(10);
        assertFalse(limit.isReached(0, 19), "39 rows only");
    }

    @Test
    void rowsArePassedOnForAWhileWhereMoreThanHalfAsManyWouldBe() {
        PartialGain gain = new PartialGain(10, 5);
        gain.in(9);
        gain.out(9);
        gain.emptied();
        assertFalse(gain.isPassing(), "not enough was seen");
        gain.in(1);
        gain.emptied();
        assertTrue(gain.isPassing());
        gain.in(4);
        gain.emptied();
        assertTrue(gain.isPassing());
        gain.in(1);
        assertFalse(gain.isPassing());
        gain.in(10);
        gain.out(5);
        gain.emptied();
        assertFalse(gain.isPassing(), "half is worth while");
        gain.in(10);
        gain.out(6);
        gain.emptied();
        assertTrue(gain.isPassing());
    }

    @Test
    void whatWasSeenBeforeIsForgotten() {
        PartialGain gain = new PartialGain(10, 5);
        gain.in(10);
        gain.out(5);
        gain.emptied();
        gain.in(10);
        gain.out(5);
        gain.emptied();
        assertFalse(gain.isPassing());
        gain.in(11);
        gain.out(6);
        gain.emptied();
        assertTrue(gain.isPassing());
        gain.in(5);
        gain.in(9);
        gain.out(9);
        gain.emptied();
        assertFalse(gain.isPassing(), "those passed on do not count");
    }

    @Test
    void usualLimitsAreLarge() {
        assertFalse(new PartialLimit().isReached(1, 4095));
        assertTrue(new PartialLimit().isReached(1, 4096));
        PartialGain gain = new PartialGain();
        gain.in((1 << 18) - 1);
        gain.out(1 << 18);
        gain.emptied();
        assertEquals(false, gain.isPassing());
        gain.in(1);
        gain.emptied();
        assertEquals(true, gain.isPassing());
        gain.in((1 << 23) - 1);
        assertEquals(true, gain.isPassing());
        gain.in(1);
        assertEquals(false, gain.isPassing());
    }
}

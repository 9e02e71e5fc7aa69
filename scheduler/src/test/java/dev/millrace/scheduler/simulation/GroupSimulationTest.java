package dev.millrace.scheduler.simulation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.scheduler.assignment.Rebalancing;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The shape of Pluto's Fig. 3.7, and that answers do not depend on where groups are. */
@Tag("long")
final class GroupSimulationTest {
    private static final Optional<Rebalancing> ON = Optional.of(Rebalancing.PLUTO);

    private static GroupResult run(double zipf, double memberZipf, double load, Optional<Rebalancing> rebalancing) {
        GroupSpec spec = new GroupSpec(500, 5_000, zipf, memberZipf, load, TimeUnit.MILLISECONDS.toNanos(1));
        return new GroupSimulation(8, spec, rebalancing, 7).run(TimeUnit.SECONDS.toNanos(30));
    }

    private static void assertSameAnswers(GroupResult off, GroupResult on) {
        assertEquals(off.latencyNanos().length, on.latencyNanos().length);
        assertEquals(off.digest(), on.digest());
    }

    @Test
    void oneSeedGivesOneRun() {
        assertArrayEquals(run(1, 0, .7, ON).latencyNanos(), run(1, 0, .7, ON).latencyNanos());
    }

    @Test
    void popularGroupsAreSplitAndTheTailIsOrdersOfMagnitudeShorter() {
        GroupResult off = run(1, 0, .8, Optional.empty());
        GroupResult on = run(1, 0, .8, ON);
        assertSameAnswers(off, on);
        assertTrue(on.splits() > 0 && on.moves() > 0, on.splits() + " splits, " + on.moves() + " moves");
        assertTrue(
                off.latencyNanos(.99) > 20 * on.latencyNanos(.99),
                off.latencyNanos(.99) / 1e6 + " ms without, " + on.latencyNanos(.99) / 1e6 + " ms with");
        assertTrue(on.latencyNanos(.99) < TimeUnit.SECONDS.toNanos(1));
    }

    @Test
    void groupsThatFitAreLeftAlone() {
        GroupResult off = run(0, 0, .5, Optional.empty());
        GroupResult on = run(0, 0, .5, ON);
        assertSameAnswers(off, on);
        assertEquals(0, on.splits());
    }

    @Test
    void membersThatDifferGiveTheSameAnswersToo() {
        for (double load : new double[] {.4, .8, 1.2}) {
            assertSameAnswers(run(1, 1, load, Optional.empty()), run(1, 1, load, ON));
        }
    }
}

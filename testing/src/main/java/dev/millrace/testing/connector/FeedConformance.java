package dev.millrace.testing.connector;

import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What each feed of a table holds to. A connector's test class extends it and supplies the outside, as of {@link SinkConformance}. {@code
 * -Dmillrace.conformance.lives=1000} has more random lives.
 */
public abstract class FeedConformance {
    private static final int LIVES = 3;
    private static final int FAULTY_LIVES = 20; // one is enough, as a rule

    /** An outside without rows, another with each call. */
    protected abstract FeedOutside outside();

    /**
     * The suite catches the feed when it has this fault, and not when it has none. For one test for the faults that a connector may have.
     */
    protected final void catches(FeedFault fault) {
        if (fault == FeedFault.NONE) {
            goesOn(fault, 1);
        } else {
            assertThrows(AssertionError.class, () -> {
                for (int seed = 1; seed <= FAULTY_LIVES; seed++) { // where it is stopped is left to chance
                    goesOn(fault, seed);
                }
            });
        }
    }

    private void goesOn(FeedFault fault, long seed) {
        try (FeedLives lives = new FeedLives(fault.in(outside()), seed).impatient(fault != FeedFault.NONE)) {
            if (fault == FeedFault.ACKNOWLEDGES_EARLY) {
                lives.goesOnAfterCrashes();
            } else {
                lives.goesOn();
            }
        }
    }

    static List<Long> seeds() {
        return LongStream.rangeClosed(1, Long.getLong("millrace.conformance.lives", 2))
                .boxed()
                .toList();
    }

    @ParameterizedTest(name = "seed = {0}")
    @MethodSource("seeds")
    void wheneverItIsKilledTheTableComesToBeThatOfTheOutside(long seed) {
        try (FeedLives lives = new FeedLives(outside(), seed)) {
            lives.live(LIVES);
        }
    }

    @Test
    void whatChangedWhileNobodyReadIsThereAndRowsAreReadAnewOnlyWhereThereIsNoPosition() {
        try (FeedLives lives = new FeedLives(outside(), 1)) {
            lives.goesOn();
        }
    }

    @Test
    void anOutsideThatIsAwayIsWaitedForAndNothingIsMissed() {
        FeedOutside outside = outside();
        try (FeedLives lives = new FeedLives(outside, 2)) {
            lives.change();
            lives.begin();
            lives.hasAll();
            lives.change();
            Assumptions.assumeTrue(outside.goes(), "this outside cannot go away");
            lives.crash();
            lives.begin(); // while it is away
            outside.comes();
            lives.hasAll();
            lives.change();
            lives.hasAll();
        }
    }
}

package dev.millrace.testing.connector;

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

    /** An outside without rows; called once in each test. */
    protected abstract FeedOutside outside();

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

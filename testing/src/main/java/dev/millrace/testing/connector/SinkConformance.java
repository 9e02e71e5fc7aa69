package dev.millrace.testing.connector;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.connector.PreparedRows;
import dev.millrace.error.MillraceException;
import dev.millrace.testing.memory.LeakCheck;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What each sink with {@code delivery = 'exactly_once'} holds to. A connector's test class extends it and supplies the outside:
 *
 * <pre>
 *   class MySinkConformanceTest extends SinkConformance {
 *       &#64;Override
 *       protected SinkOutside outside() { ... }    // empty, for this test alone
 *   }
 * </pre>
 *
 * {@code -Dmillrace.conformance.lives=1000} has more random lives.
 */
public abstract class SinkConformance {
    private static final int FAULTY_LIVES = 10;

    private static final int STEPS = 60;

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    @TempDir
    Path home;

    /** An outside that has nothing yet, another with each call. */
    protected abstract SinkOutside outside();

    /** The suite catches the sink when it has this fault, and not when it has none. For one test for all faults, of each connector. */
    protected final void catches(SinkFault fault) {
        boolean isFaulty = fault != SinkFault.NONE;
        Executable life = () -> {
            for (int seed = 1; seed <= (isFaulty ? FAULTY_LIVES : 1); seed++) { // one is enough, as a rule
                try (SinkLives lives = lives(fault.in(outside()), seed, "sink" + seed)) {
                    lives.goesOn(isFaulty);
                }
            }
        };
        if (isFaulty) {
            Throwable caught = assertThrows(Throwable.class, life);
            // by what is seen, or by the sink that finds that its outside is another
            assertTrue(caught instanceof AssertionError || caught instanceof MillraceException, caught::toString);
        } else {
            assertDoesNotThrow(life);
        }
    }

    private SinkLives lives(SinkOutside outside, long seed) {
        return lives(outside, seed, "sink");
    }

    private SinkLives lives(SinkOutside outside, long seed, String name) {
        String database = UUID.randomUUID().toString();
        return new SinkLives(outside, new TestSinkContext(memory.allocator(), database, home.resolve(name)), seed);
    }

    static List<Long> seeds() {
        long lives = Long.getLong("millrace.conformance.lives", 2);
        return LongStream.rangeClosed(1, lives).boxed().toList();
    }

    @ParameterizedTest(name = "seed = {0}")
    @MethodSource("seeds")
    void whateverIsKilledWhenEachRowIsSeenOnce(long seed) {
        try (SinkLives lives = lives(outside(), seed)) {
            lives.live(STEPS);
        }
    }

    @Test
    void nothingIsSeenBeforeItsCheckpointIsOnDisk() {
        SinkOutside outside = outside();
        try (SinkLives lives = lives(outside, 1)) {
            lives.begin();
            lives.write();
            lives.endEpoch();
            lives.showsNothingElse();
            lives.prepare();
            lives.staysSo();
            lives.crash();
            assertEquals(List.of(), outside.seen());
        }
    }

    @Test
    void whatWasPreparedForACheckpointThatCameToNothingIsSeenWithTheNext() {
        try (SinkLives lives = lives(outside(), 2)) {
            lives.begin();
            lives.write();
            lives.prepare();
            lives.write();
            lives.checkpoint();
            lives.showsAll();
        }
    }

    @Test
    void aCheckpointThatTheSinkDidNotHearOfIsShownAfterACrash() {
        try (SinkLives lives = lives(outside(), 3)) {
            lives.begin();
            lives.write();
            lives.isOnDisk(lives.prepare());
            lives.crash();
            lives.begin();
            lives.showsAll();
            lives.publish(); // again
            lives.write();
            lives.checkpoint();
            lives.publish();
            lives.showsAll();
        }
    }

    @Test
    void checkpointsWithoutRowsShowNothing() {
        try (SinkLives lives = lives(outside(), 4)) {
            lives.begin();
            lives.checkpoint();
            lives.showsAll();
            lives.crash();
            lives.begin();
            lives.checkpoint();
            lives.write();
            lives.checkpoint();
            lives.checkpoint();
            lives.showsAll();
        }
    }

    @Test
    void anOutsideThatIsAwayHoldsUpNoCheckpointAndGetsAllWhenItIsBack() {
        SinkOutside outside = outside();
        try (SinkLives lives = lives(outside, 5)) {
            lives.begin();
            lives.write();
            lives.checkpoint();
            lives.showsAll();
            Assumptions.assumeTrue(outside.goes(), "this outside cannot go away");
            lives.write();
            lives.checkpoint();
            lives.write();
            PreparedRows last = lives.prepare();
            lives.isOnDisk(last);
            lives.publish();
            lives.crash();
            lives.begin(); // while it is away
            lives.write();
            lives.checkpoint();
            outside.comes();
            lives.showsAll();
        }
    }
}

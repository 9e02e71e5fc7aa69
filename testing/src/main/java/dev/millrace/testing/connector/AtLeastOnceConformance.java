package dev.millrace.testing.connector;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.testing.memory.LeakCheck;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What each sink holds to that writes at least once: when an epoch is committed the outside has all of it, in its order; after a crash
 * rows come again that no checkpoint has, and no others; an outside that is away is waited for; what is refused fails the sink. A
 * connector's test class extends it and supplies the outside, as of {@link SinkConformance}. {@code -Dmillrace.conformance.lives=1000}
 * has more random lives.
 */
public abstract class AtLeastOnceConformance {
    private static final int STEPS = 40;

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    @TempDir
    Path home;

    /** An outside that has nothing yet, another with each call. */
    protected abstract AtLeastOnceOutside outside();

    /**
     * The suite catches the sink when it has this fault, and not when it has none. For one test for the faults that a connector may have.
     */
    protected final void catches(AtLeastOnceFault fault) {
        Executable life = () -> {
            try (AtLeastOnceLives lives = lives(fault.in(outside()), 1)) {
                lives.goesOn();
            }
        };
        if (fault == AtLeastOnceFault.NONE) {
            assertDoesNotThrow(life);
        } else {
            assertThrows(AssertionError.class, life);
        }
    }

    private AtLeastOnceLives lives(AtLeastOnceOutside outside, long seed) {
        TestSinkContext context =
                new TestSinkContext(memory.allocator(), UUID.randomUUID().toString(), home);
        return new AtLeastOnceLives(outside, context, seed);
    }

    static List<Long> seeds() {
        return LongStream.rangeClosed(1, Long.getLong("millrace.conformance.lives", 2))
                .boxed()
                .toList();
    }

    @ParameterizedTest(name = "seed = {0}")
    @MethodSource("seeds")
    void whateverIsKilledWhenEachRowComesInItsOrder(long seed) {
        try (AtLeastOnceLives lives = lives(outside(), seed)) {
            lives.live(STEPS);
        }
    }

    @Test
    void anOutsideThatIsAwayIsWaitedFor() {
        try (AtLeastOnceLives lives = lives(outside(), 1)) {
            lives.begin();
            lives.write();
            lives.checkpoint();
            lives.isWaitedFor();
            lives.checkpoint();
            lives.write();
            lives.isWaitedFor(); // by an epoch that has begun
            lives.crash();
            lives.begin();
            lives.write();
            lives.checkpoint();
        }
    }

    @Test
    void whoWaitsForAnOutsideGivesUpWhenItIsInterrupted() {
        try (AtLeastOnceLives lives = lives(outside(), 2)) {
            lives.begin();
            lives.isInterrupted();
            lives.write();
            lives.isInterrupted();
        }
    }

    @Test
    void whatIsRefusedFailsTheSinkAndComesWhenItIsAnother() {
        try (AtLeastOnceLives lives = lives(outside(), 3)) {
            lives.begin();
            lives.write();
            lives.isRefused();
        }
    }
}

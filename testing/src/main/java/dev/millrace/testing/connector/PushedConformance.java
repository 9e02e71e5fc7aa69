package dev.millrace.testing.connector;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.testing.memory.LeakCheck;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What each source holds to that others push records to, and that says when it has them. A connector's test class extends it and supplies the outside, as of {@link SinkConformance}. {@code
 * -Dmillrace.conformance.lives=1000} has more random lives.
 */
public abstract class PushedConformance {
    private static final int STEPS = 100;
    private static final int FAULTY_LIVES = 20; // one is enough, as a rule
    private static final int FAULTY_STEPS = 60;

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    /** An outside that has nothing yet, another with each call. */
    protected abstract PushedOutside outside();

    /** The suite catches the source when it has this fault, and not when it has none. For one test for the faults that a connector may have. */
    protected final void catches(PushedFault fault) {
        Executable lives = () -> {
            for (int seed = 1; seed <= FAULTY_LIVES; seed++) {
                try (PushedLives each = new PushedLives(outside(), memory.allocator(), seed, fault)) {
                    each.live(FAULTY_STEPS);
                }
            }
        };
        if (fault == PushedFault.NONE) {
            assertDoesNotThrow(lives);
        } else {
            assertThrows(AssertionError.class, lives);
        }
    }

    static List<Long> seeds() {
        return LongStream.rangeClosed(1, Long.getLong("millrace.conformance.lives", 2))
                .boxed()
                .toList();
    }

    @ParameterizedTest(name = "seed = {0}")
    @MethodSource("seeds")
    void wheneverItOrItsConnectionEndsNothingIsLost(long seed) {
        try (PushedLives lives = new PushedLives(outside(), memory.allocator(), seed)) {
            lives.live(STEPS);
        }
    }

    @Test
    void aPoisonRecordIsRejectedAndPassed() {
        PushedOutside outside = outside();
        try (PushedLives lives = new PushedLives(outside, memory.allocator(), 1)) {
            lives.beginFirst();
            lives.bring();
            outside.poison();
            lives.bring();
            lives.rejects(1);
            lives.hasAll();
        }
    }

    @Test
    void anOutsideThatIsAwayIsWaitedFor() {
        PushedOutside outside = outside();
        try (PushedLives lives = new PushedLives(outside, memory.allocator(), 2)) {
            lives.beginFirst();
            lives.bring();
            lives.hasAll();
            lives.bring();
            Assumptions.assumeTrue(outside.goes(), "this outside cannot go away");
            lives.crash();
            lives.begin(); // while it is away
            lives.poll();
            outside.comes();
            lives.isSubscribed();
            lives.bring();
            lives.hasAll();
        }
    }
}

package dev.millrace.testing.connector;

import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.testing.memory.LeakCheck;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What each source holds to that goes on from positions. A connector's test class extends it and supplies the outside, as of {@link SinkConformance}. {@code
 * -Dmillrace.conformance.lives=1000} has more random lives.
 */
public abstract class SourceConformance {
    private static final int STEPS = 80;
    private static final int FAULTY_LIVES = 20; // one is enough, as a rule
    private static final long MOST_HELD_BYTES = 64L << 20;

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    /** An outside that has nothing yet, another with each call. */
    protected abstract SourceOutside outside();

    /** The suite catches the source when it has this fault, and not when it has none. For one test for all faults, of each connector. */
    protected final void catches(SourceFault fault) {
        if (fault == SourceFault.NONE) {
            goesOn(fault, 1);
        } else {
            assertThrows(AssertionError.class, () -> {
                for (int seed = 1; seed <= FAULTY_LIVES; seed++) { // where it is stopped is left to chance
                    goesOn(fault, seed);
                }
            });
        }
    }

    private void goesOn(SourceFault fault, int seed) {
        try (SourceLives lives = lives(fault.in(outside()), seed).impatient(fault != SourceFault.NONE)) {
            lives.goesOn();
        }
    }

    private SourceLives lives(SourceOutside outside, long seed) {
        return new SourceLives(outside, memory.allocator(), seed);
    }

    static List<Long> seeds() {
        return LongStream.rangeClosed(1, Long.getLong("millrace.conformance.lives", 3))
                .boxed()
                .toList();
    }

    @ParameterizedTest(name = "seed = {0}")
    @MethodSource("seeds")
    void whereverItIsStoppedEachRowCountsOnce(long seed) {
        SourceOutside outside = outside();
        outside.append(0, 0);
        try (SourceLives lives = lives(outside, seed)) {
            lives.live(STEPS);
        }
    }

    @Test
    void aPoisonRecordIsRejectedAndPassed() {
        SourceOutside outside = outside();
        try (SourceLives lives = lives(outside, 1)) {
            lives.add();
            outside.poison();
            lives.add();
            lives.begin();
            lives.rejects(1);
            lives.givesAll();
        }
    }

    @Test
    void aNewSplitIsReadFromItsBeginning() {
        SourceOutside outside = outside();
        try (SourceLives lives = lives(outside, 2)) {
            lives.add();
            lives.begin();
            lives.givesAll();
            lives.keep();
            Assumptions.assumeTrue(outside.grows(), "this outside has one split for ever");
            lives.add();
            lives.givesAll();
            lives.crash();
            lives.begin(); // from before the split was there
            lives.givesAll();
            lives.keep();
            lives.add();
            lives.crash();
            lives.begin();
            lives.givesAll();
        }
    }

    @Test
    void anOutsideThatIsAwayIsWaitedFor() {
        SourceOutside outside = outside();
        try (SourceLives lives = lives(outside, 3)) {
            lives.add();
            lives.begin();
            lives.givesAll();
            lives.keep();
            lives.add();
            Assumptions.assumeTrue(outside.goes(), "this outside cannot go away");
            for (int times = 0; times < 50; times++) {
                lives.poll();
            }
            lives.crash();
            lives.begin(); // while it is away
            lives.poll();
            outside.comes();
            lives.givesAll();
        }
    }

    @Test
    void whatNobodyTakesIsNotHeld() {
        SourceOutside outside = outside();
        try (SourceLives lives = lives(outside, 4)) {
            for (int times = 0; times < 20; times++) {
                lives.add();
            }
            lives.begin();
            lives.holdsLittle(MOST_HELD_BYTES);
            lives.givesAll();
        }
    }
}

package dev.millrace.testing.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.connector.Source;
import dev.millrace.testing.memory.LeakCheck;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What each source holds to whose rows are all there when it is first read, and end: whoever reads it gets the same rows, each once,
 * however many readers share them and wherever they are stopped. A connector's test class extends it and supplies the source. {@code
 * -Dmillrace.conformance.lives=1000} has more random lives.
 */
public abstract class GivenSourceConformance {
    private static final int STEPS = 60;
    private static final int FAULTY_LIVES = 20; // one is enough, as a rule

    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    /** The source, of some hundred rows, as a process makes it: of the same rows each time. */
    protected abstract Source source();

    /** How many of its records become no row. */
    protected int rejected() {
        return 0;
    }

    /**
     * The suite catches the source when it has this fault, and not when it has none. For one test for the faults that a connector may
     * have.
     */
    protected final void catches(SourceFault fault) {
        if (fault == SourceFault.NONE) {
            live(fault, 1);
        } else {
            assertThrows(
                    Throwable.class,
                    () -> { // the suite's, or the source's own, which misses something
                        for (int seed = 1; seed <= FAULTY_LIVES; seed++) { // where it is stopped is left to chance
                            live(fault, seed);
                        }
                    });
        }
    }

    private void live(SourceFault fault, long seed) {
        try (GivenSourceLives lives =
                new GivenSourceLives(() -> fault.in(source()), this::source, memory.allocator(), seed)) {
            lives.live(STEPS);
        }
    }

    static List<Long> seeds() {
        return LongStream.rangeClosed(1, Long.getLong("millrace.conformance.lives", 4))
                .boxed()
                .toList();
    }

    @ParameterizedTest(name = "seed = {0}")
    @MethodSource("seeds")
    void whereverItIsStoppedEachRowCountsOnce(long seed) {
        live(SourceFault.NONE, seed);
    }

    @Test
    void whatIsNoRowIsRejected() {
        try (GivenSourceLives lives = new GivenSourceLives(this::source, this::source, memory.allocator(), 1)) {
            lives.begin();
            lives.givesAll();
            assertEquals(rejected(), lives.rejected());
        }
    }
}

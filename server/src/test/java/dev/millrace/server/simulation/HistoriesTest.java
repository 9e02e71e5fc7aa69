package dev.millrace.server.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.simulation.HistoryStep.Kind;
import dev.millrace.storage.simulation.DiskFault;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Whatever the disk does and whenever the process or the machine ends: what was answered is there, and what was not is there as a whole or
 * not at all; views have the answers of their queries, subscribers hear each change once.
 *
 * <p>{@code ./check --histories N [--seed S]} runs more. A failure gives its seed; that seed alone ({@code ./check --histories 1 --seed S})
 * is made smaller, and told statement by statement.
 */
@Tag("long")
class HistoriesTest {
    private static final int HISTORIES = Integer.getInteger("millrace.histories", 200);
    private static final long SEED = Long.getLong("millrace.histories.seed", 1);
    private static final int STEPS = Integer.getInteger("millrace.histories.steps", 80);
    private static final int ENOUGH = 200; // histories in which everything happens
    private static final int SHOWN_EVERY = 500;

    private final List<Logger> loggers =
            List.of(Logger.getLogger("dev.millrace"), Logger.getLogger("org.apache.arrow"));

    /** What a process that ends says of it, and of the memory that it leaves, is of no interest. */
    @BeforeEach
    void logNothing() {
        loggers.forEach(logger -> logger.setLevel(Level.OFF));
    }

    @AfterEach
    void log() {
        loggers.forEach(logger -> logger.setLevel(null));
    }

    private static Optional<Throwable> failure(History history, List<HistoryStep> script) {
        try {
            history.run(script);
            return Optional.empty();
        } catch (AssertionError | RuntimeException e) {
            return Optional.of(e);
        }
    }

    @Test
    void whateverHappensTheDatabaseHasWhatItAnswered() {
        Map<DiskFault, Integer> faults = new EnumMap<>(DiskFault.class);
        Map<String, Integer> seen = new TreeMap<>();
        for (long seed = SEED; seed < SEED + HISTORIES; seed++) {
            History history = new History(seed, line -> {});
            List<HistoryStep> script = HistoryStep.script(seed, STEPS);
            Optional<Throwable> failure = failure(history, script);
            if (failure.isPresent()) {
                if (HISTORIES == 1) {
                    tellSmaller(seed, script);
                }
                throw new AssertionError("histories: seed " + seed + ": " + failure.get(), failure.get());
            }
            history.faults().forEach((fault, times) -> faults.merge(fault, times, Integer::sum));
            history.seen().forEach((what, times) -> seen.merge(what, times, Integer::sum));
            long done = seed - SEED + 1;
            if (done % SHOWN_EVERY == 0) {
                System.out.println("histories: " + done + " of " + HISTORIES);
            }
        }
        System.out.println("histories: " + HISTORIES + " from seed " + SEED + ", " + faults + ", " + seen);
        if (HISTORIES >= ENOUGH) {
            Set<DiskFault> missing = EnumSet.complementOf(EnumSet.copyOf(faults.keySet()));
            missing.remove(DiskFault.REORDERED_WRITE); // one in a hundred histories; the log's own have it
            assertEquals(Set.of(), missing);
            Set<String> wanted = Set.of(
                    "closed",
                    "crash",
                    "killed while opening",
                    "machine stopped",
                    "process killed",
                    "could not open",
                    "changes without an answer gone",
                    "accepted though cancelled",
                    "transaction over several relations done",
                    "subscriber heard all",
                    "change told",
                    "change told again",
                    "acknowledged",
                    "durable subscription read",
                    "inserted while a checkpoint was written",
                    "late rows counted",
                    "no row was late",
                    "view stopped by a row",
                    "view that shares what runs it, with rows",
                    "table read that somebody was told of",
                    "past of a stream read",
                    "rows of a derived stream compared",
                    "streams maintained",
                    "row printed",
                    "row printed again",
                    "secret kept",
                    "setting kept",
                    "directory of an earlier version",
                    "answer of DuckDB",
                    "CHECKPOINT done",
                    "REPROCESS done",
                    "replaced",
                    "replaced after a crash",
                    "crash while the past was read",
                    "not replaced yet",
                    "must not be replaced",
                    "ALTER done",
                    "RESUME done",
                    "INSERT dead",
                    "INSERT 57014",
                    "INSERT 58030");
            assertTrue(seen.keySet().containsAll(wanted), seen.toString());
        }
    }

    private static void tellSmaller(long seed, List<HistoryStep> script) {
        List<HistoryStep> smaller = SmallerHistory.of(
                script, tried -> failure(new History(seed, line -> {}), tried).isPresent());
        Consumer<String> out = line -> System.out.println("histories: " + line);
        out.accept(smaller.size() + " of " + script.size() + " steps fail as well: "
                + smaller.stream().map(HistoryStep::kind).toList());
        failure(new History(seed, out), smaller).ifPresent(failure -> out.accept(failure.toString()));
    }

    @Test
    void aSeedIsTheSameHistoryEachTime() {
        for (long seed = 1; seed <= 5; seed++) {
            long first = checksum(seed);
            assertEquals(first, checksum(seed), "seed " + seed);
            assertNotEquals(first, checksum(seed + 100));
        }
    }

    private static long checksum(long seed) {
        History history = new History(seed, line -> {});
        history.run(HistoryStep.script(seed, STEPS));
        return history.traceChecksum();
    }

    @Test
    void aScriptIsMadeSmallerAsLongAsItFails() {
        List<HistoryStep> smaller = SmallerHistory.of(HistoryStep.script(3, 400), script -> {
            List<Kind> kinds = script.stream().map(HistoryStep::kind).toList();
            return kinds.contains(Kind.CHECKPOINT) && kinds.lastIndexOf(Kind.CRASH) > kinds.indexOf(Kind.CHECKPOINT);
        });
        assertEquals(
                List.of(Kind.CHECKPOINT, Kind.CRASH),
                smaller.stream().map(HistoryStep::kind).toList());
    }
}

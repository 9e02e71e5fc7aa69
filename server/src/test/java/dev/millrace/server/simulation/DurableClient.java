package dev.millrace.server.simulation;

import dev.millrace.batch.Batch;
import dev.millrace.engine.subscription.EpochChanges;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.TreeMap;

/**
 * Who reads a durable subscription, and outlives the process that it reads from: what it was told behind what it acknowledged. An epoch
 * that it was told and did not acknowledge must be told again as it was; one that it acknowledged must not.
 */
final class DurableClient {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSSSSS'+00'").withZone(ZoneOffset.UTC);

    /** What one epoch changed: rows as text, and how often each comes, or goes. */
    private record Told(long micros, Map<String, Integer> changes) {}

    private final List<Told> told = new ArrayList<>(); // behind what is acknowledged
    private final TreeMap<String, Integer> acknowledged = new TreeMap<>(); // the answer as of then
    private OptionalLong acknowledgedMicros = OptionalLong.empty(); // unknown until it is looked up
    private OptionalLong perhapsMicros = OptionalLong.empty(); // what was acknowledged without an answer
    private int again; // epochs in the midst of a reading that were told before

    /** @param answer when the subscription was made */
    DurableClient(List<String> answer) {
        answer.forEach(row -> acknowledged.merge(row, 1, Integer::sum));
    }

    /** When the newest epoch was that it was told; none where it was told nothing that is not acknowledged. */
    OptionalLong seenMicros() {
        return told.isEmpty()
                ? OptionalLong.empty()
                : OptionalLong.of(told.get(told.size() - 1).micros());
    }

    /** The time of some epoch that it was told; none where there is none. */
    OptionalLong anyMicros(Random random) {
        return told.isEmpty()
                ? OptionalLong.empty()
                : OptionalLong.of(told.get(random.nextInt(told.size())).micros());
    }

    static String literal(long micros) {
        return "'" + TIME.format(Instant.EPOCH.plus(micros, ChronoUnit.MICROS)) + "'";
    }

    /** It is about to acknowledge all up to a time. */
    void acknowledges(long micros) {
        perhapsMicros = OptionalLong.of(micros);
    }

    /** What the database says is acknowledged. */
    void isAcknowledged(long micros) {
        boolean isPossible = acknowledgedMicros.isEmpty()
                || acknowledgedMicros.getAsLong() == micros
                || perhapsMicros.isPresent() && perhapsMicros.getAsLong() == micros;
        if (!isPossible) {
            throw new AssertionError(
                    micros + " is acknowledged, and not " + acknowledgedMicros + " or " + perhapsMicros);
        }
        acknowledgedMicros = OptionalLong.of(micros);
        perhapsMicros = OptionalLong.empty();
        while (!told.isEmpty() && told.get(0).micros() <= micros) {
            add(told.remove(0).changes(), acknowledged);
        }
    }

    /** It begins to read behind what is acknowledged. */
    void begins() {
        again = 0;
    }

    /** It is told an epoch. Returns whether it was told it before. */
    boolean isTold(EpochChanges epoch) {
        Map<String, Integer> changes = new TreeMap<>();
        epoch.batches().forEach(batch -> add(batch, changes));
        Told next = new Told(epoch.epochMicros(), changes);
        if (again < told.size()) {
            Told before = told.get(again++);
            if (!before.equals(next)) {
                throw new AssertionError("it was told " + before + ", and now " + next);
            }
            return true;
        }
        if (next.micros() <= seenMicros().orElse(acknowledgedMicros.orElse(0))) {
            throw new AssertionError("it was told up to " + seenMicros() + ", and now " + next);
        }
        told.add(next);
        again++;
        return false;
    }

    /** It was told all that there was. Returns the answer that follows from it, as sorted rows. */
    List<String> answer() {
        if (again < told.size()) {
            throw new AssertionError("it was told " + told.get(again) + ", and not again");
        }
        Map<String, Integer> rows = new TreeMap<>(acknowledged);
        for (Told epoch : told) {
            add(epoch.changes(), rows);
            rows.forEach((row, times) -> {
                if (times < 0) {
                    throw new AssertionError("it was told that " + row + " goes, and not that it came: " + told);
                }
            });
        }
        List<String> answer = new ArrayList<>();
        rows.forEach((row, times) -> answer.addAll(Collections.nCopies(times, row)));
        return answer;
    }

    private static void add(Map<String, Integer> changes, Map<String, Integer> to) {
        changes.forEach((row, times) -> add(row, times, to));
    }

    private static void add(String row, int times, Map<String, Integer> to) {
        to.merge(row, times, (before, more) -> before + more == 0 ? null : before + more);
    }

    /** Adds what a batch changes. */
    static void add(Batch batch, Map<String, Integer> to) {
        for (int row = 0; row < batch.rowCount(); row++) {
            int at = row;
            Optional<Integer> weight = batch.weights().map(weights -> (int) (long) weights.get(at));
            add(History.text(batch, row), weight.orElse(1), to);
        }
    }
}

package dev.millrace.benchmarks.wire;

import java.util.Arrays;
import java.util.Locale;
import java.util.StringJoiner;

/** One line of JSON, put together field by field. Numbers have four significant digits at least. */
final class ResultLine {
    private final StringJoiner fields = new StringJoiner(",", "{", "}");

    ResultLine(String name, int clients) {
        fields.add("\"case\":\"" + name + "\"").add("\"clients\":" + clients);
    }

    ResultLine with(String name, long value) {
        fields.add("\"" + name + "\":" + value);
        return this;
    }

    ResultLine with(String name, double value) {
        fields.add(String.format(Locale.ROOT, "\"%s\":%.3f", name, value));
        return this;
    }

    /** How many of something were done in so many seconds. */
    ResultLine rate(String what, long count, double seconds) {
        return with(what, count).with("seconds", seconds).with(what + "_per_second", Math.round(count / seconds));
    }

    /** Median, 99 percent and the longest of some waits, in milliseconds. */
    ResultLine waits(long[] nanos) {
        long[] sorted = nanos.clone();
        Arrays.sort(sorted);
        return with("p50_ms", sorted[sorted.length / 2] / 1e6)
                .with("p99_ms", sorted[(int) (sorted.length * .99)] / 1e6)
                .with("max_ms", sorted[sorted.length - 1] / 1e6);
    }

    @Override
    public String toString() {
        return fields.toString();
    }
}

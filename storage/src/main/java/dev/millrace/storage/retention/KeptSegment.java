package dev.millrace.storage.retention;

import dev.millrace.storage.segment.SegmentFile;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A segment of a stream. Times are in microseconds since 1970.
 *
 * @param number of its file
 * @param firstEntry number of the entry of the log that its first row is of
 * @param lastEntry the same of its last row; the next segment begins with a later one
 * @param firstArrival when its first row was accepted
 * @param lastArrival when its last row was
 * @param eventTimes least and greatest; empty where the stream has no event time, or it is NULL in all rows
 * @param isSketched whether it has the stream's {@link SegmentForm}; else it is exact
 */
public record KeptSegment(
        long number,
        SegmentFile file,
        long firstEntry,
        long lastEntry,
        long firstArrival,
        long lastArrival,
        Optional<Span> eventTimes,
        boolean isSketched) {
    private static final Pattern NAME = Pattern.compile("(\\d{12,18})\\.columns");

    /** From one number to another, both included; of times, in microseconds. */
    public record Span(long first, long last) {}

    /** The share of its rows that are of some entries and arrived between two times, were both spread evenly. */
    double share(long first, long last, long fromMicros, long toMicros) {
        double begin = Math.max(
                place(first, firstEntry, lastEntry),
                fromMicros > lastArrival ? 1 : place(fromMicros, firstArrival, lastArrival));
        double end = Math.min(
                last >= lastEntry ? 1 : place(last + 1, firstEntry, lastEntry),
                toMicros > lastArrival ? 1 : place(toMicros, firstArrival, lastArrival));
        return Math.max(0, end - begin);
    }

    /** Where a number is among those from one to another, 0 to 1. */
    private static double place(long number, long from, long to) {
        double span = (double) to - from + 1;
        return Math.min(1, Math.max(0, ((double) number - from) / span));
    }

    /** Of all segments, where each time may be off by so much. */
    static Optional<Span> eventTimes(List<KeptSegment> segments, long errorMicros) {
        return segments.stream()
                .flatMap(segment -> segment.eventTimes().stream())
                .reduce((a, b) -> new Span(Math.min(a.first(), b.first()), Math.max(a.last(), b.last())))
                .map(span -> {
                    long first = span.first() - errorMicros;
                    long last = span.last() + errorMicros;
                    return new Span(
                            first > span.first() ? Long.MIN_VALUE : first, last < span.last() ? Long.MAX_VALUE : last);
                });
    }

    static String nameOf(long number) {
        return String.format("%012d.columns", number);
    }

    /** The number of a segment by the name of its file; empty for other files. */
    static OptionalLong numberOf(String name) {
        Matcher matcher = NAME.matcher(name);
        return matcher.matches() ? OptionalLong.of(Long.parseLong(matcher.group(1))) : OptionalLong.empty();
    }
}

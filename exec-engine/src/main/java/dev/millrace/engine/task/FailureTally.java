package dev.millrace.engine.task;

import dev.millrace.error.FailureText;
import dev.millrace.error.MillraceException;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** How many rows failed, and with what. One thread at a time. */
final class FailureTally {
    /** Texts that are told apart; rows beyond are counted as one. */
    private static final int MOST_TEXTS = 1_000;

    private record Counted(MillraceException failure, long rows) {}

    /** Is told of failures. */
    interface Receiver {
        void take(MillraceException failure, long rows);
    }

    private final Map<String, Counted> byText = new LinkedHashMap<>();
    private Optional<MillraceException> other = Optional.empty(); // one of those beyond
    private long rows;

    private static String text(MillraceException failure) {
        return failure.sqlState().code() + failure.getMessage();
    }

    boolean isEmpty() {
        return byText.isEmpty() && rows == 0;
    }

    long rows() {
        return rows;
    }

    void add(MillraceException thrown, long weight) {
        MillraceException failure = FailureText.shortened(thrown); // it may quote a value of any length
        String text = text(failure);
        Counted known = byText.get(text);
        long sum = weight + (known == null ? 0 : known.rows);
        if (sum == 0) {
            byText.remove(text);
        } else if (known != null || byText.size() < MOST_TEXTS) {
            byText.put(text, new Counted(known == null ? failure : known.failure, sum));
        } else {
            other = Optional.of(failure);
        }
        rows += weight;
    }

    void add(FailureTally more) {
        more.byText.values().forEach(each -> add(each.failure, each.rows));
        rows += more.uncounted();
        other = more.other.or(() -> other);
    }

    /** Rows beyond the texts that are told apart. */
    private long uncounted() {
        long counted = 0;
        for (Counted each : byText.values()) {
            counted += each.rows;
        }
        return rows - counted;
    }

    private long rowsOf(String text) {
        Counted known = byText.get(text);
        return known == null ? 0 : known.rows;
    }

    /** One of the failures while there is one more row than was taken back. */
    Optional<MillraceException> failure() {
        return failureBeyond(new FailureTally());
    }

    /** One of those that there are more of than others have. */
    Optional<MillraceException> failureBeyond(FailureTally others) {
        if (rows - others.rows <= 0) {
            return Optional.empty();
        }
        return byText.entrySet().stream()
                .filter(each -> each.getValue().rows > others.rowsOf(each.getKey()))
                .map(each -> each.getValue().failure)
                .findFirst()
                .or(() -> other);
    }

    /** By how many rows there are more than others have. */
    FailureTally beyond(FailureTally others) {
        FailureTally more = new FailureTally();
        byText.forEach((text, each) -> {
            long rest = each.rows - others.rowsOf(text);
            if (rest > 0) {
                more.add(each.failure, rest);
            }
        });
        long uncounted = uncounted() - others.uncounted();
        if (uncounted > 0) {
            more.rows += uncounted;
            more.other = other;
        }
        return more;
    }

    /**
     * Takes back of these what was taken back of all. Of rows that failed alike these are said to be the first that go: what stays is then
     * shown as a failure though it may have been one of these, and never hidden though it was none.
     */
    void takeBack(FailureTally changes) {
        if (isEmpty()) {
            return;
        }
        changes.byText.forEach((text, change) -> {
            long known = rowsOf(text);
            if (change.rows < 0 && known > 0) {
                add(change.failure, -Math.min(known, -change.rows));
            }
        });
        long uncounted = uncounted();
        long gone = -changes.uncounted();
        if (gone > 0 && uncounted > 0) {
            rows -= Math.min(uncounted, gone);
        }
    }

    /** Tells of all; of those beyond the texts that are told apart, as of one. */
    void forEach(Receiver receiver) {
        byText.values().forEach(each -> receiver.take(each.failure, each.rows));
        long uncounted = uncounted();
        if (uncounted > 0 && other.isPresent()) {
            receiver.take(other.get(), uncounted);
        }
    }

    /** How many texts, 4 bytes; of each its rows, 8 bytes, its length, 4 bytes, and the {@link FailureText}; all rows, 8 bytes. */
    void save(DataOutput out) throws IOException {
        out.writeInt(byText.size());
        for (Counted each : byText.values()) {
            byte[] text = FailureText.bytes(each.failure);
            out.writeLong(each.rows);
            out.writeInt(text.length);
            out.write(text);
        }
        out.writeLong(rows);
    }

    /** What {@link #save} wrote. */
    static FailureTally read(DataInput in) throws IOException {
        FailureTally tally = new FailureTally();
        for (int left = in.readInt(); left > 0; left--) {
            long rows = in.readLong();
            MillraceException failure = FailedRows.readText(in);
            tally.add(failure, rows);
            tally.other = Optional.of(failure);
        }
        tally.rows = in.readLong();
        return tally;
    }
}

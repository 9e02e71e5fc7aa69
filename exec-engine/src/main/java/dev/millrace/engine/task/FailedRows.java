package dev.millrace.engine.task;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.error.FailureText;
import dev.millrace.error.MillraceException;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Failures of a query's rows that may be taken back. They have weights, as rows have: a row that fails and is taken back
 * leaves nothing. Safe on any thread, but for a {@link Part}, which is one operator's.
 *
 * <pre>
 *   operators    Part.failed*  Part.epochEnd          publish(epoch)          failure()
 *                kept by epoch, as rows are      seen from then on        while any is left
 * </pre>
 */
public final class FailedRows {
    /** Texts that are told apart; rows beyond are counted as one. */
    private static final int MOST_TEXTS = 1_000;

    private static final int MOST_BYTES = 64 << 10; // of one

    private record Counted(MillraceException failure, long rows) {}

    private record Ended(long epoch, Tally tally) {}

    /** How many rows failed, and with what. One thread at a time. */
    private static final class Tally {
        private final Map<String, Counted> byText = new LinkedHashMap<>();
        private long rows;

        void add(MillraceException thrown, long weight) {
            MillraceException failure = FailureText.shortened(thrown); // it may quote a value of any length
            String text = failure.sqlState().code() + failure.getMessage();
            Counted known = byText.get(text);
            long sum = weight + (known == null ? 0 : known.rows);
            if (sum == 0) {
                byText.remove(text);
            } else if (known != null || byText.size() < MOST_TEXTS) {
                byText.put(text, new Counted(known == null ? failure : known.failure, sum));
            }
            rows += weight;
        }

        void add(Tally other) {
            long counted = 0;
            for (Counted each : other.byText.values()) {
                add(each.failure, each.rows);
                counted += each.rows;
            }
            rows += other.rows - counted;
        }

        /** One of the failures while there is one more row than was taken back. */
        Optional<MillraceException> failure() {
            return rows <= 0
                    ? Optional.empty()
                    : byText.values().stream()
                            .filter(each -> each.rows > 0)
                            .map(Counted::failure)
                            .findFirst();
        }
    }

    private final boolean byEpoch;

    @GuardedBy("this") private final Tally published = new Tally();

    @GuardedBy("this") private final ArrayDeque<Ended> ended = new ArrayDeque<>();

    private volatile Optional<MillraceException> failure = Optional.empty(); // written under the lock, read by any

    /** @param byEpoch whether failures are seen when their epoch is published, and not at once */
    public FailedRows(boolean byEpoch) {
        this.byEpoch = byEpoch;
    }

    /** Where one operator notes failures. */
    public final class Part {
        private Tally pending = new Tally();

        void failed(MillraceException why, long weight) {
            if (byEpoch) {
                pending.add(why, weight);
            } else {
                seeNow(why, weight);
            }
        }

        void epochEnd(long epoch) {
            if (!pending.byText.isEmpty() || pending.rows != 0) {
                keep(epoch, pending);
                pending = new Tally();
            }
        }
    }

    /** For an operator that notes failures here. */
    public Part newPart() {
        return new Part();
    }

    private synchronized void seeNow(MillraceException why, long weight) {
        published.add(why, weight);
        failure = published.failure();
    }

    private synchronized void keep(long epoch, Tally tally) {
        ended.add(new Ended(epoch, tally));
    }

    /** Everything up to an epoch is seen from now on. */
    public synchronized void publish(long epoch) {
        boolean changed = false;
        for (var next = ended.iterator(); next.hasNext(); ) {
            Ended each = next.next();
            if (each.epoch <= epoch) {
                published.add(each.tally);
                next.remove();
                changed = true;
            }
        }
        if (changed) {
            failure = published.failure();
        }
    }

    /** Writes what is seen: how many texts, 4 bytes; of each its rows, 8 bytes, its length, 4 bytes, and the {@link FailureText}; all rows. */
    public synchronized void save(DataOutput out) throws IOException {
        out.writeInt(published.byText.size());
        for (Counted each : published.byText.values()) {
            byte[] text = FailureText.bytes(each.failure);
            out.writeLong(each.rows);
            out.writeInt(text.length);
            out.write(text);
        }
        out.writeLong(published.rows);
    }

    /** Sees what {@link #save} wrote; before anything else. */
    public synchronized void restore(DataInput in) throws IOException {
        for (int left = in.readInt(); left > 0; left--) {
            long rows = in.readLong();
            byte[] text = new byte[Math.min(Math.max(0, in.readInt()), MOST_BYTES)];
            in.readFully(text);
            published.add(FailureText.of(text), rows);
        }
        published.rows = in.readLong();
        failure = published.failure();
    }

    /** Why the answer is none, as of what was published: of one of the rows that fail. */
    public Optional<MillraceException> failure() {
        return failure;
    }
}

package dev.millrace.engine.task;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.error.FailureText;
import dev.millrace.error.MillraceException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInput;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/**
 * Failures of a query's rows. Those that may be taken back have weights, as rows have: a row that fails and is taken back leaves
 * nothing. Those of rows that only come are for good: they stop the query, and so do the others where nobody reads an answer again. A query
 * that is stopped keeps all that it has, and goes on with what comes: only it shows nothing until the rows were taken back, or are left
 * out by who says so. Safe on any thread, but for a {@link Part}, which is one operator's.
 *
 * <pre>
 *   operators    Part.failed*  Part.epochEnd          publish(epoch)          failure()
 *                kept by epoch, as rows are      seen from then on        while any is left
 *                                                 stopped() until          goOn()
 * </pre>
 */
public final class FailedRows {
    /** What the bytes of {@link #save} are. */
    public static final int VERSION = 2;

    /** Of relations whose rows do not fail. */
    public static final FailedRows NONE = new FailedRows(true);

    /**
     * So many rows may fail, beside those that were left out, before the query fails with what it has: each costs some steps more than one
     * that does not fail, and those who share epochs with the query would wait for that.
     */
    public static final int MOST_ROWS = 100_000;

    private static final int MOST_BYTES = 64 << 10; // of one

    private record Ended(long epoch, FailureTally tally, boolean forGood) {}

    /** What the query reads, and which of its rows failed. */
    private record Read(String relation, FailedRows rows) {}

    /** Rows that were left out, and why. */
    public record LeftOut(MillraceException failure, long rows) {}

    private final boolean byEpoch;
    private final boolean anyStops;
    private final AtomicLong stopping =
            new AtomicLong(); // rows that failed so that they stop the query, and were not left out
    private volatile List<Read> reads = List.of(); // set before the query runs

    @GuardedBy("this") private FailureTally returning = new FailureTally(); // that may be taken back

    @GuardedBy("this") private FailureTally excused = new FailureTally(); // of those: rows that were left out, and are there still

    @GuardedBy("this") private FailureTally forGood = new FailureTally();

    @GuardedBy("this") private FailureTally leftOut = new FailureTally(); // ever

    @GuardedBy("this") private final ArrayDeque<Ended> ended = new ArrayDeque<>();

    private volatile Optional<MillraceException> failure = Optional.empty(); // written under the lock, read by any
    private volatile Optional<MillraceException> stopped = Optional.empty(); // likewise

    /** Of which none stops anything. @param byEpoch whether failures are seen when their epoch is published, and not at once */
    public FailedRows(boolean byEpoch) {
        this(byEpoch, false);
    }

    /** @param anyStops whether also failures that may be taken back stop the query */
    public FailedRows(boolean byEpoch, boolean anyStops) {
        this.byEpoch = byEpoch;
        this.anyStops = anyStops;
    }

    /** The query is stopped, too, when what it reads is. Before it runs. */
    public void reads(String relation, FailedRows rows) {
        if (rows != NONE) {
            List<Read> more = new ArrayList<>(reads);
            more.add(new Read(relation, rows));
            reads = List.copyOf(more);
        }
    }

    /** Where one operator notes failures. */
    public final class Part {
        private final boolean isForGood;
        private FailureTally pending = new FailureTally();

        private Part(boolean isForGood) {
            this.isForGood = isForGood;
        }

        boolean isForGood() {
            return isForGood;
        }

        /** A row failed, or the failure of one is taken back. @throws MillraceException if too many did */
        public void failed(MillraceException why, long weight) {
            if ((isForGood || anyStops) && weight > 0 && stopping.addAndGet(weight) > MOST_ROWS) {
                throw MillraceException.user(
                        why.sqlState(), "more than " + MOST_ROWS + " rows failed, this one with: " + why.getMessage());
            }
            if (byEpoch) {
                pending.add(why, weight);
            } else {
                seeNow(why, weight);
            }
        }

        /** What failed until now is of an epoch that is at its end. */
        public void epochEnd(long epoch) {
            if (!pending.isEmpty()) {
                keep(new Ended(epoch, pending, isForGood));
                pending = new FailureTally();
            }
        }
    }

    /** For an operator that notes failures here. */
    public Part newPart() {
        return newPart(false);
    }

    /** The same. @param isForGood whether its rows only come */
    public Part newPart(boolean isForGood) {
        return new Part(isForGood);
    }

    private synchronized void seeNow(MillraceException why, long weight) {
        returning.add(why, weight);
        failure = returning.failure();
    }

    private synchronized void keep(Ended epoch) {
        ended.add(epoch);
    }

    /**
     * Everything up to an epoch is seen from now on.
     *
     * @return why the query is stopped from now on; empty if it is not, or was before
     */
    public synchronized Optional<MillraceException> publish(long epoch) {
        boolean changed = false;
        for (var next = ended.iterator(); next.hasNext(); ) {
            Ended each = next.next();
            if (each.epoch <= epoch) {
                (each.forGood ? forGood : returning).add(each.tally);
                if (!each.forGood) {
                    excused.takeBack(each.tally);
                }
                next.remove();
                changed = true;
            }
        }
        if (!changed) {
            return Optional.empty();
        }
        see();
        Optional<MillraceException> why = stopped.isPresent() ? Optional.empty() : whatStops();
        if (why.isPresent()) {
            stopped = why;
        }
        return why;
    }

    /** Whether rows failed in epochs that are not seen yet. */
    public synchronized boolean isAhead() {
        return !ended.isEmpty();
    }

    @GuardedBy("this") private void see() {
        failure = returning.failureBeyond(excused).or(forGood::failure);
    }

    /** Why the query cannot go on now. */
    @GuardedBy("this") private Optional<MillraceException> whatStops() {
        return forGood.failure().or(() -> anyStops ? returning.failureBeyond(excused) : Optional.empty());
    }

    /** Why the query is stopped: by rows of its own, or of what it reads. */
    public Optional<MillraceException> stopped() {
        return stopped.or(() -> ofRead(FailedRows::stopped));
    }

    /** Why it is stopped when an epoch is seen, which what it reads need not have been yet. */
    public Optional<MillraceException> stoppedAt(long epoch) {
        return stopped.or(() -> ofRead(read -> read.willStop(epoch)));
    }

    private Optional<MillraceException> willStop(long epoch) {
        Optional<MillraceException> now = stoppedAt(epoch);
        if (now.isPresent()) {
            return now;
        }
        synchronized (this) {
            if (stopped.isPresent() || ended.isEmpty()) { // it may have been published meanwhile
                return stopped;
            }
            FailureTally then = new FailureTally();
            then.add(forGood);
            FailureTally returningThen = new FailureTally();
            returningThen.add(returning);
            for (Ended each : ended) {
                if (each.epoch <= epoch) {
                    (each.forGood ? then : returningThen).add(each.tally);
                }
            }
            return then.failure().or(() -> anyStops ? returningThen.failureBeyond(excused) : Optional.empty());
        }
    }

    private Optional<MillraceException> ofRead(Function<FailedRows, Optional<MillraceException>> question) {
        for (Read read : reads) {
            Optional<MillraceException> why = question.apply(read.rows);
            if (why.isPresent()) {
                return why.map(failed -> failed.in("query \"" + read.relation + "\" failed"));
            }
        }
        return Optional.empty();
    }

    /** Whether the query is stopped by rows of its own. */
    public boolean isStopped() {
        return stopped.isPresent();
    }

    /** Has the query go on, unless rows fail still. While nothing is published. @return why it does not */
    public synchronized Optional<MillraceException> goOn() {
        Optional<MillraceException> why = whatStops();
        if (why.isEmpty()) {
            stopped = Optional.empty();
            stopping.set(0);
        }
        return why;
    }

    /** Leaves out the rows that are seen to fail, as if they had not come. While nothing is published. @return how many those are */
    public synchronized long leaveOut() {
        long before = leftOut.rows();
        leftOut.add(forGood);
        forGood = new FailureTally();
        FailureTally more = returning.beyond(excused);
        leftOut.add(more);
        excused.add(more);
        see();
        return leftOut.rows() - before;
    }

    /** What was left out since the query was made, by reasons; those of more than a thousand are under the last. */
    public synchronized List<LeftOut> leftOut() {
        List<LeftOut> all = new ArrayList<>();
        leftOut.forEach((why, rows) -> all.add(new LeftOut(why, rows)));
        return all;
    }

    /**
     * Writes what is seen: the failures that may be taken back, those of them that were left out, those for good, and what was left out
     * ever, see {@link FailureTally#save}; whether the query is stopped, 1 byte. Version 1 is the first of these.
     */
    public synchronized void save(DataOutput out) throws IOException {
        returning.save(out);
        excused.save(out);
        forGood.save(out);
        leftOut.save(out);
        out.writeBoolean(stopped.isPresent());
        if (stopped.isPresent()) {
            byte[] text = FailureText.bytes(FailureText.shortened(stopped.get()));
            out.writeInt(text.length);
            out.write(text);
        }
    }

    /** Sees what {@link #save} wrote; before anything else. */
    public synchronized void restore(DataInput in, int version) throws IOException {
        returning = FailureTally.read(in);
        if (version > 1) {
            excused = FailureTally.read(in);
            forGood = FailureTally.read(in);
            stopping.set(forGood.rows());
            leftOut = FailureTally.read(in);
            if (in.readBoolean()) {
                stopped = Optional.of(readText(in));
            }
        }
        see();
    }

    /** Has another, which has seen nothing, see the same. */
    public void copyTo(FailedRows other) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            save(new DataOutputStream(bytes));
            other.restore(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())), VERSION);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // there is none in memory
        }
    }

    /** A failure as {@link #save} writes why a query is stopped. */
    public static MillraceException readText(DataInput in) throws IOException {
        byte[] text = new byte[Math.min(Math.max(0, in.readInt()), MOST_BYTES)];
        in.readFully(text);
        return FailureText.of(text);
    }

    /** Why the answer is none, as of what was published: of one of the rows that fail. */
    public Optional<MillraceException> failure() {
        return failure;
    }
}

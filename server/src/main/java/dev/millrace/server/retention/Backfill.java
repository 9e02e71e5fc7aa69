package dev.millrace.server.retention;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.storage.retention.SegmentStore;
import dev.millrace.time.Clock;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * A standing query on its way through what a stream keeps, by as many readers as its plan scans the stream, and then through what comes.
 * Safe on any thread.
 */
public final class Backfill {
    private volatile String stream; // written by who renames it, read by all
    private final SegmentStore store;
    private final ArrivalSpan arrivals;
    private final LongSupplier durable;
    private final Clock clock;
    private final List<Reading> readings = new CopyOnWriteArrayList<>();
    private final LongAdder leftOut = new LongAdder();
    private volatile RowChoice choice;

    @GuardedBy("this") private double shown; // the greatest fraction that anybody was told

    @GuardedBy("this") private Optional<BackfillProgress> last = Optional.empty(); // when it was over

    Backfill(
            String stream,
            SegmentStore store,
            ArrivalSpan arrivals,
            RowChoice choice,
            LongSupplier durable,
            Clock clock) {
        this.stream = stream;
        this.store = store;
        this.arrivals = arrivals;
        this.choice = choice;
        this.durable = durable;
        this.clock = clock;
    }

    /** A reader begins, or goes on behind so many rows of an entry and all of those before. */
    synchronized Reading begin(long entry, long given) {
        last = Optional.empty();
        shown = entry == 0 && given == 0 ? 0 : shown;
        long before = store.rows(0, entry - 1, arrivals.from(), arrivals.to()) + given;
        Reading reading = new Reading(new Reading.Place(entry, given, before, Long.MIN_VALUE), clock.nanoTime());
        readings.add(reading);
        return reading;
    }

    /** A reader is closed. */
    synchronized void end(Reading reading) {
        if (isOver()) {
            progress(); // which stays
        }
        readings.remove(reading);
    }

    /** The stream has another name. */
    void rename(String newName) {
        stream = newName;
    }

    /** The name of the stream. */
    public String stream() {
        return stream;
    }

    /** Which rows it is given. */
    public RowChoice choice() {
        return choice;
    }

    /** Which rows it is given from now on. */
    public void choose(RowChoice next) {
        choice = next;
    }

    /** Rows were left out by the choice. */
    void leaveOut(long rows) {
        leftOut.add(rows);
    }

    /** How many rows the choice has left out since the database was opened. */
    public long leftOut() {
        return leftOut.sum();
    }

    /** The last entry of the stream's rows that anybody was told is there; 0 if there is none. */
    public long lastTold() {
        return Math.min(durable.getAsLong(), store.lastAppended());
    }

    /** The last entry of the stream's rows that was accepted, whether it is on disk or not. */
    public long lastAccepted() {
        return store.lastAppended();
    }

    /** Whether all rows up to an entry were read, and passed on. */
    public boolean has(long entry) {
        return !readings.isEmpty()
                && readings.stream().allMatch(reading -> reading.place().entry() > entry);
    }

    /** Whether some have all rows up to an entry each. */
    public static boolean haveAll(List<Backfill> backfills, List<Long> entries) {
        for (int i = 0; i < backfills.size(); i++) {
            if (!backfills.get(i).has(entries.get(i))) {
                return false;
            }
        }
        return true;
    }

    /** Whether it has come, with all readers, to where nothing was to come, or just some rows that came while it read the others. */
    public boolean isOver() {
        return !readings.isEmpty() && readings.stream().allMatch(Reading::isOver);
    }

    /** How far the slowest reader is. */
    public synchronized BackfillProgress progress() {
        if (last.isPresent()) {
            return last.get();
        }
        boolean isOver = isOver();
        Optional<Reading> slowest = readings.stream()
                .min(Comparator.comparingLong(reading -> reading.place().entry()));
        Reading.Place place = slowest.map(Reading::place).orElse(new Reading.Place(0, 0, 0, Long.MIN_VALUE));
        long to = lastTold();
        long there = store.rows(place.entry(), to, arrivals.from(), arrivals.to());
        long left = isOver ? 0 : Math.max(0, there - place.given());
        long rows = place.rows();
        double fraction = isOver ? 1 : rows == 0 ? 0 : Math.min((double) rows / (rows + left), 0.999);
        shown = Math.max(shown, fraction);
        double speed =
                slowest.map(reading -> reading.rowsPerSecond(clock.nanoTime())).orElse(0.0);
        BackfillProgress now = new BackfillProgress(
                stream,
                isOver,
                arrivals,
                place.entry() - 1,
                place.arrivedMicros() == Long.MIN_VALUE ? OptionalLong.empty() : OptionalLong.of(place.arrivedMicros()),
                isOver ? place.entry() - 1 : to,
                rows,
                rows + left,
                shown,
                speed);
        last = isOver ? Optional.of(now) : last;
        return now;
    }
}

package dev.millrace.engine.task;

import dev.millrace.batch.Batch;
import dev.millrace.connector.Part;
import dev.millrace.connector.ScanCounts;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.connector.SplitStatus;
import dev.millrace.engine.channel.Item;
import dev.millrace.engine.epoch.EpochInput;
import dev.millrace.engine.intake.HeldItems;
import dev.millrace.operator.Operator;
import dev.millrace.scheduler.Timers;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.LongPredicate;

/**
 * A reader of a source. Ends epochs as its domain says; without a domain, for a pull query, its input is one epoch. Rows
 * that are there from the start are all of the first epoch, which waits for them.
 *
 * <pre>
 *   rows* (epoch end, rows*)* watermark at the end of input, epoch end, end
 * </pre>
 */
public final class SourceInput extends TaskInput {
    private static final long ONLY_EPOCH = 1;
    private static final ThreadLocal<FailedRows.Part> POLLED = new ThreadLocal<>(); // while one is polled

    private final SourceReader reader;
    private final TaskHost host;
    private final boolean ofFirstEpoch;
    private final HeldItems waiting;
    private Optional<EpochInput> epochs = Optional.empty();
    private Runnable wake = () -> {};
    private Part part = Part.WHOLE;
    private boolean dry;
    private long retryAtNanos;
    private long timerNanos = Long.MAX_VALUE; // when the timer is due, if one is set
    private Optional<Timers.Timer> timer = Optional.empty();
    private boolean lastEpochEnded;
    private boolean closed;
    private Optional<SourcePace> pace = Optional.empty();
    private Optional<SourcePace.Place> place = Optional.empty();
    private boolean wasRead; // since its place was told
    private boolean isHeldBack;
    private Optional<FailedRows.Part> notes = Optional.empty(); // set once, before the task runs
    private volatile boolean finished; // written by the task's worker, read by statistics
    private volatile boolean woken; // set by I/O threads, cleared by the task's worker
    private volatile double progress; // written by the task's worker, read by statistics

    /** @param ofFirstEpoch whether all rows are, which must be at hand then */
    public SourceInput(EntryStage entry, SourceReader reader, TaskHost host, boolean ofFirstEpoch, HeldItems waiting) {
        super(entry);
        this.reader = reader;
        this.host = host;
        this.ofFirstEpoch = ofFirstEpoch;
        this.waiting = waiting;
        this.progress = reader.progress();
        this.part = reader.part(); // of one that goes on in the midst of a part
    }

    /** Before the task runs. */
    public void start(Optional<EpochInput> newEpochs, Runnable newWake) {
        epochs = newEpochs;
        wake = newWake;
        place = place.or(() -> pace.map(all -> all.take(this::wakeUp)));
    }

    /** Has it wait for other sources that are behind it. Before {@link #start}. */
    public void keepPace(SourcePace newPace) {
        pace = Optional.of(newPace);
    }

    /** Has records that its reader rejects noted, which would else fail the query. Before the task runs. */
    public void noteRejected(FailedRows.Part part) {
        notes = Optional.of(part);
    }

    /** Where what the reader rejects is noted that this thread polls. */
    public static Optional<FailedRows.Part> notesOfPoll() {
        return Optional.ofNullable(POLLED.get());
    }

    private Optional<Batch> pollReader() {
        if (notes.isEmpty()) {
            return reader.poll();
        }
        POLLED.set(notes.get());
        try {
            return reader.poll();
        } finally {
            POLLED.remove();
        }
    }

    /** What its reader read and passed by. Any thread. */
    public Optional<ScanCounts> counts() {
        return reader.counts();
    }

    /** Whether its reader reads what is past. Any thread. */
    public boolean readsPast() {
        return reader.readsPast();
    }

    /** How its reader is with what it reads. Any thread. */
    public List<SplitStatus> splits() {
        return reader.splits();
    }

    /** Where its reader is, at an epoch's end; empty if that cannot be said. */
    public Optional<SourcePosition> position() {
        return reader.position();
    }

    /** Time went on without rows: has the epoch closed soon. A query that is about to start closes its first anyway. */
    void touch() {
        epochs.ifPresent(EpochInput::touch);
    }

    /** More may be at hand; any thread. */
    public void wakeUp() {
        woken = true;
        wake.run();
    }

    /** Part of the source read, 0 to 1, -1 if unknown; any thread. */
    public double readProgress() {
        return finished ? 1 : progress;
    }

    /** Whether all was read; any thread. */
    public boolean isFinished() {
        return finished;
    }

    /** The end of an epoch, if one is at hand that does not wait behind its rows: they came, or wait for the query's next intake. */
    Optional<Item> nextEpochEnd() {
        OptionalLong closing =
                epochs.isPresent() && (finished || !ofFirstEpoch) ? epochs.get().takeClosing() : OptionalLong.empty();
        if (closing.isEmpty()) {
            return Optional.empty();
        }
        notes.ifPresent(part -> part.epochEnd(closing.getAsLong()));
        Item end = new Item.EpochEnd(closing.getAsLong());
        boolean kept = waiting.keeps(end);
        lastEpochEnded = finished && (kept || waiting.isEmpty());
        if (finished && !lastEpochEnded) {
            epochs.ifPresent(EpochInput::touch); // what waits is of another
        }
        return kept ? Optional.empty() : Optional.of(end);
    }

    @Override
    Optional<Item> next() {
        while (true) {
            Optional<Item> held = waiting.next();
            if (held.isPresent()) {
                return held;
            }
            if (ofFirstEpoch && !finished) {
                return poll();
            }
            Optional<Item> epochEnd = nextEpochEnd();
            if (epochEnd.isPresent()) {
                return epochEnd;
            }
            if (waiting.goesOn()) {
                continue;
            }
            if (epochs.isPresent()) {
                EpochInput domain = epochs.get();
                if (lastEpochEnded) {
                    domain.leave();
                    return Optional.of(Item.END);
                }
                if (finished || domain.isHeld()) {
                    return Optional.empty();
                }
            } else if (finished) {
                boolean end = lastEpochEnded;
                lastEpochEnded = true;
                return Optional.of(end ? Item.END : new Item.EpochEnd(ONLY_EPOCH));
            }
            isHeldBack = place.isPresent() && !mayGoOn(place.get());
            if (isHeldBack) {
                return Optional.empty();
            }
            if (dry && !woken && host.clock().nanoTime() < retryAtNanos) {
                setTimer();
                return Optional.empty();
            }
            Optional<Item> item = poll();
            if (item.isPresent() && (isPause(item.get()) || !waiting.keeps(item.get()))) {
                return item;
            }
            if (item.isPresent() && !waiting.goesOn()) {
                wake.run(); // there may be more, after others had their turn
                return Optional.empty();
            }
        }
    }

    private static boolean isPause(Item item) {
        return item instanceof Item.Rows rows && rows.batch().rowCount() == 0;
    }

    private boolean mayGoOn(SourcePace.Place among) {
        if (wasRead) {
            wasRead = false;
            among.read(entry().followsClock() ? Operator.NO_WATERMARK : progress());
        }
        return among.mayGoOn();
    }

    @Override
    boolean isHeldBack() {
        return isHeldBack;
    }

    /** Rows, none for a step that found none, or the end; empty when nothing is at hand. */
    private Optional<Item> poll() {
        woken = false;
        Optional<Batch> batch = pollReader();
        try {
            arrived(batch);
        } catch (RuntimeException | Error e) { // as of an epoch that is left meanwhile
            batch.ifPresent(Batch::close);
            throw e;
        }
        if (batch.isPresent()) {
            return Optional.of(new Item.Rows(batch.get()));
        }
        if (reader.isFinished()) {
            if (!ofFirstEpoch) { // whose end comes by itself
                epochs.ifPresent(
                        EpochInput::touch); // first: who sees the end also sees that there is an epoch to wait for
            }
            finished = true;
            place.ifPresent(SourcePace.Place::rest);
            return Optional.of(new Item.Watermark(Operator.END_OF_INPUT));
        }
        dry = true;
        place.ifPresent(SourcePace.Place::rest);
        retryAtNanos = host.clock().nanoTime() + 1_000 * Math.max(1, reader.retryAfterMicros());
        epochs.ifPresent(EpochInput::ranDry);
        return Optional.empty();
    }

    private void arrived(Optional<Batch> batch) {
        Part now = reader.part();
        if (!now.equals(part)) {
            part = now;
            entry().begin(now);
        }
        if (batch.isPresent()) {
            dry = false;
            wasRead |= batch.get().rowCount() > 0;
            progress = reader.progress();
            if (batch.get().rowCount() > 0 && !ofFirstEpoch) {
                epochs.ifPresent(EpochInput::arrived);
            }
        }
    }

    /** The query's output ends the epochs meanwhile. */
    @Override
    void nextWhilePaused(LongPredicate isCut, Keeping keeping) {
        if (epochs.isPresent()) {
            while (epochs.get().takeClosing().isPresent()) {
                // only taken
            }
            epochs.get().ranDry();
        }
    }

    /** Nothing is read meanwhile. */
    @Override
    boolean isPast(LongPredicate cut) {
        return true;
    }

    @Override
    boolean mayWait() {
        return false; // a reader that is not asked cannot say that it came to an end
    }

    private void setTimer() {
        if (retryAtNanos < timerNanos) {
            timer.ifPresent(Timers.Timer::cancel);
            timerNanos = retryAtNanos;
            timer = Optional.of(host.workers().schedule(timerNanos, this::timerDue));
        }
    }

    /** On the timer's thread; the task looks at the time once it is woken. */
    private void timerDue() {
        timerNanos = Long.MAX_VALUE;
        wake.run();
    }

    @Override
    boolean isHolding() {
        return !waiting.isEmpty();
    }

    /** What its reader has at hand is not known before it is read. */
    @Override
    public long queuedBytes() {
        return waiting.bytes();
    }

    @Override
    public long queuedRows() {
        return waiting.rows();
    }

    @Override
    public long waitNanos() {
        return waiting.waitNanos();
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            timer.ifPresent(Timers.Timer::cancel);
            place.ifPresent(SourcePace.Place::rest);
            epochs.ifPresent(EpochInput::leave);
            waiting.close();
            reader.close();
        }
    }
}

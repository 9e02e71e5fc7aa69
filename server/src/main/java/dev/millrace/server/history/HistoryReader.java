package dev.millrace.server.history;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.engine.subscription.Subscription;
import dev.millrace.engine.subscription.SubscriptionOptions;
import dev.millrace.engine.subscription.SubscriptionOptions.WhenFull;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;

/**
 * Who reads a history. {@link #next} by one thread, {@link #close} and the questions by any; what else is here is called by the history,
 * which holds its lock.
 *
 * <p>One that reads a named subscription holds nobody up: what it does not acknowledge is bounded by the subscription's limit.
 */
final class HistoryReader implements Subscription {
    /** How far a reader is: a time, and bytes and rows of all epochs up to it. */
    record Place(long micros, long bytes, long rows) {}

    private final QueryHistory history;
    private final KeptChanges kept;
    private final Optional<String> name;
    private final SubscriptionOptions options;
    private final long beganBytes; // of what was there then, which does not make it slow
    private volatile Place place; // written by who holds the history's lock, read by all
    private volatile Optional<EpochChanges>
            first; // the answer, until it is taken; written by the reader and who closes it
    private volatile boolean overrun; // written by the reader, read by all
    private volatile boolean closed; // written by who closes it, read by all

    HistoryReader(
            QueryHistory history,
            KeptChanges kept,
            Optional<String> name,
            SubscriptionOptions options,
            Place place,
            Optional<EpochChanges> first,
            long beganBytes) {
        this.history = history;
        this.kept = kept;
        this.name = name;
        this.options = options;
        this.place = place;
        this.first = first;
        this.beganBytes = beganBytes;
    }

    // ---- by the history --------------------------------------------------------------------------------------------

    Optional<String> name() {
        return name;
    }

    Place place() {
        return place;
    }

    void goTo(Place newPlace) {
        place = newPlace;
    }

    boolean isClosed() {
        return closed;
    }

    boolean tellsProgress() {
        return options.progress();
    }

    private boolean isSlow(long endBytes) {
        return endBytes - Math.max(place.bytes, beganBytes) > options.queueBytes();
    }

    /** Whether the query is to wait for it. */
    boolean holdsUp(long endBytes) {
        return name.isEmpty() && options.whenFull() == WhenFull.WAIT && isSlow(endBytes);
    }

    /** What is later is to be kept for it: as much as may wait for it. */
    long neededMicros(long endBytes) {
        boolean isBounded =
                options.whenFull() == WhenFull.WAIT || options.whenFull() == WhenFull.END && !isSlow(endBytes);
        return name.isEmpty() && isBounded ? place.micros : Long.MAX_VALUE;
    }

    boolean drops() {
        return name.isEmpty() && options.whenFull() == WhenFull.DROP_OLDEST;
    }

    /** Whether it is not to be given an epoch behind which there are so many bytes. */
    boolean drops(long bytesBehind) {
        return drops() && bytesBehind >= options.queueBytes();
    }

    void requireFastEnough(long endBytes) {
        overrun |= name.isEmpty() && options.whenFull() == WhenFull.END && isSlow(endBytes);
        if (overrun) {
            throw MillraceException.resources(
                            SqlState.CONFIGURATION_LIMIT_EXCEEDED,
                            "the subscriber is too slow: more than " + options.queueBytes() + " bytes wait for it")
                    .withHint("SUBSCRIBE WITH (on_slow = 'drop_oldest' | 'block', buffer = '64MB')");
        }
    }

    // ---- by who reads ----------------------------------------------------------------------------------------------

    @Override
    public Schema schema() {
        return history.schema();
    }

    @Override
    public Optional<EpochChanges> next(long timeoutMicros) {
        Optional<EpochChanges> answer = first;
        if (answer.isPresent()) {
            first = Optional.empty();
            return answer;
        }
        history.work();
        return kept.await(this, timeoutMicros).map(this::changes);
    }

    private EpochChanges changes(KeptChanges.Given given) {
        List<Batch> batches = given.epoch().map(history::read).orElse(List.of());
        return new EpochChanges(given.number(), given.micros(), batches, false, given.droppedRows());
    }

    @Override
    public boolean isFinished() {
        return closed || first.isEmpty() && kept.isFinishedAt(place.micros);
    }

    @Override
    public boolean isOverrun() {
        return overrun;
    }

    @Override
    public void close() {
        closed = true;
        kept.remove(this);
        Optional<EpochChanges> answer = first;
        first = Optional.empty();
        Closing.all(answer.stream().toList());
    }
}

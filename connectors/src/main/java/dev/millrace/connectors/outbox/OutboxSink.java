package dev.millrace.connectors.outbox;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.connector.CheckpointedSink;
import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.PreparedRows;
import dev.millrace.connector.SinkContext;
import dev.millrace.connector.SinkHome;
import dev.millrace.connector.SinkStatus;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * A sink whose rows wait on disk, as records, until a checkpoint has them, and are then delivered together with the checkpoint's number. While the
 * outside is away they wait for it too, up to a limit, with which the query waits.
 *
 * <pre>
 *   write --> file --prepare--> [ files that a checkpoint is to have ] --publish--> [ files to be delivered ] --> outside
 * </pre>
 */
public final class OutboxSink implements CheckpointedSink {
    private static final String LIMIT = "outbox.limit_mb";
    private static final long DEFAULT_LIMIT_MB = 1_024;
    private static final long MOST_LIMIT_MB = 1L << 30;

    /** Of files that wait, however small: a checkpoint names them all. */
    private static final int MOST_FILES = 10_000;

    private final SinkContext context;
    private final String target;
    private final OutboxRows rows;
    private final Delivery delivery;
    private final long mostBytes;
    private final RecordSpool spool;
    private final SpoolRoom room;
    private Optional<DeliveryThread> thread = Optional.empty(); // the sink's thread's, and who asks for the status

    @GuardedBy("this") private final Deque<SpoolEntry> prepared = new ArrayDeque<>(); // for checkpoints not on disk yet

    @GuardedBy("this") private final Deque<SpoolEntry> toDeliver = new ArrayDeque<>(); // published, and not known to be outside

    @GuardedBy("this") private long waitingBytes; // of both

    @GuardedBy("this") private long waitingRecords;

    @GuardedBy("this") private Runnable onRoom = () -> {};

    private volatile long openBytes; // of the file under way; written by the sink's thread
    private volatile boolean full; // written with the lock, read by those who make rows
    private boolean closed;

    /**
     * @param target where rows go, for users
     * @param rows closed with this
     * @param delivery likewise
     * @param options of which {@code outbox.limit_mb} is read
     * @throws dev.millrace.error.MillraceException 55000 without a data directory; 22023 for an option; then nothing is closed
     */
    public OutboxSink(SinkContext context, String target, OutboxRows rows, Delivery delivery, Options options) {
        this(context, target, rows, delivery, options, new SpoolRoom());
    }

    /** For tests, whose disk is full at times. */
    OutboxSink(
            SinkContext context, String target, OutboxRows rows, Delivery delivery, Options options, SpoolRoom room) {
        this.context = context;
        this.target = target;
        this.rows = rows;
        this.delivery = delivery;
        SinkHome home = context.requireHome("delivery = 'exactly_once'");
        this.mostBytes = options.integer(LIMIT, DEFAULT_LIMIT_MB, 1, MOST_LIMIT_MB) << 20;
        this.room = room;
        this.spool = new RecordSpool(home.directory(), room);
    }

    /** Descriptions of the options that are read here. */
    public static List<OptionDescription> options() {
        return List.of(new OptionDescription(
                LIMIT,
                Long.toString(DEFAULT_LIMIT_MB),
                "exactly once: MB of records that wait on disk for the outside, beyond which the query waits"));
    }

    @Override
    public void check() {
        delivery.check();
    }

    @Override
    public void whenRoom(Runnable tell) {
        synchronized (this) {
            onRoom = tell;
        }
    }

    @Override
    public void recover(Optional<PreparedRows> from) {
        List<SpoolEntry> kept =
                from.map(known -> SpoolEntry.ofToken(known.token())).orElse(List.of());
        List<SpoolEntry> there = spool.recover(kept);
        long missing = kept.stream()
                .filter(entry -> !there.contains(entry))
                .mapToLong(SpoolEntry::checkpoint)
                .max()
                .orElse(0);
        long newest = from.map(PreparedRows::checkpoint).orElse(0L);
        DeliveryThread made =
                new DeliveryThread(context.name(), delivery, context.clock(), 1, from.isPresent(), newest, missing);
        synchronized (this) {
            for (SpoolEntry entry : there) {
                waits(entry);
            }
            toDeliver.addAll(there);
            thread = Optional.of(made);
            full = isBeyond(1);
        }
        made.add(parcels(there));
        made.start();
    }

    @GuardedBy("this") private void waits(SpoolEntry entry) {
        waitingBytes += entry.bytes();
        waitingRecords += entry.records();
    }

    /** Whether there is more than a part of what there may be. */
    @GuardedBy("this") private boolean isBeyond(int parts) {
        return waitingBytes + openBytes > mostBytes / parts || prepared.size() + toDeliver.size() > MOST_FILES / parts;
    }

    @Override
    public void write(Batch batch) {
        rows.write(batch, spool);
    }

    @Override
    public void commit(long epoch) {
        rows.endEpoch(spool);
        openBytes = spool.openBytes();
        synchronized (this) {
            full |= isBeyond(1);
        }
        thread.ifPresent(DeliveryThread::requireNoFailure);
    }

    @Override
    public byte[] prepare(long checkpoint) {
        Optional<SpoolEntry> more = spool.end(checkpoint);
        openBytes = 0;
        synchronized (this) {
            more.ifPresent(this::waits);
            more.ifPresent(prepared::add);
            full |= isBeyond(1);
            List<SpoolEntry> all = new ArrayList<>(toDeliver);
            all.addAll(prepared);
            return SpoolEntry.token(all);
        }
    }

    @Override
    public void publish(long checkpoint) {
        List<SpoolEntry> ready = new ArrayList<>();
        synchronized (this) {
            while (!prepared.isEmpty() && prepared.element().checkpoint() <= checkpoint) {
                ready.add(prepared.remove());
            }
            toDeliver.addAll(ready);
        }
        thread.orElseThrow().add(parcels(ready));
        thread.orElseThrow().requireNoFailure();
    }

    /** A file to be delivered under the number of the checkpoint that has it. */
    private record SpooledParcel(SpoolEntry entry, OutboxSink sink) implements Parcel {
        @Override
        public long number() {
            return entry.checkpoint();
        }

        @Override
        public Delivery.Records records() {
            return sink.spool.records(entry);
        }

        @Override
        public void delivered() {
            sink.delivered(entry);
            sink.spool.remove(entry);
        }
    }

    private List<Parcel> parcels(List<SpoolEntry> entries) {
        return entries.stream()
                .<Parcel>map(entry -> new SpooledParcel(entry, this))
                .toList();
    }

    private void delivered(SpoolEntry entry) {
        Optional<Runnable> tell;
        synchronized (this) {
            toDeliver.remove(entry);
            waitingBytes -= entry.bytes();
            waitingRecords -= entry.records();
            boolean hasRoom = full && !isBeyond(2);
            full &= !hasRoom;
            tell = hasRoom ? Optional.of(onRoom) : Optional.empty();
        }
        tell.ifPresent(Runnable::run);
    }

    @Override
    public boolean isFull() {
        return full;
    }

    @Override
    public boolean waitsForDisk() {
        return room.waitsFor().isPresent();
    }

    @Override
    public synchronized Optional<SinkStatus> status() {
        Optional<DeliveryThread.State> state = thread.map(DeliveryThread::state);
        Optional<String> waitsFor = room.waitsFor()
                .or(() -> state.filter(DeliveryThread.State::waitsForOutside)
                        .map(waiting -> full
                                ? target + ", with " + mostBytes + " bytes of records, as many as may wait"
                                : target));
        return Optional.of(new SinkStatus(
                target,
                state.map(DeliveryThread.State::records).orElse(0L),
                waitingRecords,
                state.map(DeliveryThread.State::silentMicros).orElse(0L),
                state.flatMap(DeliveryThread.State::lastError),
                waitsFor));
    }

    /** What is not delivered is when the sink is opened again. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        Optional<DeliveryThread> running;
        synchronized (this) {
            running = thread;
        }
        List<AutoCloseable> all = new ArrayList<>();
        all.add(running.<AutoCloseable>map(closes -> closes).orElse(delivery));
        all.add(spool);
        all.add(rows);
        Closing.all(all);
    }
}

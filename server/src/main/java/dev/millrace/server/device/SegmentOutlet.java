package dev.millrace.server.device;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.connector.MemoryChange;
import dev.millrace.connector.PushedContext;
import dev.millrace.connector.SplitStatus;
import dev.millrace.connectors.outbox.Delivery;
import dev.millrace.connectors.outbox.DeliveryThread;
import dev.millrace.connectors.outbox.Parcel;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.segment.SegmentCodec.Identified;
import dev.millrace.sketch.segment.SketchHeader;
import dev.millrace.sketch.segment.SketchHeader.Announcement;
import dev.millrace.sketch.segment.StreamVersion;
import dev.millrace.sketch.segment.VersionCodec;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Takes what devices sent to their topics, each segment once. What waits for the brokers is in the stream's memory, so it is on disk in one
 * step with the rows of the segment and the number that the device gave it; a thread delivers what is on disk, and keeps the number of the last beside it.
 *
 * <pre>
 *   take --> remembered with the rows --kept--> delivered --> forgotten, with what is remembered next
 * </pre>
 *
 * The stream's thread calls it, but for {@link #status}.
 */
final class SegmentOutlet implements AutoCloseable {
    private static final String WAITING = "out "; // names of memory, with a number of 16 digits
    private static final String OUTLET = "outlet";
    private static final int MOST_TOGETHER = 256; // segments of a transaction
    private static final int MOST_DELIVERED = 1_024; // that are remembered still
    private static final long FORGET_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long SILENT_MICROS = 5_000_000; // after which brokers are said to be waited for
    private static final int OVERHEAD_BYTES = 128;

    private final SegmentTopics topics;
    private final PushedContext context;
    private final DeliveryThread thread;
    private final String id;
    private boolean isIdKept;

    @GuardedBy("this") private long last; // number of a segment that was taken

    @GuardedBy("this") private long firstTaken = Long.MAX_VALUE; // since it was opened

    @GuardedBy("this") private long waitingBytes;

    @GuardedBy("this") private long waiting; // segments

    @GuardedBy("this") private long lastDelivered;

    @GuardedBy("this") private long deliveredNanos; // when the first of those came that are remembered still

    @GuardedBy("this") private Set<String> delivered = new HashSet<>();

    /** A segment, and the bins that go with it. */
    private final class Waiting implements Parcel, Delivery.Records {
        private final long number;
        private final byte[] records; // of each its length, 4 bytes, and its bytes
        private final int count;

        Waiting(long number, byte[] records) {
            this.number = number;
            this.records = records;
            int counted = 0;
            ByteBuffer in = ByteBuffer.wrap(records);
            for (; in.hasRemaining(); counted++) {
                next(in);
            }
            this.count = counted;
        }

        private static ByteBuffer next(ByteBuffer in) {
            int length = in.getInt();
            ByteBuffer record = in.slice(in.position(), length);
            in.position(in.position() + length);
            return record;
        }

        @Override
        public long number() {
            return number;
        }

        @Override
        public Delivery.Records records() {
            return this;
        }

        @Override
        public long count() {
            return count;
        }

        @Override
        public void forEach(Consumer<ByteBuffer> record) {
            ByteBuffer in = ByteBuffer.wrap(records);
            while (in.hasRemaining()) {
                record.accept(next(in));
            }
        }

        @Override
        public void delivered() {
            SegmentOutlet.this.delivered(this);
        }
    }

    /** With what waits from before; nothing is delivered until it is told to {@link #start}. */
    SegmentOutlet(SegmentTopics topics, PushedContext context) {
        this.topics = topics;
        this.context = context;
        Map<String, byte[]> memory = context.memory().entries();
        Optional<byte[]> known = Optional.ofNullable(memory.get(OUTLET));
        this.isIdKept = known.isPresent();
        this.id = known.map(bytes -> new String(bytes, Long.BYTES, bytes.length - Long.BYTES, StandardCharsets.UTF_8))
                .orElseGet(() -> "millrace-edge-" + UUID.randomUUID().toString().replace("-", ""));
        this.lastDelivered =
                known.map(bytes -> ByteBuffer.wrap(bytes).getLong()).orElse(0L);
        this.last = lastDelivered;
        List<Waiting> there = new ArrayList<>();
        new TreeMap<>(memory).forEach((name, bytes) -> {
            if (name.startsWith(WAITING)) {
                there.add(new Waiting(Long.parseLong(name.substring(WAITING.length()), 16), bytes));
            }
        });
        for (Waiting each : there) {
            waits(each);
            last = Math.max(last, each.number);
        }
        Delivery delivery = new CheckedDelivery(topics.delivery(id));
        // In doubt, as it may be an older copy of the database. What a newer one wrote has greater numbers than what
        // waits here: that was written, too.
        this.thread =
                new DeliveryThread(context.stream(), delivery, context.clock(), MOST_TOGETHER, true, Long.MAX_VALUE, 0);
        thread.add(there);
    }

    /** Looks whether numbers of segments that were taken since the outlet was opened are greater than all that brokers have. */
    private final class CheckedDelivery implements Delivery {
        private final Delivery delivery;
        private boolean isChecked;

        CheckedDelivery(Delivery delivery) {
            this.delivery = delivery;
        }

        @Override
        public long lastDelivered() {
            long has = delivery.lastDelivered();
            if (!isChecked) {
                begin(has);
                isChecked = true;
            }
            return has;
        }

        @Override
        public void deliver(long number, Records records) {
            delivery.deliver(number, records);
        }

        @Override
        public void close() {
            delivery.close();
        }
    }

    private synchronized void begin(long has) {
        if (has >= firstTaken) {
            throw MillraceException.user(
                            SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                            topics + " has segments of a newer copy of this database, whose clock was ahead")
                    .withHint(
                            "a backup that is restored writes on if the clock is not behind that of what it is a copy of");
        }
        last = Math.max(last, has);
    }

    /** Numbers are times, so that those of an older copy of the database that goes on are greater than those of the newer one. */
    private synchronized long nextNumber() {
        last = Math.max(last + 1, context.clock().epochMicros());
        firstTaken = Math.min(firstTaken, last);
        return last;
    }

    private static String name(long number) {
        return WAITING + String.format("%016x", number);
    }

    private synchronized void waits(Waiting more) {
        waiting++;
        waitingBytes += bytes(more);
    }

    private static long bytes(Waiting of) {
        return OVERHEAD_BYTES + of.records.length;
    }

    /** Begins to deliver. */
    void start() {
        thread.start();
    }

    /** Of what as much waits as may, for users: then devices keep what they have. */
    synchronized Optional<String> isFullOf() {
        return waitingBytes < topics.mostBytes()
                ? Optional.empty()
                : Optional.of(topics + ", with " + topics.mostBytes() + " bytes of segments, as many as may wait");
    }

    /** Whether no more than half of that waits. */
    synchronized boolean hasRoom() {
        return waitingBytes <= topics.mostBytes() / 2;
    }

    /**
     * Takes a segment that becomes rows.
     *
     * @param put gets what is to be remembered with the rows
     * @return to be {@linkplain #kept kept} when that is on disk
     */
    Parcel take(EdgeDevice device, byte[] segment, Identified read, Map<String, byte[]> put) {
        List<byte[]> records = new ArrayList<>();
        for (StreamVersion version : unsaid(device, SketchHeader.of(segment), read.version())) {
            byte[] announcement = VersionCodec.encode(version);
            records.add(SegmentTopics.bins(device.name, version.incarnation(), version.number(), announcement));
        }
        records.add(SegmentTopics.segment(device.name, segment));
        ByteBuffer all = ByteBuffer.allocate(records.stream()
                .mapToInt(record -> Integer.BYTES + record.length)
                .sum());
        records.forEach(record -> all.putInt(record.length).put(record));
        Waiting parcel = new Waiting(nextNumber(), all.array());
        put.put(name(parcel.number), parcel.records);
        if (!isIdKept) {
            put.put(OUTLET, outlet(0));
            isIdKept = true;
        }
        waits(parcel);
        return parcel;
    }

    /** What a reader needs for a segment, and the topic of bins has not been told on this connection. */
    private static List<StreamVersion> unsaid(EdgeDevice device, SketchHeader header, StreamVersion version) {
        List<StreamVersion> unsaid = new ArrayList<>();
        if (version.incarnation() == 0) {
            return unsaid; // it can be read alone
        }
        if (header.announcement() == Announcement.CHANGE) {
            device.versions
                    .find(version.incarnation(), version.number() - 1)
                    .filter(before -> device.says(before, false))
                    .ifPresent(unsaid::add);
        }
        if (device.says(version, header.announcement() == Announcement.COMPLETE)) {
            unsaid.add(version);
        }
        return unsaid;
    }

    /** What was taken is on disk. */
    void kept(Parcel parcel) {
        thread.add(List.of(parcel));
    }

    private void delivered(Waiting parcel) {
        synchronized (this) {
            if (delivered.isEmpty()) {
                deliveredNanos = context.clock().nanoTime();
            }
            delivered.add(name(parcel.number));
            lastDelivered = parcel.number;
            waiting--;
            waitingBytes -= bytes(parcel);
        }
        context.wakeUp();
    }

    /**
     * What need not be remembered any more, to be forgotten with what is remembered next.
     *
     * @param atOnce whether also a little of it
     */
    synchronized Optional<MemoryChange> forgotten(boolean atOnce) {
        boolean isDue = delivered.size() >= MOST_DELIVERED
                || !delivered.isEmpty() && context.clock().nanoTime() - deliveredNanos >= FORGET_NANOS;
        if (delivered.isEmpty() || !atOnce && !isDue) {
            return Optional.empty();
        }
        MemoryChange change = new MemoryChange(new HashMap<>(Map.of(OUTLET, outlet(lastDelivered))), delivered);
        delivered = new HashSet<>();
        return Optional.of(change);
    }

    private byte[] outlet(long number) {
        byte[] name = id.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(Long.BYTES + name.length)
                .putLong(number)
                .put(name)
                .array();
    }

    /** How it is with the brokers. Any thread. */
    SplitStatus status() {
        DeliveryThread.State state = thread.state();
        boolean isSilent = state.waitsForOutside() || state.silentMicros() >= SILENT_MICROS;
        Optional<String> waitsFor = isFullOf().or(() -> isSilent ? Optional.of(topics.toString()) : Optional.empty());
        synchronized (this) {
            return new SplitStatus(
                    "kafka " + topics.segments(),
                    Long.toString(lastDelivered),
                    OptionalLong.of(waiting),
                    OptionalLong.of(state.silentMicros()),
                    state.records(),
                    0,
                    0,
                    state.lastError(),
                    waitsFor);
        }
    }

    /** What waits is delivered when the stream is opened again. */
    @Override
    public void close() {
        thread.close();
    }
}

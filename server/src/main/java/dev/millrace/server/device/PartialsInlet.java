package dev.millrace.server.device;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.batch.Batch;
import dev.millrace.connector.MemoryChange;
import dev.millrace.connector.PushedContext;
import dev.millrace.connector.PushedReader;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.SplitStatus;
import dev.millrace.edge.program.Partials;
import dev.millrace.edge.queue.RecordKind;
import dev.millrace.edge.wire.Message;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.Sketch;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What a query whose windows devices make takes of their stream: partial aggregates, and rows that count in none. It is handed each record that the stream's
 * {@link EdgeInlet} takes, in its order, by that one's thread, and has numbers of its own, changed with the rows: so it takes each once, whatever the stream has
 * and whoever crashes. The stream acknowledges nothing that this has not on disk.
 *
 * <pre>
 *   device -> EdgeInlet -> rows of the stream
 *                |
 *                +--hand--> PartialsInlet -> rows of partials
 *   device &lt;-- the least number that all have on disk
 * </pre>
 *
 * <p>It begins when it is first polled, with the numbers that the stream has then; what came before is not the query's. {@link #hand}, {@link #durable} and
 * {@link #begin} are the stream's thread's; all else is its own thread's.
 */
final class PartialsInlet implements PushedReader {
    private static final String BEGUN = "begun";
    private static final long MOST_BYTES = 4 << 20;
    private static final int ENTRY_BYTES = 2 * Long.BYTES;
    private static final long RETRY_MICROS = 20_000;

    private final EdgeInlets inlets;
    private final String leader;
    private final PartialsColumns columns;
    private final PushedContext context;
    private final Map<String, Numbers> accepted = new HashMap<>();
    private final Map<String, Numbers> durable =
            new ConcurrentHashMap<>(); // written by this thread, read by the stream's
    private final Deque<Given> given = new ArrayDeque<>(); // accepted, and not on disk
    private long acknowledged; // batches
    private MemoryChange remembered = MemoryChange.NONE;
    private boolean asked; // to begin
    private volatile boolean begun; // that is on disk; written by this thread, read by the stream's
    private long records;

    @GuardedBy("this") private final Deque<Handed> waiting = new ArrayDeque<>();

    @GuardedBy("this") private long waitingBytes;

    @GuardedBy("this") private Optional<Map<String, Numbers>> begin = Optional.empty();

    @GuardedBy("this") private boolean closed;

    /** Up to where a device's queue was taken. */
    record Numbers(long identity, long last) {
        byte[] bytes() {
            return ByteBuffer.allocate(ENTRY_BYTES)
                    .putLong(identity)
                    .putLong(last)
                    .array();
        }
    }

    private record Given(Map<String, Numbers> numbers, boolean begins) {}

    /** @param sketch of rows that can be read */
    private record Handed(String device, long identity, Message.Rows rows, Optional<Sketch> sketch) {
        long bytes() {
            return 256L + rows.bytes().length;
        }
    }

    private PartialsInlet(EdgeInlets inlets, String leader, PartialsColumns columns, PushedContext context) {
        this.inlets = inlets;
        this.leader = leader;
        this.columns = columns;
        this.context = context;
    }

    /** @param leader what devices call the stream */
    static PartialsInlet open(EdgeInlets inlets, String leader, PartialsColumns columns, PushedContext context) {
        PartialsInlet inlet = new PartialsInlet(inlets, leader, columns, context);
        Map<String, byte[]> memory = context.memory().entries();
        memory.forEach((entry, bytes) -> EdgeDevice.named(entry)
                .filter(device -> bytes.length >= ENTRY_BYTES)
                .ifPresent(device -> {
                    ByteBuffer in = ByteBuffer.wrap(bytes);
                    Numbers numbers = new Numbers(in.getLong(), in.getLong());
                    inlet.accepted.put(device, numbers);
                    inlet.durable.put(device, numbers);
                }));
        if (memory.containsKey(BEGUN)) {
            inlet.asked = true;
            inlet.begun = true;
            inlets.follow(leader, inlet); // before anything is taken
        }
        return inlet;
    }

    /** The windows that devices are told to make for it. */
    String program() {
        return columns.program().text();
    }

    /** Whether devices may be told so: what they make from then on is taken, whatever happens. */
    boolean isBegun() {
        return begun;
    }

    String id() {
        return columns.program().id();
    }

    // ---- the stream's thread
    // ----------------------------------------------------------------------------------------

    /** From the record behind these on it is handed all. */
    void begin(Map<String, Numbers> numbers) {
        synchronized (this) {
            begin = Optional.of(Map.copyOf(numbers));
        }
        durable.putAll(numbers); // nothing before is wanted
        context.wakeUp();
    }

    /** Takes a record, or one that it has already. */
    void hand(String device, long identity, Message.Rows rows, Optional<Sketch> sketch) {
        synchronized (this) {
            if (closed) {
                return;
            }
            Handed handed = new Handed(device, identity, rows, sketch);
            waiting.add(handed);
            waitingBytes += handed.bytes();
        }
        context.wakeUp();
    }

    /** Whether it is to be handed nothing for now; when there is room again the stream is woken. */
    synchronized boolean isFull() {
        return !closed && waitingBytes >= MOST_BYTES;
    }

    /** Up to which number of a device's queue all is on disk here. */
    long durable(String device, long identity) {
        Numbers numbers = durable.get(device);
        return numbers == null || numbers.identity() != identity ? 0 : numbers.last();
    }

    // ---- its own thread
    // ---------------------------------------------------------------------------------------------

    @Override
    public Optional<Batch> poll() {
        if (!asked) {
            asked = inlets.begin(leader, this);
            return Optional.empty();
        }
        Optional<Map<String, Numbers>> from;
        synchronized (this) {
            from = begin;
            begin = Optional.empty();
        }
        if (from.isPresent()) {
            return Optional.of(remember(from.get(), true, columns.nothing(context.allocator())));
        }
        for (Optional<Handed> next = next(); next.isPresent(); next = next()) {
            Optional<Batch> batch = take(next.get());
            if (batch.isPresent()) {
                return batch;
            }
        }
        return Optional.empty();
    }

    private Optional<Handed> next() {
        boolean hasRoom;
        Optional<Handed> next;
        synchronized (this) {
            next = Optional.ofNullable(waiting.poll());
            hasRoom = waitingBytes >= MOST_BYTES;
            waitingBytes -= next.map(Handed::bytes).orElse(0L);
            hasRoom &= waitingBytes < MOST_BYTES;
        }
        if (hasRoom) {
            inlets.wakeUp(leader);
        }
        return next;
    }

    private Optional<Batch> take(Handed handed) {
        Message.Rows rows = handed.rows();
        Numbers before = accepted.get(handed.device());
        long last = before == null || before.identity() != handed.identity() ? 0 : before.last();
        if (rows.to() <= last) {
            return Optional.empty();
        }
        if (rows.from() > last + 1) { // it is asked for again, with what is missing
            inlets.again(leader, handed.device());
            return Optional.empty();
        }
        Batch batch = rows.from() <= last ? partlyTaken(handed) : batch(handed);
        return Optional.of(remember(Map.of(handed.device(), new Numbers(handed.identity(), rows.to())), false, batch));
    }

    /** Records of which some were taken became one: what they were merged to would count those again. */
    private Batch partlyTaken(Handed handed) {
        if (handed.rows().kind() == RecordKind.COARSER) {
            context.report(new RejectedRecord(
                    handed.device(),
                    handed.rows().from(),
                    "",
                    handed.rows().rows()
                            + " rows came once more, as a coarser segment, and some of them were taken before",
                    SqlState.DATA_EXCEPTION,
                    ""));
        }
        return columns.nothing(context.allocator());
    }

    private Batch batch(Handed handed) {
        Message.Rows rows = handed.rows();
        try {
            if (handed.sketch().isPresent()) {
                return columns.ofRows(handed.sketch().get(), handed.device(), context.allocator());
            }
            boolean own = rows.kind() == RecordKind.PARTIALS
                    && Partials.head(rows.bytes()).id().equals(id());
            return own
                    ? columns.ofPartials(rows.bytes(), handed.device(), context.allocator())
                    : columns.nothing(context.allocator());
        } catch (MillraceException e) {
            context.report(new RejectedRecord(
                    handed.device(), rows.from(), "", String.valueOf(e.getMessage()), e.sqlState(), ""));
            return columns.nothing(context.allocator());
        }
    }

    private Batch remember(Map<String, Numbers> numbers, boolean begins, Batch batch) {
        Map<String, byte[]> put = new HashMap<>();
        numbers.forEach((device, of) -> put.put(EdgeDevice.entry(device), of.bytes()));
        if (begins) {
            put.put(BEGUN, new byte[] {1});
        }
        accepted.putAll(numbers);
        remembered = new MemoryChange(put, Set.of());
        given.add(new Given(numbers, begins));
        records++;
        return batch;
    }

    @Override
    public MemoryChange remembered() {
        return remembered;
    }

    @Override
    public void acknowledge(long batches) {
        while (acknowledged < batches) {
            Given kept = given.remove();
            acknowledged++;
            durable.putAll(kept.numbers());
            if (kept.begins()) {
                begun = true;
                inlets.programsChanged(leader);
            } else {
                kept.numbers().keySet().forEach(device -> inlets.acknowledge(leader, device));
            }
        }
    }

    @Override
    public boolean isFinished() {
        return false;
    }

    @Override
    public long retryAfterMicros() {
        return asked ? 1_000_000 : RETRY_MICROS;
    }

    @Override
    public List<SplitStatus> splits() {
        long count;
        synchronized (this) {
            count = waiting.size();
        }
        return List.of(new SplitStatus(
                "windows of " + leader,
                "",
                OptionalLong.of(count),
                OptionalLong.empty(),
                records,
                0,
                0,
                Optional.empty(),
                Optional.empty()));
    }

    @Override
    public void dropped() {
        inlets.unfollow(leader, this);
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            waiting.clear();
            waitingBytes = 0;
        }
        inlets.wakeUp(leader);
    }
}

package dev.millrace.server.device;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.batch.Batch;
import dev.millrace.connector.MemoryChange;
import dev.millrace.connector.PushedContext;
import dev.millrace.connector.PushedReader;
import dev.millrace.connector.SplitStatus;
import dev.millrace.connectors.outbox.Parcel;
import dev.millrace.edge.queue.RecordKind;
import dev.millrace.edge.wire.Message;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.SegmentCodec.Identified;
import dev.millrace.sketch.segment.SketchHeader;
import dev.millrace.sketch.segment.VersionCodec;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.function.UnaryOperator;

/**
 * The stream's end of what its devices send. {@link #offer}, {@link #set}, {@link #update} and {@link #status} are for any thread; all else is the
 * stream's thread's.
 *
 * <pre>
 *   rows of number n, where the stream has all up to m
 *     n &lt;= m       dropped, counted, acknowledged again
 *     n == m + 1   read and accepted with n, in one entry of the journal; acknowledged when that is on disk
 *     n &gt; m + 1    waits for those between, as far as there is room; else dropped, and all is asked for again
 * </pre>
 *
 * <p>Those that follow it ({@link PartialsInlet}) are handed each record in that order, too, and a device is acknowledged what all have on disk.
 *
 * <p>Long because what becomes of a record, and who is told, is one order of steps on one thread.
 */
public final class EdgeInlet implements PushedReader {
    private static final long RETRY_MICROS = 1_000_000;
    private static final int MOST_EARLY = 64;
    private static final long MOST_EARLY_BYTES = 4 << 20;
    private static final int MOST_DEVICES = 100_000;

    private final EdgeInlets inlets;
    private final String name;
    private final EdgeColumns columns;
    private final long mostBytes;
    private final PushedContext context;
    private final DeviceNotes notes;
    private final Optional<SegmentOutlet> outlet;
    private final Map<String, EdgeDevice> devices = new ConcurrentHashMap<>();
    private final Set<PartialsInlet> followers; // are handed all that is taken
    private final Deque<Runnable> work = new ConcurrentLinkedDeque<>(); // of others, for the stream's thread
    private final Deque<Given> given = new ArrayDeque<>(); // to the stream, and not on disk
    private long acknowledged; // batches
    private final Map<EdgeDevice, DeviceSession> turnedAway = new HashMap<>(); // while brokers are away
    private MemoryChange remembered = MemoryChange.NONE;
    private long segments;
    private volatile boolean
            programsKept; // written false by who changes what queries need; true by the stream's thread

    @GuardedBy("this") private final Deque<Arrival> waiting = new ArrayDeque<>();

    @GuardedBy("this") private long waitingBytes;

    @GuardedBy("this") private final Set<DeviceSession> held = new HashSet<>(); // that are not read from

    @GuardedBy("this") private boolean closed;

    /** A batch, and who is told when it is on disk. */
    private record Given(Optional<Numbers> numbers, Optional<Parcel> parcel) {}

    private record Numbers(EdgeDevice device, long identity, long upTo) {}

    private EdgeInlet(
            EdgeInlets inlets,
            String name,
            EdgeColumns columns,
            long mostBytes,
            Optional<SegmentTopics> topics,
            PushedContext context) {
        this.inlets = inlets;
        this.name = name;
        this.followers = inlets.followers(name);
        this.columns = columns;
        this.mostBytes = mostBytes;
        this.context = context;
        this.notes = new DeviceNotes(context);
        this.outlet = topics.map(to -> new SegmentOutlet(to, context));
    }

    /**
     * An inlet that takes what devices send from now on.
     *
     * @param topics of Kafka that get it, too
     * @throws MillraceException 42710 if devices send to another stream by this name
     */
    static EdgeInlet open(
            EdgeInlets inlets,
            String name,
            EdgeColumns columns,
            long mostBytes,
            Optional<SegmentTopics> topics,
            PushedContext context) {
        EdgeInlet inlet = new EdgeInlet(inlets, name, columns, mostBytes, topics, context);
        context.memory()
                .entries()
                .forEach((entry, bytes) -> EdgeDevice.named(entry).ifPresent(device -> {
                    EdgeDevice known = new EdgeDevice(device, context.stream());
                    known.restore(bytes);
                    inlet.devices.put(device, known);
                }));
        inlets.add(name, inlet);
        inlet.outlet.ifPresent(SegmentOutlet::start);
        return inlet;
    }

    /** Its name in SQL. */
    public String stream() {
        return context.stream();
    }

    // ---- any thread
    // -------------------------------------------------------------------------------------------------

    /**
     * Takes what a connection brought; what it says is told to the session.
     *
     * @return whether there is room for more; if not, the session is told when there is ({@link DeviceSession#room})
     */
    public boolean offer(DeviceSession session, Message message) {
        boolean room;
        synchronized (this) {
            if (closed) {
                return true; // the session hears that the stream is gone
            }
            Arrival arrival = new Arrival(session, message);
            waiting.add(arrival);
            waitingBytes += arrival.bytes();
            room = waitingBytes < mostBytes;
            if (!room) {
                held.add(session);
            }
        }
        context.wakeUp();
        return room;
    }

    /** Changes how a device is seen. */
    public void update(String device, UnaryOperator<EdgeStatus> change) {
        EdgeDevice known = devices.get(device);
        if (known != null) {
            known.update(change);
        }
    }

    List<EdgeStatus> status() {
        List<EdgeStatus> all = new ArrayList<>();
        new TreeMap<>(devices).values().forEach(device -> all.add(device.status()));
        return all;
    }

    void set(Optional<String> device, Map<String, String> changes) {
        synchronized (devices) {
            MemoryChange change = EdgeSettings.changed(context.memory().entries(), device, changes);
            try {
                context.memory().change(change);
            } finally { // where that fails it may be changed all the same
                tellSettings(device.orElse(""));
            }
        }
    }

    /** Has devices told what is set by now; the name of one, or empty for all. */
    private void tellSettings(String device) {
        synchronized (this) {
            if (closed) {
                return;
            }
            waiting.add(new Arrival(new NoDevice(), new Message.Set(0, 0, device)));
        }
        context.wakeUp();
    }

    /** Has the stream's thread do something soon. */
    void onThread(Runnable then) {
        work.add(then);
        context.wakeUp();
    }

    /** What queries need of devices is something else than it was: they are told when that is kept. */
    void programsChanged() {
        programsKept = false;
        context.wakeUp();
    }

    // ---- the stream's thread
    // ----------------------------------------------------------------------------------------

    @Override
    public Optional<Batch> poll() {
        for (Optional<Runnable> next = Optional.ofNullable(work.poll());
                next.isPresent();
                next = Optional.ofNullable(work.poll())) {
            next.get().run();
        }
        if (!programsKept && !keepPrograms()) {
            return Optional.empty(); // no device is told what was needed before
        }
        callBack();
        if (followers.stream().anyMatch(PartialsInlet::isFull)) {
            return Optional.empty(); // who has room again says so
        }
        for (Optional<Arrival> next = take(); next.isPresent(); next = take()) {
            Arrival arrival = next.get();
            if (arrival.message() instanceof Message.Open open) {
                open(arrival.session(), open);
            } else if (arrival.message() instanceof Message.Set set) {
                devices.values().stream()
                        .filter(device -> set.text().isEmpty() || device.name.equals(set.text()))
                        .forEach(device -> tellSettings(device, 0));
            } else {
                EdgeDevice device = devices.get(arrival.session().device());
                if (device == null || !device.session.equals(Optional.of(arrival.session())) || device.opening) {
                    continue; // of a connection that does not count any more
                }
                Optional<Batch> batch = arrival.message() instanceof Message.Rows rows
                        ? arrived(device, arrival.session(), rows)
                        : version(device, (Message.Version) arrival.message());
                if (batch.isPresent()) {
                    return batch;
                }
            }
        }
        return ready().or(this::forgetting);
    }

    /** A batch without rows, with which is forgotten what brokers have, if that is due. */
    private Optional<Batch> forgetting() {
        Optional<MemoryChange> change = outlet.flatMap(to -> to.forgotten(false));
        change.ifPresent(forgotten -> {
            remembered = forgotten;
            given.add(new Given(Optional.empty(), Optional.empty()));
        });
        return change.map(forgotten -> columns.nothing(context.allocator()));
    }

    /** Remembers what queries need, and has devices told; false if the disk takes nothing for now. */
    private boolean keepPrograms() {
        programsKept = true; // what changes meanwhile says so again
        try {
            synchronized (devices) {
                Map<String, String> windows = new TreeMap<>();
                followers.stream()
                        .filter(PartialsInlet::isBegun)
                        .forEach(follower -> windows.put(follower.id(), follower.program()));
                EdgeSettings.programs(context.memory().entries(), inlets.programs(context.stream()), windows)
                        .ifPresent(context.memory()::change);
            }
            devices.values().forEach(device -> tellSettings(device, 0)); // not before: what is told is what is kept
            return true;
        } catch (MillraceException e) {
            programsKept = false;
            String why = String.valueOf(e.getMessage());
            devices.values().forEach(device -> device.update(status -> status.withProblem(why)));
            return false;
        }
    }

    private Optional<Arrival> take() {
        List<DeviceSession> roused = List.of();
        Optional<Arrival> next;
        synchronized (this) {
            if (!early.isEmpty()) {
                return Optional.empty(); // what can go on now goes first
            }
            next = Optional.ofNullable(waiting.poll());
            waitingBytes -= next.map(Arrival::bytes).orElse(0L);
            if (waitingBytes < mostBytes / 2 && !held.isEmpty()) {
                roused = List.copyOf(held);
                held.clear();
            }
        }
        roused.forEach(DeviceSession::room);
        return next;
    }

    private final Deque<EdgeDevice> early = new ArrayDeque<>(); // devices whose next number has come before

    private Optional<Batch> ready() {
        EdgeDevice device = early.poll();
        if (device == null || device.early.isEmpty()) {
            return Optional.empty();
        }
        Message.Rows rows = device.early.pollFirstEntry().getValue();
        device.earlyBytes -= rows.bytes().length;
        return device.session.flatMap(session -> arrived(device, session, rows));
    }

    private void open(DeviceSession session, Message.Open open) {
        EdgeDevice device = devices.get(session.device());
        if (device == null) {
            if (devices.size() >= MOST_DEVICES) {
                session.waitsFor("the stream has " + MOST_DEVICES + " devices already");
                return;
            }
            device = new EdgeDevice(session.device(), context.stream());
            devices.put(session.device(), device);
        }
        turnedAway.remove(device);
        device.session = Optional.of(session);
        early.remove(device);
        device.opening = true;
        device.programs = open.programs();
        device.update(status -> status.withSettingsDone(open.settings(), ""));
        tellSettings(device, open.settings());
        if (!isRefused(device, session)) {
            settle(device);
        }
    }

    /** What a device has stays there while the brokers that get it, too, are away and as much waits for them as may. */
    private boolean isRefused(EdgeDevice device, DeviceSession session) {
        Optional<String> why = outlet.flatMap(SegmentOutlet::isFullOf);
        why.ifPresent(reason -> {
            refuse(device, session, reason);
            turnedAway.put(device, session);
        });
        return why.isPresent();
    }

    /** Brokers have taken so much that devices may come again that were turned away. */
    private void callBack() {
        if (!turnedAway.isEmpty() && outlet.orElseThrow().hasRoom()) {
            turnedAway.values().forEach(DeviceSession::needVersions); // by which they open the stream again
            turnedAway.clear();
        }
    }

    /** Nothing is lost: it waits at the device, which asks again. */
    private void refuse(EdgeDevice device, DeviceSession session, String why) {
        close(device);
        device.update(status -> status.withProblem(why));
        session.waitsFor(why);
    }

    /** A connection begins when all that was accepted of earlier ones is on disk: what is behind that nobody has. */
    private void settle(EdgeDevice device) {
        DeviceSession session = device.session.orElseThrow();
        boolean another = device.identity() != session.identity();
        if (another || device.isSettled()) {
            device.useQueue(session.identity());
            device.opening = false;
            session.opened(Math.min(device.last(), durable(device)));
        }
    }

    private void tellSettings(EdgeDevice device, long known) {
        boolean makesWindows = device.programs >= Message.Open.WINDOWS;
        EdgeSettings settings = EdgeSettings.of(context.memory().entries(), device.name, makesWindows);
        device.update(status -> status.withSettings(settings.text(), settings.number()));
        if (settings.number() > 0 && settings.number() != known) {
            device.session
                    .or(() -> Optional.ofNullable(turnedAway.get(device)))
                    .ifPresent(session -> session.set(settings.number(), settings.text()));
        }
    }

    private Optional<Batch> version(EdgeDevice device, Message.Version version) {
        try {
            device.versions.add(VersionCodec.decode(version.bytes()));
        } catch (MillraceException e) {
            notes.damaged(device, 0, e);
        }
        return Optional.empty();
    }

    private Optional<Batch> arrived(EdgeDevice device, DeviceSession session, Message.Rows rows) {
        if (rows.to() <= device.last()) {
            device.update(status -> status.withDropped(1, 0, 0));
            long durable = durable(device);
            if (durable < rows.to()) { // a follower may not have it
                try {
                    hand(
                            device,
                            rows,
                            EdgeDevice.brings(rows)
                                    ? Optional.of(read(device, rows).sketch())
                                    : Optional.empty());
                } catch (MillraceException e) {
                    return unreadableAgain(device, session, rows, e);
                }
            }
            session.acknowledged(durable);
            return Optional.empty();
        }
        if (rows.from() > device.last() + 1) {
            return early(device, session, rows);
        }
        if (isRefused(device, session)) {
            return Optional.empty();
        }
        if (rows.from() <= device.last()) { // some of it is there: a queue that was copied
            notes.damaged(
                    device,
                    rows.from(),
                    MillraceException.user(
                            SqlState.DATA_CORRUPTED,
                            "numbers " + rows.from() + " to " + rows.to()
                                    + ", of which the stream has some: are there two" + " devices with this queue?"));
            return withoutRows(device, rows);
        }
        if (!EdgeDevice.brings(rows)) {
            if (rows.kind() != RecordKind.PARTIALS) {
                notes.noted(device, rows);
            }
            return withoutRows(device, rows);
        }
        try {
            Identified read = read(device, rows);
            return batch(device, rows, read, columns.batch(read.sketch(), device.name, context.allocator()));
        } catch (MillraceException e) {
            return unreadable(device, session, rows, e);
        }
    }

    private static Identified read(EdgeDevice device, Message.Rows rows) {
        Identified read = SegmentCodec.identify(rows.bytes(), SketchHeader.of(rows.bytes()), device.versions);
        long count = read.sketch().rows();
        if (count != rows.rows()) {
            throw MillraceException.user(
                    SqlState.DATA_CORRUPTED, "a segment of " + count + " rows came as one of " + rows.rows());
        }
        return read;
    }

    /** The same of rows that the stream has, but not all of its followers. */
    private Optional<Batch> unreadableAgain(
            EdgeDevice device, DeviceSession session, Message.Rows rows, MillraceException e) {
        if (e.sqlState() == SqlState.DATA_CORRUPTED) { // as it was when it came first
            hand(device, rows, Optional.empty());
            return Optional.empty();
        }
        return unreadable(device, session, rows, e);
    }

    private Optional<Batch> unreadable(
            EdgeDevice device, DeviceSession session, Message.Rows rows, MillraceException e) {
        if (e.sqlState() == SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE) {
            device.update(status -> status.withDropped(0, 1, 0));
            close(device);
            session.needVersions();
            return Optional.empty();
        }
        if (e.sqlState() == SqlState.DATA_CORRUPTED) {
            notes.damaged(device, rows.from(), e);
            return withoutRows(device, rows);
        }
        refuse(device, session, String.valueOf(e.getMessage()));
        return Optional.empty();
    }

    /** Takes nothing more of its connection before it is opened again. */
    private void close(EdgeDevice device) {
        device.session = Optional.empty();
        device.early.clear();
        device.earlyBytes = 0;
        early.remove(device);
    }

    private Optional<Batch> early(EdgeDevice device, DeviceSession session, Message.Rows rows) {
        device.update(status -> status.withDropped(0, 1, 0));
        if (device.early.put(rows.from(), rows) == null) {
            device.earlyBytes += rows.bytes().length;
        }
        if (device.early.size() > MOST_EARLY || device.earlyBytes > MOST_EARLY_BYTES) {
            close(device);
            session.needVersions(); // and all behind what is acknowledged
        }
        return Optional.empty();
    }

    private Optional<Batch> batch(EdgeDevice device, Message.Rows rows, Identified read, Batch made) {
        Map<String, byte[]> put = new HashMap<>();
        Optional<Parcel> parcel = outlet.map(to -> to.take(device, rows.bytes(), read, put));
        hand(device, rows, Optional.of(read.sketch()));
        accepted(device, rows, false, put, parcel);
        return Optional.of(made);
    }

    private Optional<Batch> withoutRows(EdgeDevice device, Message.Rows rows) {
        hand(device, rows, Optional.empty());
        accepted(device, rows, EdgeDevice.brings(rows), new HashMap<>(), Optional.empty());
        return Optional.of(columns.nothing(context.allocator()));
    }

    /** What has the next numbers of a device is the batch that is given now, together with what else is to be remembered. */
    private void accepted(
            EdgeDevice device, Message.Rows rows, boolean isDamaged, Map<String, byte[]> put, Optional<Parcel> parcel) {
        device.accepted(rows, isDamaged);
        put.put(device.entry(), device.remembered());
        Optional<MemoryChange> forgotten = outlet.flatMap(to -> to.forgotten(true));
        forgotten.ifPresent(change -> put.putAll(change.put()));
        remembered = new MemoryChange(put, forgotten.map(MemoryChange::removed).orElse(Set.of()));
        given.add(new Given(Optional.of(new Numbers(device, device.identity(), rows.to())), parcel));
        segments++;
        if (!device.early.isEmpty() && device.early.firstKey() <= device.last() + 1) {
            early.add(device);
        }
    }

    // ---- followers
    // --------------------------------------------------------------------------------------------------

    private void hand(EdgeDevice device, Message.Rows rows, Optional<Sketch> sketch) {
        followers.forEach(follower -> follower.hand(device.name, device.identity(), rows, sketch));
    }

    /** Up to which number a device's records are on disk, here and with all followers. */
    private long durable(EdgeDevice device) {
        long least = device.durable();
        for (PartialsInlet follower : followers) {
            least = Math.min(least, follower.durable(device.name, device.identity()));
        }
        return least;
    }

    /** A follower begins: with what comes next of each device. */
    void begin(PartialsInlet follower) {
        Map<String, PartialsInlet.Numbers> numbers = new TreeMap<>();
        devices.forEach(
                (device, known) -> numbers.put(device, new PartialsInlet.Numbers(known.identity(), known.last())));
        follower.begin(numbers);
        inlets.follow(name, follower);
    }

    /** Of some that were waited for there is one less. */
    void acknowledgeAll() {
        devices.keySet().forEach(this::acknowledgeAgain);
    }

    void acknowledgeAgain(String device) {
        EdgeDevice known = devices.get(device);
        if (known != null && !known.opening) {
            known.session.ifPresent(session -> session.acknowledged(durable(known)));
        }
    }

    /** A device is to send all again that is not acknowledged. */
    void sendAgain(String device) {
        EdgeDevice known = devices.get(device);
        if (known != null && !known.opening) {
            known.session.ifPresent(session -> {
                close(known);
                session.needVersions();
            });
        }
    }

    @Override
    public MemoryChange remembered() {
        return remembered;
    }

    @Override
    public void acknowledge(long batches) {
        Set<EdgeDevice> changed = new HashSet<>();
        while (acknowledged < batches) {
            Given kept = given.remove();
            acknowledged++;
            kept.parcel().ifPresent(parcel -> outlet.orElseThrow().kept(parcel));
            kept.numbers().ifPresent(numbers -> {
                numbers.device().durable(numbers.identity(), numbers.upTo());
                changed.add(numbers.device());
            });
        }
        for (EdgeDevice device : changed) {
            if (device.opening) {
                settle(device);
            } else {
                device.session.ifPresent(session -> session.acknowledged(durable(device)));
            }
        }
    }

    @Override
    public boolean isFinished() {
        return false;
    }

    @Override
    public long retryAfterMicros() {
        return early.isEmpty() ? RETRY_MICROS : 0;
    }

    @Override
    public List<SplitStatus> splits() {
        long records;
        synchronized (this) {
            records = waiting.size();
        }
        List<SplitStatus> all = new ArrayList<>();
        all.add(new SplitStatus(
                "edge " + name,
                devices.size() + " devices",
                OptionalLong.of(records),
                OptionalLong.empty(),
                segments,
                0,
                0,
                Optional.empty(),
                Optional.empty()));
        outlet.ifPresent(to -> all.add(to.status()));
        return all;
    }

    @Override
    public void close() {
        List<DeviceSession> sessions = new ArrayList<>();
        synchronized (this) {
            closed = true;
            waiting.clear();
            sessions.addAll(held);
            held.clear();
        }
        inlets.remove(name, this);
        sessions.forEach(DeviceSession::room);
        devices.values()
                .forEach(device -> device.session.ifPresent(session -> session.waitsFor("the stream is closed")));
        outlet.ifPresent(SegmentOutlet::close);
    }
}

package dev.millrace.server.device;

import dev.millrace.edge.queue.RecordKind;
import dev.millrace.edge.wire.Message;
import dev.millrace.server.device.EdgeStatus.Kept;
import dev.millrace.sketch.segment.StreamVersion;
import dev.millrace.sketch.segment.Versions;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** One device of a stream: what the stream has of it, and how it is. What others read is guarded by this. */
final class EdgeDevice {
    private static final int KEPT_BYTES = 8 * Long.BYTES;
    private static final int BYTES_WITHOUT_WINDOWS = 7 * Long.BYTES; // as before devices made any
    private static final int MOST_SAID = 1_024; // beyond which it is said once more
    private static final String NAME = "at ";

    final String name;

    // the stream's thread's
    Versions versions = new Versions();
    private final Set<Said> said = new HashSet<>(); // to the topic of bins, of this connection
    final TreeMap<Long, Message.Rows> early = new TreeMap<>(); // that came before others of lower numbers
    long earlyBytes;
    Optional<DeviceSession> session = Optional.empty();
    int programs = 1; // the version that it knows
    boolean opening; // the session waits until all that was accepted is on disk
    private long identity;
    private long durable; // number that is on disk
    private Kept kept = Kept.NONE; // accepted

    // everybody's
    private EdgeStatus status;

    private record Said(long incarnation, int number) {}

    EdgeDevice(String name, String stream) {
        this.name = name;
        this.status = EdgeStatus.unseen(name, stream);
    }

    /** Whether a name of the memory is a device's. */
    static Optional<String> named(String entry) {
        return entry.startsWith(NAME) ? Optional.of(entry.substring(NAME.length())) : Optional.empty();
    }

    String entry() {
        return entry(name);
    }

    /** The name of the memory that is a device's. */
    static String entry(String device) {
        return NAME + device;
    }

    /** As of what is remembered. */
    void restore(byte[] bytes) {
        if (bytes.length >= BYTES_WITHOUT_WINDOWS) {
            ByteBuffer in = ByteBuffer.wrap(bytes);
            identity = in.getLong();
            long last = in.getLong();
            long rows = in.getLong();
            long segments = in.getLong();
            long shedRows = in.getLong();
            long lostSegments = in.getLong();
            long ofSegments = in.getLong();
            long windowRows = in.hasRemaining() ? in.getLong() : 0;
            kept = new Kept(last, rows, segments, ofSegments, shedRows, lostSegments, windowRows);
            durable = last;
            tell();
        }
    }

    byte[] remembered() {
        return ByteBuffer.allocate(KEPT_BYTES)
                .putLong(identity)
                .putLong(kept.number())
                .putLong(kept.rows())
                .putLong(kept.segments())
                .putLong(kept.shedRows())
                .putLong(kept.lostSegments())
                .putLong(kept.bytes())
                .putLong(kept.windowRows())
                .array();
    }

    /** Another queue of the device counts anew. */
    void useQueue(long ofIdentity) {
        if (identity != ofIdentity) {
            identity = ofIdentity;
            kept = kept.withNumber(0);
            durable = 0;
        }
        versions = new Versions();
        said.clear();
        early.clear();
        earlyBytes = 0;
    }

    /** Whether bins are to be said: once for a connection, or again. */
    boolean says(StreamVersion version, boolean again) {
        if (said.size() >= MOST_SAID) {
            said.clear();
        }
        return said.add(new Said(version.incarnation(), version.number())) || again;
    }

    long last() {
        return kept.number();
    }

    long durable() {
        return durable;
    }

    /** Whether all that was accepted is on disk. */
    boolean isSettled() {
        return durable == kept.number();
    }

    /** @param damaged whether it should have brought rows, and did not */
    void accepted(Message.Rows rows, boolean damaged) {
        kept = damaged ? kept.withNumber(rows.to()) : kept.with(rows);
        tell();
    }

    /** @param ofIdentity under which it was accepted */
    void durable(long ofIdentity, long upTo) {
        if (identity == ofIdentity) {
            durable = Math.max(durable, upTo);
        }
    }

    long identity() {
        return identity;
    }

    private void tell() {
        Kept now = kept;
        update(status -> status.withKept(now));
    }

    synchronized void update(java.util.function.UnaryOperator<EdgeStatus> change) {
        status = change.apply(status);
    }

    synchronized EdgeStatus status() {
        return status;
    }

    /** Whether a kind of record brings rows. */
    static boolean brings(Message.Rows rows) {
        return rows.kind() == RecordKind.SEGMENT || rows.kind() == RecordKind.COARSER;
    }
}

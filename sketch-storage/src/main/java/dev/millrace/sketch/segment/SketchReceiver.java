package dev.millrace.sketch.segment;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.Sketch;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The receiving end of one stream: what arrives, in whatever order, some of it twice and some never, is read right, waits for
 * its version, or is dropped and counted (dissertation §6.3.2, the gateway). Segments are handed on as soon as they can be
 * read, and say which place they have. Waiting is bounded by a number of segments and of bytes; what has waited
 * longest is dropped. Not thread-safe.
 */
public final class SketchReceiver {
    private static final int WINDOW = 1 << 16; // sequence numbers looked back, for what comes twice
    private static final int MOST_INCARNATIONS = 64;

    private final Versions versions;
    private final int mostWaiting;
    private final long mostWaitingBytes;
    private final Consumer<Received> out;
    private final Map<Long, ArrivedNumbers> arrivals = new LinkedHashMap<>(16, .75f, true);
    private final Deque<byte[]> waiting = new ArrayDeque<>();
    private long waitingBytes;
    private long read;
    private long twice;
    private long unreadable;
    private long damaged;
    private long forgottenMissing;

    /**
     * A segment that was read.
     *
     * @param incarnation of the encoder that wrote it
     * @param header with its place among the segments of that
     * @param sketch its rows
     */
    public record Received(long incarnation, SketchHeader header, Sketch sketch) {}

    /** What became of bytes that arrived. */
    public enum Outcome {
        /** They were handed on. */
        READ,
        /** They announced a version and nothing else. */
        ANNOUNCED,
        /** They wait for their version; others may have been dropped for them. */
        WAITS,
        /** They had come before. */
        TWICE,
        /** They are no segment that this version of Millrace can read. */
        DAMAGED
    }

    /**
     * What was seen so far, in segments.
     *
     * @param read handed on
     * @param waiting for their version
     * @param twice came again, and dropped
     * @param missing between the first and the last of each incarnation that neither came nor wait
     * @param unreadable dropped without having been read, because their version was never announced
     * @param damaged dropped because they are damaged
     */
    public record Counts(long read, long waiting, long twice, long missing, long unreadable, long damaged) {}

    /**
     * A reader.
     *
     * @param versions that it knows and learns; may be shared with others that read the stream
     * @param mostWaiting segments that wait at most
     * @param mostWaitingBytes their bytes at most
     * @param out takes what was read
     */
    public SketchReceiver(Versions versions, int mostWaiting, long mostWaitingBytes, Consumer<Received> out) {
        if (mostWaiting < 0 || mostWaitingBytes < 0) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "limits of what waits must not be negative, and are " + mostWaiting + " and " + mostWaitingBytes);
        }
        this.versions = versions;
        this.mostWaiting = mostWaiting;
        this.mostWaitingBytes = mostWaitingBytes;
        this.out = out;
    }

    /** Takes what arrived: a segment or an announcement; keeps the array while it waits. */
    public Outcome accept(byte[] bytes) {
        Outcome outcome;
        try {
            SketchHeader header = SketchHeader.of(bytes);
            if (header.announcement() == SketchHeader.Announcement.ALONE) {
                versions.add(VersionCodec.decode(bytes));
                outcome = Outcome.ANNOUNCED;
            } else {
                outcome = handOn(bytes, header) ? Outcome.READ : Outcome.TWICE;
            }
            if (header.announcement() != SketchHeader.Announcement.REFERENCE) {
                readWaiting();
            }
            return outcome;
        } catch (MillraceException e) {
            if (e.sqlState() == SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE) {
                await(bytes);
                return Outcome.WAITS;
            }
            damaged++;
            return Outcome.DAMAGED;
        }
    }

    /** False if it came before. */
    private boolean handOn(byte[] bytes, SketchHeader header) {
        SegmentCodec.Identified identified = SegmentCodec.identify(bytes, header, versions);
        if (header.sequence() >= 0
                && !arrivals(identified.version().incarnation()).add(header.sequence())) {
            twice++;
            return false;
        }
        read++;
        out.accept(new Received(identified.version().incarnation(), header, identified.sketch()));
        return true;
    }

    private ArrivedNumbers arrivals(long incarnation) {
        ArrivedNumbers known = arrivals.computeIfAbsent(incarnation, i -> new ArrivedNumbers(WINDOW));
        if (arrivals.size() > MOST_INCARNATIONS) {
            Map.Entry<Long, ArrivedNumbers> oldest =
                    arrivals.entrySet().iterator().next();
            forgottenMissing += oldest.getValue().missing();
            arrivals.remove(oldest.getKey());
        }
        return known;
    }

    private void await(byte[] bytes) {
        waiting.add(bytes);
        waitingBytes += bytes.length;
        while (waiting.size() > mostWaiting || waitingBytes > mostWaitingBytes) {
            waitingBytes -= waiting.remove().length;
            unreadable++;
        }
    }

    /** Reads what can be read now; each that announces something may make others readable. */
    private void readWaiting() {
        boolean progress = true;
        while (progress && !waiting.isEmpty()) {
            progress = false;
            List<byte[]> all = new ArrayList<>(waiting);
            waiting.clear();
            waitingBytes = 0;
            for (byte[] bytes : all) {
                try {
                    SketchHeader header = SketchHeader.of(bytes);
                    handOn(bytes, header);
                    progress |= header.announcement() != SketchHeader.Announcement.REFERENCE;
                } catch (MillraceException e) {
                    if (e.sqlState() == SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE) {
                        await(bytes);
                    } else {
                        damaged++;
                    }
                }
            }
        }
    }

    /** Drops what waits, as it will never be readable; says how many segments those were. */
    public int giveUp() {
        int dropped = waiting.size();
        unreadable += dropped;
        waiting.clear();
        waitingBytes = 0;
        return dropped;
    }

    public Counts counts() {
        long missing = forgottenMissing;
        for (ArrivedNumbers known : arrivals.values()) {
            missing += known.missing();
        }
        return new Counts(read, waiting.size(), twice, Math.max(0, missing - waiting.size()), unreadable, damaged);
    }
}

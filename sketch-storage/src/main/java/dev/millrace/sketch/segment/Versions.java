package dev.millrace.sketch.segment;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * The versions of one stream that a reader has come to know. Reading a segment adds what it announces; a segment of a
 * version not yet known has to wait until the one that announces it was read. Safe on any thread.
 */
public final class Versions {
    private static final int MOST_KEPT = 1024;

    private final ConcurrentSkipListMap<Integer, StreamVersion> byNumber = new ConcurrentSkipListMap<>();

    public Optional<StreamVersion> find(int number) {
        return Optional.ofNullable(byNumber.get(number));
    }

    /**
     * The version of this number.
     *
     * @throws MillraceException if the segment that announces it was not read yet
     */
    public StreamVersion get(int number) {
        StreamVersion version = byNumber.get(number);
        if (version == null) {
            String known = byNumber.isEmpty()
                    ? "none is known"
                    : "known are " + byNumber.firstKey() + " to " + byNumber.lastKey();
            throw MillraceException.user(
                            SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                            "the segment needs version " + number + " of its stream's bins, but " + known)
                    .withHint("Read the segments in order, or ask for self-contained ones.");
        }
        return version;
    }

    /** Adds a version; the oldest of more than a thousand are forgotten. */
    public void add(StreamVersion version) {
        byNumber.put(version.number(), version);
        while (byNumber.size() > MOST_KEPT) {
            Map.Entry<Integer, StreamVersion> oldest = byNumber.firstEntry();
            byNumber.remove(oldest.getKey(), oldest.getValue());
        }
    }
}

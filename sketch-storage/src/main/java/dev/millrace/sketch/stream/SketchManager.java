package dev.millrace.sketch.stream;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.schema.SketchSchema;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;

/**
 * One stream per key (dissertation §6.2.1, the sketch manager). A key's segment closes when it is full, when a row of the key
 * belongs to a later stretch of event time, or when {@link #advance} says that event time has passed its end. Memory is
 * bounded twice: when more rows wait than allowed, the key that has waited longest since its last row closes its segment;
 * and no more than so many keys are remembered, of which the one longest silent is forgotten, so that its stream begins
 * anew, with a segment that announces its version completely. Not thread-safe.
 *
 * @param <K> keys, with equals and hashCode
 */
public final class SketchManager<K> {
    private final SketchSchema schema;
    private final EncoderOptions options;
    private final int mostKeys;
    private final int mostRows;
    private final BiConsumer<K, EncodedSegment> out;
    private final Map<K, Stream> streams = new LinkedHashMap<>(16, .75f, true); // the key longest silent first
    private int waitingRows;

    private static final class Stream {
        final StreamEncoder encoder;
        long endTicks = Long.MAX_VALUE; // of the open segment's stretch of event time

        Stream(StreamEncoder encoder) {
            this.encoder = encoder;
        }
    }

    /**
     * Manages streams of one schema.
     *
     * @param mostKeys how many keys are remembered at most
     * @param mostRows how many rows wait at most, over all keys
     * @param out receives each segment with its key
     */
    public SketchManager(
            SketchSchema schema,
            EncoderOptions options,
            int mostKeys,
            int mostRows,
            BiConsumer<K, EncodedSegment> out) {
        if (mostKeys < 1 || mostRows < 1) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "a sketch manager needs room for a key and a row at least");
        }
        this.schema = schema;
        this.options = options;
        this.mostKeys = mostKeys;
        this.mostRows = mostRows;
        this.out = out;
    }

    /** Begins an observation of a key, all of it NULL. */
    public Observations row(K key, long time) {
        Stream stream = streams.get(key);
        if (stream == null) {
            makeRoomForKey();
            stream = new Stream(new StreamEncoder(schema, options, segment -> closed(key, segment)));
            streams.put(key, stream);
        }
        while (waitingRows >= mostRows) {
            closeLongestSilent();
        }
        Observations row = stream.encoder.row(time);
        waitingRows++;
        if (options.segmentTicks() > 0) {
            stream.endTicks = end(time, options.segmentTicks());
        }
        return row;
    }

    /** Where a time's stretch ends; never, where that is beyond what a long holds. */
    private static long end(long time, long ticks) {
        long start = time - Math.floorMod(time, ticks);
        return start > time || start > Long.MAX_VALUE - ticks ? Long.MAX_VALUE : start + ticks;
    }

    private void closed(K key, EncodedSegment segment) {
        waitingRows -= segment.rows();
        out.accept(key, segment);
    }

    private void makeRoomForKey() {
        while (streams.size() >= mostKeys) {
            K silent = streams.keySet().iterator().next();
            Objects.requireNonNull(streams.get(silent)).encoder.flush();
            streams.remove(silent);
        }
    }

    private void closeLongestSilent() {
        for (Stream stream : streams.values()) {
            if (stream.encoder.waitingRows() > 0) {
                stream.encoder.flush();
                return;
            }
        }
    }

    /** Says that no row before this event time is expected: closes the segments whose stretch of time it has passed. */
    public void advance(long ticks) {
        for (Stream stream : streams.values()) {
            if (stream.endTicks <= ticks && stream.encoder.waitingRows() > 0) {
                stream.encoder.flush();
                stream.endTicks = Long.MAX_VALUE;
            }
        }
    }

    /** Closes all open segments. */
    public void flush() {
        streams.values().forEach(stream -> stream.encoder.flush());
    }

    /** How many keys are remembered. */
    public int keys() {
        return streams.size();
    }

    /** How many rows wait for their segments to close. */
    public int waitingRows() {
        return waitingRows;
    }
}

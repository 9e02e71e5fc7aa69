package dev.millrace.server.sketched;

import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.SegmentCosts;
import dev.millrace.sketch.segment.SegmentFilter;
import dev.millrace.sketch.segment.Versions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Optional;

/**
 * A sketch as {@code #sketch} has it.
 *
 * @param series that it is of, in its stretch
 * @param sketch empty if it was not wanted
 */
record NumberedSketch(int series, Optional<Sketch> sketch) {
    private static final int NUMBER_BYTES = 4;

    static byte[] stored(int series, byte[] segment) {
        ByteBuffer stored = ByteBuffer.allocate(NUMBER_BYTES + segment.length).order(ByteOrder.LITTLE_ENDIAN);
        return stored.putInt(series).put(segment).array();
    }

    /** What of a sketch takes how many bits, its number aside. */
    static SegmentCosts costs(byte[] stored) {
        byte[] segment = Arrays.copyOfRange(stored, Math.min(NUMBER_BYTES, stored.length), stored.length);
        return SegmentCodec.costs(segment, new Versions());
    }

    /** @throws dev.millrace.error.MillraceException where the bytes are not what was written */
    static NumberedSketch read(byte[] stored, SegmentFilter filter) {
        ByteBuffer bytes = ByteBuffer.wrap(stored).order(ByteOrder.LITTLE_ENDIAN);
        int series = stored.length < NUMBER_BYTES ? -1 : bytes.getInt();
        byte[] segment = Arrays.copyOfRange(stored, bytes.position(), stored.length);
        return new NumberedSketch(series, SegmentCodec.read(segment, new Versions(), filter));
    }
}

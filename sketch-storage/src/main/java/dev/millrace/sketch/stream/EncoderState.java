package dev.millrace.sketch.stream;

import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.bins.BinSet;
import dev.millrace.sketch.bits.Damage;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.TextSymbols;
import dev.millrace.sketch.form.Limits;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.StreamVersion;
import dev.millrace.sketch.segment.VersionCodec;
import dev.millrace.sketch.segment.Versions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * What an encoder leaves to the one that goes on after it.
 *
 * <pre>
 * 4 bytes  "MRSE" (all numbers least significant byte first)
 * 4 bytes  format, 1
 * 4 bytes  CRC-32C of all that follows
 * 4 bytes  length of the version, and the version as an announcement (package segment)
 * per feature the smallest and the largest finite value seen, two doubles; the smallest beyond the largest before there were any
 * 4 bytes  length of the waiting rows, 0 without any, and they as a segment to be read alone, exact
 * </pre>
 *
 * @param schema what is encoded
 * @param schemaVersion its number
 * @param bins per feature, as they were last used
 * @param ranges per feature
 * @param rows those that waited
 */
record EncoderState(
        SketchSchema schema,
        int schemaVersion,
        List<BinSet> bins,
        List<FeatureBins.Range> ranges,
        Optional<Sketch> rows) {
    private static final int MAGIC = 'M' | 'R' << 8 | 'S' << 16 | 'E' << 24;
    private static final int FORMAT = 1;
    private static final int HEADER_BYTES = 12;

    static byte[] write(StreamVersion version, List<FeatureBins.Range> ranges, Optional<byte[]> rows) {
        byte[] announcement = VersionCodec.encode(version);
        byte[] segment = rows.orElse(new byte[0]);
        ByteBuffer out = ByteBuffer.allocate(
                        HEADER_BYTES + 4 + announcement.length + 16 * ranges.size() + 4 + segment.length)
                .order(ByteOrder.LITTLE_ENDIAN);
        out.putInt(MAGIC).putInt(FORMAT).putInt(0);
        out.putInt(announcement.length).put(announcement);
        ranges.forEach(range -> out.putDouble(range.low()).putDouble(range.high()));
        out.putInt(segment.length).put(segment);
        out.putInt(8, checksum(out.array()));
        return out.array();
    }

    private static int checksum(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, HEADER_BYTES, bytes.length - HEADER_BYTES);
        return (int) crc.getValue();
    }

    static EncoderState read(byte[] bytes) {
        Damage.check(bytes.length > HEADER_BYTES, "the state of an encoder ends early");
        ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        Damage.check(in.getInt() == MAGIC, "it is no state of an encoder");
        int format = in.getInt();
        Damage.check(format == FORMAT, "the state of an encoder has format " + format + " and not " + FORMAT);
        Damage.check(in.getInt() == checksum(bytes), "the checksum of an encoder's state does not match");
        StreamVersion version = VersionCodec.decode(part(in));
        List<FeatureBins.Range> ranges = new ArrayList<>();
        for (int f = 0; f < version.schema().size(); f++) {
            Damage.check(in.remaining() >= 16, "the state of an encoder ends early");
            double low = in.getDouble();
            double high = in.getDouble();
            boolean none = low == Double.POSITIVE_INFINITY && high == Double.NEGATIVE_INFINITY;
            Damage.check(
                    none || low <= high && Double.isFinite(low) && Double.isFinite(high),
                    "an impossible range of values");
            ranges.add(new FeatureBins.Range(low, high));
        }
        byte[] segment = part(in);
        Damage.check(!in.hasRemaining(), "the state of an encoder goes on behind its end");
        Optional<Sketch> rows =
                segment.length == 0 ? Optional.empty() : Optional.of(SegmentCodec.read(segment, new Versions()));
        rows.ifPresent(sketch -> Damage.check(
                sketch.schema().size() == version.schema().size(), "rows of other features than the encoder's"));
        return new EncoderState(version.schema(), version.schemaVersion(), version.bins(), ranges, rows);
    }

    private static byte[] part(ByteBuffer in) {
        Damage.check(in.remaining() >= 4, "the state of an encoder ends early");
        int length = in.getInt();
        Damage.check(
                length >= 0 && length <= in.remaining() && length <= Limits.SEGMENT_BYTES,
                "a part of an encoder's state ends behind it");
        byte[] part = new byte[length];
        in.get(part);
        return part;
    }

    /** Hands the rows to an encoder as they came. */
    static void replay(Sketch rows, StreamEncoder encoder) {
        for (int row = 0; row < rows.rows(); row++) {
            Observations to = encoder.row(rows.times().at(row));
            for (int f = 0; f < rows.schema().size(); f++) {
                Column column = rows.column(f);
                int rank = column.sequence().ranks()[row];
                if (rank < column.symbols().size()) {
                    switch (rows.schema().feature(f).kind()) {
                        case NUMBER -> to.number(f, column.numbers().value(rank));
                        case WHOLE -> to.whole(f, column.numbers().whole(rank));
                        case BOOLEAN -> to.bool(f, column.numbers().whole(rank) != 0);
                        case TEXT -> to.text(f, ((TextSymbols) column.symbols()).text(rank));
                    }
                }
            }
        }
    }
}

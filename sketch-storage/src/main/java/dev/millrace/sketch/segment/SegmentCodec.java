package dev.millrace.sketch.segment;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.bits.BitReader;
import dev.millrace.sketch.bits.BitWriter;
import dev.millrace.sketch.bits.Damage;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.form.JointCodec;
import dev.millrace.sketch.form.Limits;
import dev.millrace.sketch.form.NumberColumnCodec;
import dev.millrace.sketch.form.TextColumnCodec;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.time.TimeCodec;
import dev.millrace.sketch.time.Times;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * Segments as bytes, laid out as the package's description says. Stateless; a reader learns versions from the segments it
 * reads.
 */
public final class SegmentCodec {
    static final int FORMAT = 1;
    private static final int FORMAT_BITS = 4;
    private static final int ANNOUNCES = 1 << 4;
    private static final int CHANGES = 1 << 5;
    private static final int JOINT = 1 << 6;
    private static final int HEADER_BYTES = 5;
    private static final int VERSION_ORDER = 6;
    private static final int ROWS_ORDER = 10;

    private SegmentCodec() {}

    /** How a segment tells its reader what its version is. */
    public enum Announcement {
        /** By its number alone. */
        REFERENCE,
        /** By what changed since the version before. */
        CHANGE,
        /** Completely: the segment can be read alone. */
        COMPLETE
    }

    /** What an encoder puts behind the version: everything from the number of rows on. */
    public interface Body {
        /** Whether columns are stored together. */
        boolean joint();

        void write(BitWriter out);
    }

    /**
     * A segment's bytes.
     *
     * @param before the version before, for {@link Announcement#CHANGE}; else any
     */
    public static byte[] seal(StreamVersion version, StreamVersion before, Announcement announcement, Body body) {
        BitWriter out = new BitWriter();
        int flags = switch (announcement) {
            case REFERENCE -> 0;
            case CHANGE -> CHANGES;
            case COMPLETE -> ANNOUNCES;
        };
        out.write(FORMAT | flags | (body.joint() ? JOINT : 0), 8);
        out.write(0, 32);
        out.golomb(version.number(), VERSION_ORDER);
        if (announcement == Announcement.COMPLETE) {
            VersionCodec.write(out, version);
        } else if (announcement == Announcement.CHANGE) {
            VersionCodec.writeChange(out, before, version);
        }
        body.write(out);
        byte[] bytes = out.toByteArray();
        int checksum = checksum(bytes);
        for (int i = 0; i < 4; i++) {
            bytes[1 + i] = (byte) (checksum >>> 8 * i);
        }
        return bytes;
    }

    /** Computes the checksum of a segment: CRC-32C of its first byte and of all behind the checksum. */
    static int checksum(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, 1);
        crc.update(bytes, HEADER_BYTES, bytes.length - HEADER_BYTES);
        return (int) crc.getValue();
    }

    /** Writes how many rows a segment has. */
    public static void writeRows(BitWriter out, int rows, StreamVersion version) {
        out.flag(rows == version.segmentRows());
        if (rows != version.segmentRows()) {
            out.golomb(rows, ROWS_ORDER);
        }
    }

    /** The version that a segment is of, without reading the rest; its checksum is not looked at. */
    public static int version(byte[] bytes) {
        checkHeader(bytes);
        return new BitReader(bytes, HEADER_BYTES, bytes.length - HEADER_BYTES)
                .count(VERSION_ORDER, Integer.MAX_VALUE - 1, "a version");
    }

    private static void checkHeader(byte[] bytes) {
        if (bytes.length <= HEADER_BYTES || bytes.length > Limits.SEGMENT_BYTES) {
            throw Damage.damaged("it has " + bytes.length + " bytes");
        }
        int format = bytes[0] & (1 << FORMAT_BITS) - 1;
        if (format > FORMAT) {
            throw MillraceException.user(
                    SqlState.FEATURE_NOT_SUPPORTED,
                    "the segment has format " + format + ", and this version of Millrace reads up to " + FORMAT);
        }
        Damage.check(format == FORMAT && bytes[0] >= 0, "it does not begin as a segment does");
    }

    /**
     * Reads a segment, and adds to {@code versions} what it announces. The bytes may be reused afterwards.
     *
     * @throws MillraceException DATA_CORRUPTED when the bytes are damaged or cut off, FEATURE_NOT_SUPPORTED when a newer
     *     Millrace wrote them, OBJECT_NOT_IN_PREREQUISITE_STATE when they refer to a version not yet known
     */
    public static Sketch read(byte[] bytes, Versions versions) {
        checkHeader(bytes);
        int stored = 0;
        for (int i = 3; i >= 0; i--) {
            stored = stored << 8 | bytes[1 + i] & 0xff;
        }
        if (stored != checksum(bytes)) {
            throw Damage.damaged("its checksum does not match its " + bytes.length + " bytes")
                    .withHint("It was changed, or cut off.");
        }
        return readBody(bytes, versions);
    }

    private static Sketch readBody(byte[] bytes, Versions versions) {
        BitReader in = new BitReader(bytes, HEADER_BYTES, bytes.length - HEADER_BYTES);
        int number = in.count(VERSION_ORDER, Integer.MAX_VALUE - 1, "a version");
        StreamVersion version;
        if ((bytes[0] & ANNOUNCES) != 0) {
            version = VersionCodec.read(in, number);
            versions.add(version);
        } else if ((bytes[0] & CHANGES) != 0) {
            version = VersionCodec.readChange(in, versions.get(number - 1), number);
            versions.add(version);
        } else {
            version = versions.get(number);
        }
        SketchSchema schema = version.schema();
        int rows = in.flag() ? version.segmentRows() : in.count(ROWS_ORDER, Limits.ROWS, "the number of rows");
        Damage.check(rows > 0, "a segment without rows");
        if ((long) rows * schema.size() > Limits.CELLS) {
            throw Damage.beyondLimit("the number of values", (long) rows * schema.size(), Limits.CELLS);
        }
        Times times = TimeCodec.read(in, rows, version.clockwork());
        if ((bytes[0] & JOINT) != 0) {
            JointCodec.Decoded decoded = JointCodec.read(in, rows, schema, version.bins());
            return new Sketch(
                    schema,
                    times,
                    decoded.columns(),
                    Optional.of(new Sketch.Joint(decoded.combinations(), decoded.counts())));
        }
        List<Column> columns = new ArrayList<>(schema.size());
        for (int f = 0; f < schema.size(); f++) {
            boolean last = f == schema.size() - 1;
            Feature.Kind kind = schema.feature(f).kind();
            columns.add(
                    kind == Feature.Kind.TEXT
                            ? TextColumnCodec.read(in, rows, last)
                            : NumberColumnCodec.read(in, rows, version.bins().get(f), kind, last));
        }
        return new Sketch(schema, times, columns, Optional.empty());
    }
}

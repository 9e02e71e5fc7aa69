package dev.millrace.sketch.segment;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.bits.BitReader;
import dev.millrace.sketch.bits.BitWriter;
import dev.millrace.sketch.bits.Damage;
import dev.millrace.sketch.form.Limits;
import java.util.zip.CRC32C;

/**
 * What the first bytes of a segment say, which can be read without knowing its version.
 *
 * @param format 1 or 2
 * @param announcement how it tells its version
 * @param joint whether its columns are stored together
 * @param tag the low 16 bits of the incarnation; 0 in format 1
 * @param sequence its place among the segments of its incarnation, from 0; -1 in format 1, which has none
 * @param version the number of its version
 * @param bits where the header ends
 */
public record SketchHeader(
        int format, Announcement announcement, boolean joint, int tag, long sequence, int version, int bits) {
    static final int FORMAT = 2;
    private static final int FORMAT_BITS = 4;
    private static final int ANNOUNCES = 1 << 4;
    private static final int CHANGES = 1 << 5;
    private static final int JOINT = 1 << 6;
    private static final int CHECKED_FROM = 5;
    private static final int TAG_BITS = 16;
    private static final int ORDER = 6;

    /** How a segment tells its reader what its version is. */
    public enum Announcement {
        /** By its number alone. */
        REFERENCE,
        /** By what changed since the version before. */
        CHANGE,
        /** Completely: the segment can be read alone. */
        COMPLETE,
        /** Completely, and there are no rows: a message that makes other segments readable. */
        ALONE
    }

    /** Reads a header; its checksum is not looked at. */
    public static SketchHeader of(byte[] bytes) {
        if (bytes.length <= CHECKED_FROM || bytes.length > Limits.SEGMENT_BYTES) {
            throw Damage.damaged("it has " + bytes.length + " bytes");
        }
        int format = bytes[0] & (1 << FORMAT_BITS) - 1;
        if (format > FORMAT) {
            throw MillraceException.user(
                    SqlState.FEATURE_NOT_SUPPORTED,
                    "the segment has format " + format + ", and this version of Millrace reads up to " + FORMAT);
        }
        Damage.check(format > 0 && bytes[0] >= 0, "it does not begin as a segment does");
        boolean complete = (bytes[0] & ANNOUNCES) != 0;
        boolean change = (bytes[0] & CHANGES) != 0;
        Announcement announcement = complete
                ? change && format > 1 ? Announcement.ALONE : Announcement.COMPLETE
                : change ? Announcement.CHANGE : Announcement.REFERENCE;
        // The first format has the number alone. What is read here is of a few bytes, and they may be damaged.
        BitReader in = new BitReader(bytes, CHECKED_FROM, Math.min(bytes.length - CHECKED_FROM, 48));
        int tag = format == 1 ? 0 : in.readInt(TAG_BITS);
        long sequence = format == 1 ? -1 : in.golomb(ORDER);
        Damage.check(format == 1 || sequence >= 0, "an impossible sequence number");
        int version = in.count(ORDER, Integer.MAX_VALUE - 1, "a version");
        return new SketchHeader(
                format, announcement, (bytes[0] & JOINT) != 0, tag, sequence, version, (int) in.position());
    }

    static int tag(long incarnation) {
        return (int) incarnation & (1 << TAG_BITS) - 1;
    }

    /** Begins a segment; {@link #sealed} ends it. */
    static void write(BitWriter out, Announcement announcement, boolean joint, StreamVersion version, long sequence) {
        int flags = switch (announcement) {
            case REFERENCE -> 0;
            case CHANGE -> CHANGES;
            case COMPLETE -> ANNOUNCES;
            case ALONE -> ANNOUNCES | CHANGES;
        };
        out.write(FORMAT | flags | (joint ? JOINT : 0), 8);
        out.write(0, 32); // the checksum's place
        out.write(tag(version.incarnation()), TAG_BITS);
        out.golomb(sequence, ORDER);
        out.golomb(version.number(), ORDER);
    }

    /** The bytes written, with their checksum. */
    static byte[] sealed(BitWriter out, long incarnation) {
        byte[] bytes = out.toByteArray();
        seal(bytes, incarnation);
        return bytes;
    }

    static void seal(byte[] bytes, long incarnation) {
        int checksum = checksum(bytes, FORMAT, incarnation);
        for (int i = 0; i < 4; i++) {
            bytes[1 + i] = (byte) (checksum >>> 8 * i);
        }
    }

    /** CRC-32C of the first byte, of all behind the checksum, and since format 2 of the incarnation, which is not stored. */
    private static int checksum(byte[] bytes, int format, long incarnation) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, 1);
        crc.update(bytes, CHECKED_FROM, bytes.length - CHECKED_FROM);
        for (int i = 0; i < 8 && format > 1; i++) {
            crc.update((int) (incarnation >>> 8 * i) & 0xff);
        }
        return (int) crc.getValue();
    }

    boolean matches(byte[] bytes, long incarnation) {
        int stored = 0;
        for (int i = 3; i >= 0; i--) {
            stored = stored << 8 | bytes[1 + i] & 0xff;
        }
        return stored == checksum(bytes, format, incarnation);
    }

    void check(byte[] bytes, long incarnation) {
        if (!matches(bytes, incarnation)) {
            throw damaged(bytes);
        }
    }

    static MillraceException damaged(byte[] bytes) {
        return Damage.damaged("its checksum does not match its " + bytes.length + " bytes")
                .withHint("It was changed, or cut off.");
    }

    /** A reader of what follows. */
    BitReader behind(byte[] bytes) {
        BitReader in = new BitReader(bytes, CHECKED_FROM, bytes.length - CHECKED_FROM);
        in.position(bits);
        return in;
    }
}

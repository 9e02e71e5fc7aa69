package dev.millrace.edge.queue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Parts of a commit as bytes. A <i>text</i> is 4 bytes length and UTF-8, <i>bytes</i> 4 bytes length and those.
 *
 * <pre>
 *   1 record    text stream, 8 first number, 8 last, 1 kind, 8 rows, 8 earliest, 8 latest time, 8 incarnation, 4 version needed, 4 defined, 1 level, bytes
 *   2 version   text stream, 8 incarnation, 4 number, bytes
 *   3 open      text stream, text key, bytes: the state of an encoder; none when the segment is closed
 *   4 place     text stream, text
 *   5 stream    text stream, 8 next, 8 acknowledged, 8 doubt, 5 times 8 of Shedding
 *   6 settings  text stream, 8 number, text
 *   7 counts    text stream, 8 rows, 8 rejected, text; of format version 2
 *   8 counts    text stream, 8 rows, 8 rejected, 8 unneeded, text
 * </pre>
 */
final class PartCodec {
    private static final RecordKind[] KINDS = RecordKind.values();

    /** Takes parts as they are read. */
    interface Reader {
        /**
         * A part.
         *
         * @param at where its bytes begin, for those that have any
         * @param length of the part
         */
        void part(CommitPart part, int at, int length);
    }

    private PartCodec() {}

    /** In an array of just their length: the open segments of many keys are a large part of a small heap. */
    static byte[] write(List<? extends CommitPart> parts) {
        byte[] bytes = new byte[length(parts)];
        write(parts, new OutputStream() {
            private int at;

            @Override
            public void write(int one) {
                bytes[at++] = (byte) one;
            }

            @Override
            public void write(byte[] from, int begin, int length) {
                System.arraycopy(from, begin, bytes, at, length);
                at += length;
            }
        });
        return bytes;
    }

    /** How many bytes they are. */
    static int length(List<? extends CommitPart> parts) {
        return write(parts, OutputStream.nullOutputStream());
    }

    private static int write(List<? extends CommitPart> parts, OutputStream to) {
        DataOutputStream out = new DataOutputStream(to);
        try {
            for (CommitPart part : parts) {
                write(part, out);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e); // nobody's: it is memory
        }
        return out.size();
    }

    private static void write(CommitPart part, DataOutputStream out) throws IOException {
        if (part instanceof CommitPart.Rows rows) {
            out.writeByte(1);
            text(rows.stream(), out);
            QueueRecord record = rows.record();
            out.writeLong(record.from());
            out.writeLong(record.to());
            out.writeByte(record.kind().ordinal());
            out.writeLong(record.rows());
            out.writeLong(record.firstMicros());
            out.writeLong(record.lastMicros());
            out.writeLong(record.incarnation());
            out.writeInt(record.needs());
            out.writeInt(record.defines());
            out.writeByte(record.level());
            bytes(rows.bytes(), out);
        } else if (part instanceof CommitPart.Version version) {
            out.writeByte(2);
            text(version.stream(), out);
            out.writeLong(version.incarnation());
            out.writeInt(version.number());
            bytes(version.bytes(), out);
        } else if (part instanceof CommitPart.Open open) {
            out.writeByte(3);
            text(open.stream(), out);
            text(open.key(), out);
            bytes(open.bytes(), out);
        } else if (part instanceof CommitPart.Groups groups) {
            out.writeByte(9);
            text(groups.stream(), out);
            text(groups.program(), out);
            bytes(groups.bytes(), out);
        } else if (part instanceof CommitPart.Place place) {
            out.writeByte(4);
            text(place.stream(), out);
            text(place.text(), out);
        } else if (part instanceof CommitPart.Stream stream) {
            out.writeByte(5);
            text(stream.stream(), out);
            out.writeLong(stream.next());
            out.writeLong(stream.acknowledged());
            out.writeLong(stream.doubt());
            out.writeLong(stream.shedding().shedRows());
            out.writeLong(stream.shedding().shedSegments());
            out.writeLong(stream.shedding().coarserRows());
            out.writeLong(stream.shedding().coarserSegments());
            out.writeLong(stream.shedding().lostSegments());
        } else if (part instanceof CommitPart.Settings settings) {
            out.writeByte(6);
            text(settings.stream(), out);
            out.writeLong(settings.number());
            text(settings.text(), out);
        } else if (part instanceof CommitPart.Counts counts) {
            out.writeByte(8);
            text(counts.stream(), out);
            out.writeLong(counts.counts().rows());
            out.writeLong(counts.counts().rejected());
            out.writeLong(counts.counts().unneeded());
            text(counts.counts().lastRejected(), out);
        }
    }

    private static void text(String text, DataOutputStream out) throws IOException {
        bytes(text.getBytes(StandardCharsets.UTF_8), out);
    }

    private static void bytes(byte[] bytes, DataOutputStream out) throws IOException {
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    /**
     * Reads parts whose checksum fits.
     *
     * @throws MillraceException XX001 if they are none all the same
     */
    static void read(byte[] bytes, Reader reader) {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        while (in.hasRemaining()) {
            int from = in.position();
            CommitPart part = part(in);
            int length = in.position() - from;
            int at = in.position() - lengthOf(part);
            reader.part(part, at, length);
        }
    }

    private static int lengthOf(CommitPart part) {
        return part instanceof CommitPart.Rows rows
                ? rows.bytes().length
                : part instanceof CommitPart.Open open
                        ? open.bytes().length
                        : part instanceof CommitPart.Groups groups ? groups.bytes().length : 0;
    }

    private static CommitPart part(ByteBuffer in) {
        try {
            int kind = in.get();
            String stream = text(in);
            return switch (kind) {
                case 1 -> {
                    QueueRecord record = new QueueRecord(
                            in.getLong(),
                            in.getLong(),
                            KINDS[in.get()],
                            in.getLong(),
                            in.getLong(),
                            in.getLong(),
                            in.getLong(),
                            in.getInt(),
                            in.getInt(),
                            in.get());
                    yield new CommitPart.Rows(stream, record, bytes(in));
                }
                case 2 -> new CommitPart.Version(stream, in.getLong(), in.getInt(), bytes(in));
                case 3 -> new CommitPart.Open(stream, text(in), bytes(in));
                case 4 -> new CommitPart.Place(stream, text(in));
                case 5 ->
                    new CommitPart.Stream(
                            stream,
                            in.getLong(),
                            in.getLong(),
                            in.getLong(),
                            new Shedding(in.getLong(), in.getLong(), in.getLong(), in.getLong(), in.getLong()));
                case 6 -> new CommitPart.Settings(stream, in.getLong(), text(in));
                case 7 -> new CommitPart.Counts(stream, new TakenCounts(in.getLong(), in.getLong(), 0, text(in)));
                case 8 ->
                    new CommitPart.Counts(stream, new TakenCounts(in.getLong(), in.getLong(), in.getLong(), text(in)));
                case 9 -> new CommitPart.Groups(stream, text(in), bytes(in));
                default -> throw new IllegalArgumentException("a part of kind " + kind);
            };
        } catch (RuntimeException e) { // whatever is wrong with it
            throw MillraceException.external(
                    SqlState.DATA_CORRUPTED, "a commit has a checksum that fits, and is none: " + e.getMessage(), e);
        }
    }

    static List<CommitPart> parts(byte[] bytes) {
        List<CommitPart> parts = new ArrayList<>();
        read(bytes, (part, at, length) -> parts.add(part));
        return parts;
    }

    private static String text(ByteBuffer in) {
        return new String(bytes(in), StandardCharsets.UTF_8);
    }

    private static byte[] bytes(ByteBuffer in) {
        int length = in.getInt();
        if (length < 0 || length > in.remaining()) {
            throw new IllegalArgumentException("a part ends behind the commit");
        }
        byte[] bytes = new byte[length];
        in.get(bytes);
        return bytes;
    }
}

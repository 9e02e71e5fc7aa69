package dev.millrace.storage.log;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Writes pieces of records as fragments into segments. For one thread; {@link WriteAheadLog} says when.
 *
 * <pre>
 *              write, force, mark                IOException
 *   working ------------------------> working  -------------->  broken
 *      ^                                                           |
 *      |            recover: a new segment that goes on            |
 *      +------------- behind the last durable record --------------+
 * </pre>
 *
 * While it is broken, everything that is not durable counts as not written, and what is on disk of it never counts again once
 * {@link #recover} has returned. Nothing more is written to the segment in which something failed.
 */
final class LogWriter {
    private static final int BUFFER = 1 << 20;
    static final int LEAST_PART = 1024; // a long record begins in a segment if so much of it has room

    private final LogDirectory directory;
    private final LogRoom room;
    private final CRC32C crc = new CRC32C();
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER + Fragment.bytes(Fragment.MOST_CONTENTS))
            .order(ByteOrder.LITTLE_ENDIAN);

    private LogReader.@Nullable End foundAt; // where the log ended when it was opened; null once it is written to
    private @Nullable Segment segment; // null before the first record, and while broken
    private long position; // in the segment, behind what is in the buffer
    private long lastWhole;
    private LogPlace cut;
    private long durable;
    private LogPlace durableCut;
    private boolean underWay;
    private boolean unforced;
    private boolean broken;

    /** Goes on where a log ended. */
    LogWriter(LogDirectory directory, LogRoom room, LogReader.End end) {
        this.directory = directory;
        this.room = room;
        this.foundAt = end;
        this.lastWhole = end.lastWhole();
        this.durable = end.lastWhole();
        this.cut = end.cut();
        this.durableCut = end.cut();
    }

    /** Number of the last record that is on disk, with all before it that did not fail. */
    long durable() {
        return durable;
    }

    /** Bytes of the newest segment that are behind what is written. */
    private long behindBytes() {
        return segment == null ? 0 : segment().header().size() - position;
    }

    /** Whether bytes of records that are not durable may be on disk all the same. */
    boolean isUncertain() {
        return unforced;
    }

    /** Writes a piece, or keeps it for the next {@link #force}; pieces of a record follow each other. */
    void write(Piece piece) throws IOException {
        try {
            begin();
            if (piece.isFirst()) {
                underWay = false; // should a record before it have been given up
            }
            ByteBuffer rest = ByteBuffer.wrap(piece.bytes());
            boolean isFirst = piece.isFirst();
            do {
                int length = fit(rest.remaining());
                boolean isLast = piece.isLast() && length == rest.remaining();
                int kind =
                        isFirst ? isLast ? Fragment.WHOLE : Fragment.FIRST : isLast ? Fragment.LAST : Fragment.MIDDLE;
                ByteBuffer part = rest.slice(rest.position(), length);
                rest.position(rest.position() + length);
                underWay = !isLast;
                add(part, piece.number(), (int) (piece.number() - lastWhole), kind);
                isFirst = false;
                if (isLast) {
                    lastWhole = piece.number();
                    cut = new LogPlace(segment().header().number(), position);
                }
            } while (rest.hasRemaining());
        } catch (IOException e) {
            broken = true;
            throw e;
        }
    }

    /** Has a segment to write to: that in which a log was closed, or a new one. */
    private void begin() throws IOException {
        LogReader.End found = foundAt;
        if (found != null) {
            Segment old = directory.reopen(found);
            if (old == null) {
                create(found.cut());
            } else {
                segment = old;
                position = found.end().offset();
            }
            foundAt = null;
        }
    }

    /** How much of a record that has so many bytes left goes into the next fragment; makes room for some. */
    private int fit(int wanted) throws IOException {
        int most = Math.min(wanted, Fragment.MOST_CONTENTS);
        long room = segment().header().size() - position;
        if (room < Fragment.bytes(Math.min(most, LEAST_PART))) {
            force();
            LogPlace end = new LogPlace(segment().header().number(), position);
            closeFile();
            create(end);
            room = segment().header().size() - position;
        }
        return (int) Math.min(most, room - Fragment.HEADER);
    }

    private void create(LogPlace end) throws IOException {
        segment = directory.create(end, lastWhole, underWay ? cut : end);
        position = SegmentHeader.BYTES;
    }

    private void add(ByteBuffer contents, long number, int gap, int kind) throws IOException {
        int length = contents.remaining();
        int start = buffer.position();
        buffer.position(start + Fragment.HEADER);
        buffer.put(contents);
        buffer.position(start + Fragment.bytes(length));
        Fragment.finish(
                buffer,
                start,
                length,
                number,
                durable,
                gap,
                kind,
                segment().header().seed(),
                position,
                crc);
        position += Fragment.bytes(length);
        if (buffer.position() >= BUFFER) {
            flush();
        }
    }

    private void flush() throws IOException {
        if (buffer.position() > 0) {
            unforced = true;
            long start = position - buffer.position();
            buffer.flip();
            segment().file().write(buffer, start);
            buffer.clear();
        }
    }

    /** Makes all that was written durable. */
    void force() throws IOException {
        try {
            flush();
            if (unforced) {
                segment().file().force();
                unforced = false;
            }
            durable = lastWhole;
            durableCut = cut;
        } catch (IOException e) {
            broken = true;
            throw e;
        }
    }

    /** What was written is durable, and takes so much of the room that was promised. */
    void settle(long diskBytes) {
        room.settled(diskBytes, behindBytes());
    }

    /** Says behind the last record that it is durable, if there is room; that it says so is not forced. */
    void mark() throws IOException {
        if (segment == null || underWay || behindBytes() < Fragment.HEADER || !room.has(Fragment.HEADER)) {
            return;
        }
        try {
            add(ByteBuffer.allocate(0), durable, 0, Fragment.MARK);
            flush();
            cut = new LogPlace(segment().header().number(), position); // durable with the next force
            settle(0);
        } catch (IOException e) {
            broken = true;
            throw e;
        }
    }

    /** Makes some of the next segment. */
    void prepare(long writtenBytes) {
        directory.prepare(writtenBytes);
    }

    /**
     * After a failure: goes on in a new segment, behind the last durable record. When this returns, what is on disk behind
     * that record has gone for good.
     */
    void recover() throws IOException {
        if (!broken) {
            return;
        }
        buffer.clear();
        closeFile();
        room.ended();
        lastWhole = durable;
        cut = durableCut;
        underWay = false;
        create(durableCut);
        foundAt = null;
        unforced = false;
        broken = false;
    }

    private void closeFile() {
        Segment old = segment;
        segment = null;
        if (old != null) {
            try {
                old.file().close();
            } catch (IOException e) {
                return; // what counts of it is on disk
            }
        }
    }

    private Segment segment() {
        Segment open = segment;
        if (open == null) {
            throw new IllegalStateException("no segment is open");
        }
        return open;
    }

    /** Lets go of the files; what is durable stays so. Remembers where the log ends unless it is broken. */
    void close() throws IOException {
        try {
            if (segment != null && !broken) {
                force();
                directory.closed(durable, position);
            }
        } finally {
            closeFile();
            directory.close();
        }
    }
}

package dev.millrace.storage.log;

import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Reads the fragments of a segment one after the other. For one thread. */
final class SegmentReader implements AutoCloseable {
    private static final int WINDOW = 1 << 20;

    private final DiskFile file;
    private final int seed;
    private final long end;
    private final Fragment fragment = new Fragment();
    private final ByteBuffer window;
    private long windowStart;
    private long position;

    /** Reads up to {@code end}, an offset in the file. */
    SegmentReader(Disk disk, SegmentHeader header, long end) throws IOException {
        this(disk, header, SegmentHeader.BYTES, end);
    }

    /** Reads from the fragment at {@code start} on. */
    SegmentReader(Disk disk, SegmentHeader header, long start, long end) throws IOException {
        this.position = start;
        this.file = disk.open(SegmentHeader.name(header.number()));
        this.seed = header.seed();
        this.end = end;
        this.window = ByteBuffer.allocate((int) Math.min(WINDOW, Math.max(0, end - position)))
                .order(ByteOrder.LITTLE_ENDIAN)
                .limit(0);
        this.windowStart = position;
    }

    /** Goes to the next fragment; false if there is none at {@link #position}, be it the end or damage. */
    boolean next() throws IOException {
        hold(Fragment.HEADER);
        int start = (int) (position - windowStart);
        if (window.limit() - start >= Fragment.HEADER) {
            int length = window.getInt(start + 4);
            if (length >= 0 && length <= Fragment.MOST_CONTENTS) {
                hold(Fragment.bytes(length));
                start = (int) (position - windowStart);
            }
        }
        if (!fragment.read(window, start, seed, position)) {
            return false;
        }
        window.position(start + Fragment.HEADER);
        position += Fragment.bytes(fragment.length);
        return true;
    }

    /** Has so many bytes from the position on in the window, where the file has them. */
    private void hold(int bytes) throws IOException {
        int start = (int) (position - windowStart);
        if (window.limit() - start >= bytes || windowStart + window.limit() >= end) {
            return;
        }
        window.position(start).compact();
        windowStart = position;
        window.limit((int) Math.min(window.capacity(), end - windowStart));
        file.read(window, windowStart + window.position());
        window.flip();
    }

    /** The one that {@link #next} came to. */
    Fragment fragment() {
        return fragment;
    }

    /** Its contents; until the next call of {@link #next}. */
    ByteBuffer contents() {
        return window.slice(window.position(), fragment.length);
    }

    /** Offset in the file behind the fragments that were read. */
    long position() {
        return position;
    }

    /**
     * What lies behind the position, where no fragment is, up to the end: looks at each place where one can begin.
     *
     * @param after number of the last whole record before it
     */
    Rest rest(long after) throws IOException {
        int step = WINDOW;
        int most = step + Fragment.bytes(Fragment.MOST_CONTENTS);
        ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(most, Math.max(0, end - position)))
                .order(ByteOrder.LITTLE_ENDIAN);
        long durable = 0;
        long last = position;
        for (long from = position; from < end; from += step) {
            bytes.clear().limit((int) Math.min(bytes.capacity(), end - from));
            file.read(bytes, from);
            bytes.flip();
            for (int start = 0; start < step && start <= bytes.limit() - Fragment.HEADER; start += 8) {
                // Numbers of an old life of the file are lower: most places need no checksum.
                if (bytes.getLong(start + 8) >= after && fragment.read(bytes, start, seed, from + start)) {
                    durable = Math.max(durable, fragment.durable);
                    last = from + start + Fragment.bytes(fragment.length);
                }
            }
        }
        return new Rest(durable, last - position);
    }

    /**
     * What lies behind the last fragment in its place.
     *
     * @param durable the highest number that a fragment there calls durable; 0 where there is no fragment
     * @param bytes up to the end of the last fragment there
     */
    record Rest(long durable, long bytes) {}

    @Override
    public void close() throws IOException {
        file.close();
    }
}

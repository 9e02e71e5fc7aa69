package dev.millrace.storage.log;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.error.MillraceException;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.DiskFile;
import dev.millrace.storage.disk.WholeFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The files of a log: which segments there are, the next one, and those that are no longer needed. Any thread.
 *
 * <p>The next segment is written with zeros little by little while the one before it fills, so that nobody waits for all of it; one or
 * two old segments are kept for the same purpose, with what is in them.
 */
final class LogDirectory {
    private static final long FIRST_BYTES = 1L << 20;
    private static final int DOUBLINGS = 10;
    private static final int MOST_SPARE = 2;
    private static final int STEP = 1 << 20;
    private static final int LEAST_AHEAD = 64 << 10;
    static final String SPARE = "spare-";

    private final Disk disk;
    private final WriteAheadLogOptions options;
    private final ByteBuffer zeros = ByteBuffer.allocateDirect(STEP);

    @GuardedBy("this") private final List<SegmentHeader> segments;

    @GuardedBy("this") private final Deque<String> spares = new ArrayDeque<>(); // whole segments of full length

    @GuardedBy("this") private LogState state;

    @GuardedBy("this") private @Nullable Next next; // null where none is begun

    @GuardedBy("this") private boolean full; // the disk was, when the next segment was to be begun

    @GuardedBy("this") private int spareNumber;

    /** A segment that is being made. */
    private static final class Next {
        final String name;
        final DiskFile file;
        final long size;
        long written;

        Next(String name, DiskFile file, long size, long written) {
            this.name = name;
            this.file = file;
            this.size = size;
            this.written = written;
        }
    }

    private LogDirectory(Disk disk, WriteAheadLogOptions options, LogState state, List<SegmentHeader> segments) {
        this.disk = disk;
        this.options = options;
        this.state = state;
        this.segments = new ArrayList<>(segments);
    }

    /**
     * Opens what is there, or begins a log where nothing is.
     *
     * @throws MillraceException XX001 if a file is missing or damaged, F0000 if one is of a later version
     */
    static LogDirectory open(Disk disk, WriteAheadLogOptions options) throws IOException {
        List<String> names = disk.list();
        if (!names.contains(LogState.NAME)) {
            for (String name : names) {
                if (SegmentHeader.numberOf(name).isPresent()) {
                    throw DiskErrors.missing(disk.path(LogState.NAME), "there is " + name + " of a log");
                }
            }
            new LogState(options.identities().getAsLong(), 1, 0, 0, 0).write(disk);
        }
        LogState state = LogState.read(disk);
        List<SegmentHeader> chain = LogReader.chain(disk, state);
        long newest =
                chain.isEmpty() ? state.newest() : chain.get(chain.size() - 1).number();
        disk.forceNames(); // what is seen may not last yet: before anything is removed because of it
        if (newest > state.newest()) {
            state = new LogState(state.identity(), state.first(), newest, state.durable(), 0);
            state.write(disk);
        }
        LogDirectory directory = new LogDirectory(disk, options, state, chain);
        directory.removeUnneeded();
        return directory;
    }

    /** What is void, what was cut short, and spare segments: they may not be on disk. */
    private synchronized void removeUnneeded() throws IOException {
        long newest = state.newest();
        WholeFile.removeUnfinished(disk);
        for (String name : disk.list()) {
            OptionalLong number = SegmentHeader.numberOf(name);
            if (number.isPresent() && number.getAsLong() > newest) {
                throw DiskErrors.missing(disk.path(SegmentHeader.name(newest + 1)), "there is " + name + " behind it");
            }
            boolean counts =
                    number.isEmpty() || segments.stream().anyMatch(segment -> segment.number() == number.getAsLong());
            if (!counts || name.startsWith(SPARE)) {
                disk.delete(name);
            }
        }
    }

    /**
     * Makes last what a process that ended left to the system to write, so that it may be relied upon: written once more, since an
     * earlier force may have failed and the system have given up these bytes while it still shows them.
     */
    synchronized void forceTail(LogReader.End end) throws IOException {
        if (segments.isEmpty() || state.closedAt() != 0) {
            return;
        }
        try (DiskFile file = disk.open(SegmentHeader.name(state.newest()))) {
            ByteBuffer piece =
                    ByteBuffer.allocate((int) Math.min(STEP, end.end().offset() - end.unforced()));
            for (long from = end.unforced(); from < end.end().offset(); from += STEP) {
                piece.clear().limit((int) Math.min(STEP, end.end().offset() - from));
                file.read(piece, from);
                file.write(piece.flip(), from);
            }
            file.force();
        }
    }

    synchronized LogReader reader() {
        return new LogReader(disk, state, segments);
    }

    synchronized int segmentCount() {
        return segments.size();
    }

    /**
     * The newest segment, to go on in, if the log was closed with its end there and nothing was written since.
     *
     * @return empty where a new segment is needed
     */
    synchronized @Nullable Segment reopen(LogReader.End end) throws IOException {
        if (segments.isEmpty() || state.closedAt() == 0) {
            return null;
        }
        SegmentHeader header = segments.get(segments.size() - 1);
        LogState open = new LogState(state.identity(), state.first(), state.newest(), end.lastWhole(), 0);
        open.write(disk);
        state = open;
        return new Segment(header, disk.open(SegmentHeader.name(header.number())));
    }

    /** Remembers that the log ends at an offset of the newest segment, and that nothing is written behind it. */
    synchronized void closed(long durable, long offset) throws IOException {
        LogState closed = new LogState(state.identity(), state.first(), state.newest(), durable, offset);
        closed.write(disk);
        state = closed;
    }

    /**
     * Makes the next segment; when this returns, it lasts. The caller closes its file.
     *
     * @param end where the log ends now, which is on disk up to there
     * @param lastWhole number of the last whole record before that
     * @param cut where that record ends
     */
    synchronized Segment create(LogPlace end, long lastWhole, LogPlace cut) throws IOException {
        full = false;
        @Nullable Next made = null;
        try {
            made = next == null ? begin() : next;
            next = made;
            while (made.written < made.size) {
                fill(made, STEP);
            }
            SegmentHeader header =
                    new SegmentHeader(state.identity(), state.newest() + 1, made.size, end, lastWhole, cut);
            made.file.write(header.bytes(), 0);
            made.file.force();
            disk.rename(made.name, SegmentHeader.name(header.number()));
            disk.forceNames();
            LogState with = new LogState(state.identity(), state.first(), header.number(), lastWhole, 0);
            with.write(disk);
            state = with;
            next = null;
            removeVoid(end.segment());
            segments.add(header);
            return new Segment(header, made.file);
        } catch (IOException e) {
            next = null;
            abandon(made, e);
            throw e;
        }
    }

    /** Segments behind the one that the next goes on from: nothing in them counts. */
    @GuardedBy("this") private void removeVoid(long last) throws IOException {
        while (!segments.isEmpty() && segments.get(segments.size() - 1).number() > last) {
            disk.delete(SegmentHeader.name(segments.remove(segments.size() - 1).number()));
        }
    }

    @GuardedBy("this") private Next begin() throws IOException {
        long number = state.newest() + 1;
        long size = Math.min(options.segmentBytes(), FIRST_BYTES << Math.min(DOUBLINGS, number - 1));
        @Nullable String spare = size == options.segmentBytes() ? spares.poll() : null;
        if (spare != null) {
            return new Next(spare, disk.open(spare), size, size);
        }
        String name = SPARE + ++spareNumber;
        return new Next(name, disk.create(name), size, 0);
    }

    private void fill(Next segment, int most) throws IOException {
        ByteBuffer piece = zeros.duplicate().limit((int) Math.min(most, segment.size - segment.written));
        segment.file.write(piece, segment.written);
        segment.written += piece.limit();
    }

    /** Gives back the room of a segment that was not made. */
    @GuardedBy("this") private void abandon(@Nullable Next segment, IOException failure) {
        if (segment == null) {
            return;
        }
        try {
            segment.file.close();
            if (disk.list().contains(segment.name)) {
                disk.delete(segment.name);
            }
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
    }

    /** Prepares some of the next segment, about as much as was written to the newest one; failing does no harm. */
    synchronized void prepare(long writtenBytes) {
        if (full) {
            return;
        }
        @Nullable Next segment = next;
        try {
            if (segment == null) {
                segment = begin();
                next = segment;
            }
            if (segment.written < segment.size) {
                fill(segment, (int) Math.max(LEAST_AHEAD, Math.min(STEP, writtenBytes)));
            }
        } catch (IOException e) {
            next = null;
            full = true;
            abandon(segment, e);
        }
    }

    /** Removes segments all of whose records have numbers up to one. */
    synchronized void forget(long upTo) throws IOException {
        int kept = 0;
        for (int i = 1; i < segments.size(); i++) {
            if (segments.get(i).lastWhole() <= upTo && LogReader.before(disk, segments.get(i)) <= upTo) {
                kept = i;
            }
        }
        if (kept == 0) {
            return;
        }
        LogState later = new LogState(
                state.identity(), segments.get(kept).number(), state.newest(), state.durable(), state.closedAt());
        later.write(disk);
        state = later;
        List<SegmentHeader> old = new ArrayList<>(segments.subList(0, kept));
        segments.subList(0, kept).clear();
        for (SegmentHeader segment : old) {
            String name = SegmentHeader.name(segment.number());
            if (segment.size() == options.segmentBytes() && spares.size() < MOST_SPARE) {
                String spare = SPARE + ++spareNumber;
                disk.rename(name, spare);
                spares.add(spare);
            } else {
                disk.delete(name);
            }
        }
    }

    /** Lets go of what was prepared. */
    synchronized void close() throws IOException {
        @Nullable Next segment = next;
        next = null;
        if (segment != null) {
            segment.file.close();
            disk.delete(segment.name);
        }
    }

    Disk disk() {
        return disk;
    }
}

package dev.millrace.storage.log;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.error.MillraceException;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.DiskFile;
import dev.millrace.storage.disk.DiskFullException;
import dev.millrace.storage.disk.FileImage;
import dev.millrace.storage.disk.WholeFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The files of a log: which segments there are, the next one, and those that are no longer needed. Any thread.
 *
 * <p>Room is promised only in segments that are there in full length ({@link LogRoom}). The next one is written with zeros little by little
 * while the one before it fills, so that as a rule nobody waits for that; one or two old segments are kept for the same purpose, with what
 * is in them.
 */
final class LogDirectory {
    private static final long FIRST_BYTES = 1L << 20;
    private static final int DOUBLINGS = 10;
    private static final int MOST_SPARE = 2;
    private static final int STEP = 1 << 20;
    private static final int AHEAD = 2; // bytes of the next segment for each that is written
    static final String SPARE = "spare-";

    private final Disk disk;
    private final WriteAheadLogOptions options;
    private final LogRoom room;
    private final ByteBuffer zeros = ByteBuffer.allocateDirect(STEP);

    @GuardedBy("this") private final List<SegmentHeader> segments;

    @GuardedBy("this") private final Deque<String> spares = new ArrayDeque<>(); // whole segments of full length

    @GuardedBy("this") private LogState state;

    @GuardedBy("this") private final Deque<Next> ready = new ArrayDeque<>(); // of full length, on disk

    @GuardedBy("this") private @Nullable Next next; // behind these, not of full length yet; null where none is begun

    @GuardedBy("this") private long aheadBytes; // that it is to have more

    @GuardedBy("this") private boolean resting; // making it failed: done when somebody needs it

    @GuardedBy("this") private int spareNumber;

    private final long newestBefore; // number of the newest segment when this was made

    /** How many images need the segments from this number on. */
    @GuardedBy("this") private final TreeMap<Long, Integer> held = new TreeMap<>();

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

    private LogDirectory(
            Disk disk, WriteAheadLogOptions options, LogRoom room, LogState state, List<SegmentHeader> segments) {
        this.disk = disk;
        this.options = options;
        this.room = room;
        this.state = state;
        this.segments = new ArrayList<>(segments);
        this.newestBefore = state.newest();
    }

    /**
     * Opens what is there, or begins a log where nothing is.
     *
     * @throws MillraceException XX001 if a file is missing or damaged, F0000 if one is of a later version
     */
    static LogDirectory open(Disk disk, WriteAheadLogOptions options, LogRoom room) throws IOException {
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
        LogDirectory directory = new LogDirectory(disk, options, room, state, chain);
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
        become(open);
        return new Segment(header, disk.open(SegmentHeader.name(header.number())));
    }

    /** Remembers that the log ends at an offset of the newest segment, and that nothing is written behind it. */
    synchronized void closed(long durable, long offset) throws IOException {
        LogState closed = new LogState(state.identity(), state.first(), state.newest(), durable, offset);
        become(closed);
    }

    /** How many bytes are behind where a log was closed, in the segment that it goes on in. */
    synchronized long behindBytes(LogReader.End end) {
        boolean closed = !segments.isEmpty() && state.closedAt() != 0;
        return closed ? segments.get(segments.size() - 1).size() - end.end().offset() : 0;
    }

    @GuardedBy("this") private void become(LogState later) throws IOException {
        room.setCanBegin(false);
        later.write(disk);
        state = later;
        try {
            LogState.takeRoom(disk);
            room.setCanBegin(true);
        } catch (IOException e) {
            return; // done when somebody needs it
        }
    }

    /**
     * Promises room for a record, in segments that are there in full length, and makes these where they are too few.
     *
     * @param bytes of it on disk
     */
    void take(long bytes) throws IOException {
        if (!room.take(bytes)) {
            makeRoom(bytes);
        }
    }

    private synchronized void makeRoom(long bytes) throws IOException {
        while (!room.take(bytes)) {
            if (room.canBegin()) {
                makeSegment();
            } else {
                LogState.takeRoom(disk);
                room.setCanBegin(true);
            }
        }
    }

    /** Makes one more segment, a shorter one where the disk has no room for more. */
    @GuardedBy("this") private void makeSegment() throws IOException {
        resting = false;
        long size = nextSize();
        while (true) {
            @Nullable Next made = next;
            try {
                made = made == null ? begin(size) : made;
                next = made;
                fill(made, made.size);
                return;
            } catch (DiskFullException e) {
                next = null;
                abandon(made, e);
                size = (made == null ? size : made.size) / 2 & -SegmentHeader.BYTES;
                if (size < Math.min(FIRST_BYTES, options.segmentBytes())) {
                    throw e;
                }
            } catch (IOException e) {
                next = null;
                abandon(made, e);
                throw e;
            }
        }
    }

    /**
     * Makes the next segment; when this returns, it lasts. The caller closes its file.
     *
     * @param end where the log ends now, which is on disk up to there
     * @param lastWhole number of the last whole record before that
     * @param cut where that record ends
     */
    synchronized Segment create(LogPlace end, long lastWhole, LogPlace cut) throws IOException {
        if (ready.isEmpty()) {
            makeSegment();
        }
        Next made = ready.remove();
        try {
            SegmentHeader header =
                    new SegmentHeader(state.identity(), state.newest() + 1, made.size, end, lastWhole, cut);
            made.file.write(header.bytes(), 0);
            made.file.force();
            disk.rename(made.name, SegmentHeader.name(header.number()));
            disk.forceNames();
            LogState with = new LogState(state.identity(), state.first(), header.number(), lastWhole, 0);
            become(with);
            removeVoid(end.segment());
            segments.add(header);
            room.began(made.size);
            return new Segment(header, made.file);
        } catch (IOException e) {
            room.lost(made.size);
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

    /** Lengths double in each run of the database: one that is killed often has many segments, and little in each. */
    @GuardedBy("this") private long nextSize() {
        long begun = state.newest() - newestBefore + ready.size();
        return Math.min(options.segmentBytes(), FIRST_BYTES << Math.min(DOUBLINGS, begun));
    }

    @GuardedBy("this") private Next begin(long size) throws IOException {
        @Nullable String spare = size == options.segmentBytes() ? spares.poll() : null;
        if (spare != null) {
            return new Next(spare, disk.open(spare), size, size);
        }
        String name = SPARE + ++spareNumber;
        return new Next(name, disk.create(name), size, 0);
    }

    /** Writes so many bytes more of the next segment, which has no more then, or is ready. */
    @GuardedBy("this") private void fill(Next segment, long most) throws IOException {
        long end = Math.min(segment.size, segment.written + most);
        while (segment.written < end) {
            ByteBuffer piece = zeros.duplicate().limit((int) Math.min(STEP, end - segment.written));
            segment.file.write(piece, segment.written);
            segment.written += piece.limit();
        }
        segment.file.force(); // a disk may take what it then has no room for
        if (segment.written == segment.size) {
            next = null;
            ready.add(segment);
            room.made(segment.size);
        }
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

    /** Makes some of the next segment, ahead of what is written to the newest one; failing does no harm. */
    synchronized void prepare(long writtenBytes) {
        if (resting || !ready.isEmpty()) {
            return;
        }
        aheadBytes += AHEAD * writtenBytes;
        @Nullable Next segment = next;
        try {
            if (segment == null) {
                segment = begin(nextSize());
                next = segment;
            }
            if (aheadBytes >= Math.min(STEP, segment.size)) {
                fill(segment, aheadBytes);
                aheadBytes = 0;
            }
        } catch (IOException e) {
            next = null;
            resting = true;
            abandon(segment, e);
        }
    }

    /** Removes segments all of whose records have numbers up to one. */
    synchronized void forget(long upTo) throws IOException {
        int kept = 0;
        for (int i = 1; i < segments.size(); i++) {
            boolean isHeld =
                    !held.isEmpty() && held.firstKey() < segments.get(i).number();
            if (!isHeld && segments.get(i).lastWhole() <= upTo && LogReader.before(disk, segments.get(i)) <= upTo) {
                kept = i;
            }
        }
        if (kept == 0) {
            return;
        }
        LogState later = new LogState(
                state.identity(), segments.get(kept).number(), state.newest(), state.durable(), state.closedAt());
        become(later);
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

    /**
     * The log up to its last record that is durable, as one that was closed there. What is on disk behind it is not in it: another may
     * be writing that now.
     *
     * @param durable all records up to this number are on disk, or failed
     */
    synchronized LogImage image(long durable) throws IOException {
        List<FileImage> files = new ArrayList<>();
        LogReader reader = reader();
        int newest = segments.size() - 1;
        while (newest > 0 && segments.get(newest).lastWhole() > durable) {
            newest--;
        }
        LogReader.Cut cut = newest < 0 ? new LogReader.Cut(0, 0) : reader.cut(newest, durable);
        for (int i = 0; i <= newest; i++) {
            SegmentHeader segment = segments.get(i);
            long kept = i < newest ? segment.size() : cut.offset();
            files.add(FileImage.of(disk, SegmentHeader.name(segment.number()), kept, segment.size()));
        }
        long last = newest < 0 ? 0 : segments.get(newest).number();
        LogState closed = new LogState(state.identity(), state.first(), last, cut.lastWhole(), cut.offset());
        files.add(FileImage.of(LogState.NAME, closed.bytes()));
        held.merge(state.first(), 1, Integer::sum);
        return new LogImage(this, state.first(), cut.lastWhole(), files);
    }

    /** An image is not needed any more. */
    synchronized void release(long first) {
        held.computeIfPresent(first, (number, images) -> images == 1 ? null : images - 1);
    }

    /** Lets go of what was prepared. */
    synchronized void close() throws IOException {
        room.setCanBegin(false);
        @Nullable Next begun = next;
        next = null;
        if (begun != null) {
            ready.add(begun);
        }
        while (!ready.isEmpty()) {
            Next segment = ready.remove();
            segment.file.close();
            disk.delete(segment.name);
        }
        WholeFile.removeUnfinished(disk);
    }

    Disk disk() {
        return disk;
    }

    synchronized long identity() {
        return state.identity();
    }
}

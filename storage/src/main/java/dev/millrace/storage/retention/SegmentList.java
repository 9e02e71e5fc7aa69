package dev.millrace.storage.retention;

import dev.millrace.storage.disk.CheckedFormat;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.WholeFile;
import dev.millrace.storage.segment.SegmentFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Which segments a stream has; its bytes are as the package describes them.
 *
 * @param log identity of the log whose entries they are; {@link #NO_LOG} of version 1, which did not say it
 * @param nextNumber that no segment has had yet
 * @param lastEntry of which rows were flushed; 0 before
 * @param droppedRows in all
 * @param lastDropped the last entry of which rows were dropped; 0 before, and where versions before 3 dropped them
 * @param typesHash of the columns of the segments
 * @param segments in the order of their entries
 */
record SegmentList(
        long log,
        long nextNumber,
        long lastEntry,
        long droppedRows,
        long lastDropped,
        int typesHash,
        List<KeptSegment> segments) {
    static final String NAME = "segments";
    static final int VERSION = 4;
    static final long NO_LOG = 0;
    private static final CheckedFormat FORMAT = new CheckedFormat("MrSegLst", VERSION, 1, "list of segments");
    private static final int MOST = 64 << 20;
    private static final int HEADER = 48; // of version 1
    private static final int LOG = 8; // from version 2 on
    private static final int DROPPED = 8; // from version 3 on
    private static final int SEGMENT = 61;
    private static final int EVENT_TIMES = 16;
    private static final int HAS_TIMES = 1; // flags of a segment
    private static final int IS_SKETCHED = 2; // from version 4 on

    SegmentList {
        segments = List.copyOf(segments);
    }

    static SegmentList empty(long log, int typesHash) {
        return new SegmentList(log, 1, 0, 0, 0, typesHash, List.of());
    }

    /** The same, said to be of a log. */
    SegmentList of(long ofLog) {
        return new SegmentList(ofLog, nextNumber, lastEntry, droppedRows, lastDropped, typesHash, segments);
    }

    /** The next list of the same stream, with other segments of the same rows and of later ones. */
    SegmentList next(long number, long last, List<KeptSegment> now) {
        return new SegmentList(log, number, last, droppedRows, lastDropped, typesHash, now);
    }

    /** The list that ends with an earlier entry, with the segments up to there. What was dropped behind it was never dropped. */
    SegmentList cutBack(long number, long last, List<KeptSegment> left) {
        return new SegmentList(log, number, last, droppedRows, Math.min(lastDropped, last), typesHash, left);
    }

    /** The same without some of its segments, whose rows are gone. */
    SegmentList without(long number, Set<KeptSegment> dropped) {
        long rows = droppedRows;
        long last = lastDropped;
        List<KeptSegment> left = new ArrayList<>();
        for (KeptSegment segment : segments) {
            if (dropped.contains(segment)) {
                rows += segment.file().rows();
                last = Math.max(last, segment.lastEntry());
            } else {
                left.add(segment);
            }
        }
        return new SegmentList(log, number, lastEntry, rows, last, typesHash, left);
    }

    long bytes() {
        return segments.stream().mapToLong(segment -> segment.file().bytes()).sum();
    }

    void write(Disk disk) throws IOException {
        WholeFile.write(disk, NAME, toBytes());
    }

    /** The file that says it. */
    ByteBuffer toBytes() {
        ByteBuffer bytes = FORMAT.begin(HEADER + LOG + DROPPED + segments.size() * (SEGMENT + EVENT_TIMES));
        bytes.putLong(nextNumber).putLong(lastEntry).putLong(droppedRows);
        bytes.putInt(typesHash).putInt(segments.size()).putLong(log).putLong(lastDropped);
        for (KeptSegment segment : segments) {
            bytes.putLong(segment.number()).putLong(segment.file().bytes());
            bytes.putInt(segment.file().checksum()).putLong(segment.file().rows());
            bytes.putLong(segment.firstEntry()).putLong(segment.lastEntry());
            bytes.putLong(segment.firstArrival()).putLong(segment.lastArrival());
            bytes.put((byte)
                    ((segment.eventTimes().isPresent() ? HAS_TIMES : 0) | (segment.isSketched() ? IS_SKETCHED : 0)));
            segment.eventTimes().ifPresent(times -> bytes.putLong(times.first()).putLong(times.last()));
        }
        return FORMAT.end(bytes);
    }

    static SegmentList read(Disk disk) throws IOException {
        String path = disk.path(NAME);
        ByteBuffer bytes = FORMAT.read(disk, NAME, HEADER, MOST);
        long nextNumber = bytes.getLong();
        long lastEntry = bytes.getLong();
        long droppedRows = bytes.getLong();
        int typesHash = bytes.getInt();
        int count = bytes.getInt();
        DiskErrors.require(
                count >= 0 && count <= bytes.remaining() / SEGMENT, path, 44, "it cannot have " + count + " segments");
        long log = NO_LOG;
        if (CheckedFormat.versionOf(bytes) > 1) {
            DiskErrors.require(bytes.remaining() >= LOG, path, bytes.position(), "it ends within its header");
            log = bytes.getLong();
        }
        long lastDropped = 0;
        if (CheckedFormat.versionOf(bytes) > 2) {
            DiskErrors.require(bytes.remaining() >= DROPPED, path, bytes.position(), "it ends within its header");
            lastDropped = bytes.getLong();
            DiskErrors.require(
                    lastDropped >= 0 && lastDropped <= lastEntry,
                    path,
                    bytes.position() - DROPPED,
                    "rows of record " + lastDropped + " cannot have been dropped");
        }
        List<KeptSegment> segments = new ArrayList<>();
        long before = 0;
        boolean isExact = false;
        for (int i = 0; i < count; i++) {
            KeptSegment segment = readSegment(bytes, path);
            DiskErrors.require(
                    segment.firstEntry() > before
                            && segment.lastEntry() >= segment.firstEntry()
                            && segment.lastEntry() <= lastEntry
                            && segment.number() < nextNumber
                            && !(isExact && segment.isSketched()),
                    path,
                    bytes.position(),
                    "a segment of it is not where it can be");
            before = segment.lastEntry();
            isExact = !segment.isSketched();
            segments.add(segment);
        }
        DiskErrors.require(!bytes.hasRemaining(), path, bytes.position(), "more follows than its segments");
        return new SegmentList(log, nextNumber, lastEntry, droppedRows, lastDropped, typesHash, segments);
    }

    private static KeptSegment readSegment(ByteBuffer bytes, String path) {
        DiskErrors.require(bytes.remaining() >= SEGMENT, path, bytes.position(), "it ends within its segments");
        long number = bytes.getLong();
        long length = bytes.getLong();
        int checksum = bytes.getInt();
        SegmentFile file = new SegmentFile(KeptSegment.nameOf(number), length, checksum, bytes.getLong());
        long firstEntry = bytes.getLong();
        long lastEntry = bytes.getLong();
        long firstArrival = bytes.getLong();
        long lastArrival = bytes.getLong();
        int flags = bytes.get();
        boolean hasTimes = (flags & HAS_TIMES) != 0;
        boolean isSketched = (flags & IS_SKETCHED) != 0;
        int known = CheckedFormat.versionOf(bytes) > 3 ? HAS_TIMES | IS_SKETCHED : HAS_TIMES;
        DiskErrors.require((flags & ~known) == 0, path, bytes.position() - 1, "a segment of it is of no known form");
        DiskErrors.require(
                !hasTimes || bytes.remaining() >= EVENT_TIMES, path, bytes.position(), "it ends within its segments");
        Optional<KeptSegment.Span> times =
                hasTimes ? Optional.of(new KeptSegment.Span(bytes.getLong(), bytes.getLong())) : Optional.empty();
        return new KeptSegment(number, file, firstEntry, lastEntry, firstArrival, lastArrival, times, isSketched);
    }
}

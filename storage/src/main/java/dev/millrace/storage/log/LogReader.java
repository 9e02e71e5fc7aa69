package dev.millrace.storage.log;

import dev.millrace.error.MillraceException;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads what is there of a log, as the package describes it, and changes nothing. For one thread. */
final class LogReader {
    private final Disk disk;
    private final LogState state;
    private final List<SegmentHeader> segments;
    private LogPlace begin = LogPlace.BEGINNING; // of the record under way

    /** Reads these segments, each of which goes on from the one before it. */
    LogReader(Disk disk, LogState state, List<SegmentHeader> segments) {
        this.disk = disk;
        this.state = state;
        this.segments = List.copyOf(segments);
    }

    /**
     * Where a log ends.
     *
     * @param lastWhole number of its last record
     * @param cut where that ends, or marks behind it do: nothing behind it counts
     * @param end behind the last fragment, in the newest segment
     * @param unforced offset there from which on bytes may not be on disk: where the last group begins
     * @param tornBytes that were there of what was not whole
     */
    record End(long lastWhole, LogPlace cut, LogPlace end, long unforced, long tornBytes) {
        Optional<String> notice(Disk disk) {
            return tornBytes == 0
                    ? Optional.empty()
                    : Optional.of("the log ends with record " + lastWhole + "; " + tornBytes + " bytes behind it in "
                            + disk.path(SegmentHeader.name(end.segment()))
                            + " were being written when the database ended, and are cut off");
        }
    }

    /**
     * The segments of a log that count, from the first that is kept.
     *
     * @throws MillraceException XX001 if one is missing or its header is damaged
     */
    static List<SegmentHeader> chain(Disk disk, LogState state) throws IOException {
        List<SegmentHeader> chain = new ArrayList<>();
        long number = state.newest();
        if (disk.list().contains(SegmentHeader.name(number + 1))) {
            number++;
        }
        while (number >= state.first()) {
            SegmentHeader header = SegmentHeader.read(disk, state.identity(), number);
            checkOrder(disk, header);
            chain.add(0, header);
            number = header.end().segment();
        }
        return chain;
    }

    static void checkOrder(Disk disk, SegmentHeader header) {
        if (header.end().segment() >= header.number()) {
            throw DiskErrors.damaged(
                    disk.path(SegmentHeader.name(header.number())), 40, "it goes on from a later segment");
        }
    }

    /** The last place to which the newest segment can be read, be it the end of the log or not. */
    End endOfWhatIsRead() throws IOException {
        SegmentHeader newest = segments.get(segments.size() - 1);
        try (SegmentReader reader = new SegmentReader(disk, newest, newest.size())) {
            long last = newest.lastWhole();
            while (reader.next()) {
                last = reader.fragment().endsRecord() ? reader.fragment().number : last;
            }
            return new End(last, newest.cut(), new LogPlace(newest.number(), reader.position()), 0, 0);
        }
    }

    /**
     * Finds the end, by reading the newest segment. What is written meanwhile may be part of it or not.
     *
     * @throws MillraceException XX001 if something durable is missing there
     */
    End end() throws IOException {
        if (segments.isEmpty()) {
            return new End(0, LogPlace.BEGINNING, LogPlace.BEGINNING, 0, 0);
        }
        SegmentHeader newest = segments.get(segments.size() - 1);
        String path = disk.path(SegmentHeader.name(newest.number()));
        RecordAssembler records = new RecordAssembler(newest, Long.MAX_VALUE);
        LogPlace cut = newest.beginsWithRecord() ? new LogPlace(newest.number(), SegmentHeader.BYTES) : newest.cut();
        long unforced = SegmentHeader.BYTES;
        long claimed = -1; // as durable; a group is written only when the one before it is
        long at = SegmentHeader.BYTES;
        while (true) {
            try (SegmentReader reader = new SegmentReader(disk, newest, at, newest.size())) {
                long from = at;
                while (reader.next()) {
                    if (reader.fragment().durable != claimed) {
                        claimed = reader.fragment().durable;
                        unforced = at;
                    }
                    Optional<String> misfit = records.add(reader.fragment(), reader.contents());
                    if (misfit.isPresent()) {
                        throw DiskErrors.damaged(path, at, misfit.get());
                    }
                    at = reader.position();
                    if (records.isWhole()) {
                        cut = new LogPlace(newest.number(), at);
                    }
                }
                long last = records.lastWhole();
                SegmentReader.Rest rest = reader.rest(last);
                if (rest.durable() > last && (at > from || isThere(newest, at))) {
                    continue; // written since it was looked for: what is behind it was written later
                }
                boolean closed = state.closedAt() != 0 && state.newest() == newest.number();
                if (Math.max(rest.durable(), state.durable()) > last || closed && at != state.closedAt()) {
                    throw DiskErrors.damaged(path, at, "record " + (last + 1) + " is not what was written");
                }
                return new End(last, cut, new LogPlace(newest.number(), at), unforced, rest.bytes());
            }
        }
    }

    /** Where a record ends that is the last one in a segment up to some number, or, before any in it, where its first fragment is. */
    record Cut(long lastWhole, long offset) {}

    /**
     * Finds the last place in a segment where all that is before it is of records up to a number that are on disk.
     *
     * @throws MillraceException XX001 if something is damaged before that
     */
    Cut cut(int index, long upTo) throws IOException {
        SegmentHeader segment = segments.get(index);
        RecordAssembler records = new RecordAssembler(segment, Long.MAX_VALUE);
        Cut cut = new Cut(segment.lastWhole(), SegmentHeader.BYTES);
        try (SegmentReader reader = new SegmentReader(disk, segment, segment.size())) {
            while (reader.next() && reader.fragment().number <= upTo) {
                Optional<String> misfit = records.add(reader.fragment(), reader.contents());
                if (misfit.isPresent()) {
                    throw DiskErrors.damaged(
                            disk.path(SegmentHeader.name(segment.number())), cut.offset(), misfit.get());
                }
                if (reader.fragment().endsRecord()) {
                    cut = new Cut(records.lastWhole(), reader.position());
                }
            }
        }
        return cut;
    }

    private boolean isThere(SegmentHeader segment, long at) throws IOException {
        try (SegmentReader reader = new SegmentReader(disk, segment, at, segment.size())) {
            return reader.next();
        }
    }

    /**
     * Reads records in their order.
     *
     * @param after the number behind which they are wanted
     * @param end where the log ends
     * @throws MillraceException XX001 at the first damage; what was read before it was true
     */
    void replay(long after, End end, RecordConsumer consumer) throws IOException {
        int from = 0;
        for (int i = 1; i < segments.size(); i++) {
            if (before(disk, segments.get(i)) <= after) {
                from = i;
            }
        }
        long before = segments.isEmpty() ? 0 : before(disk, segments.get(from));
        if (before > after) {
            throw DiskErrors.missing(
                    disk.path(SegmentHeader.name(segments.get(from).number() - 1)),
                    "the log begins behind record " + before + ", and records behind " + after + " are needed");
        }
        if (from < segments.size()) {
            RecordAssembler records = new RecordAssembler(segments.get(from), after);
            for (int i = from; i < segments.size(); i++) {
                read(i, end, records, after, consumer);
            }
        }
    }

    /** The number of the last record that is not whole where the log is read from a segment on. */
    static long before(Disk disk, SegmentHeader header) throws IOException {
        if (header.beginsWithRecord()) {
            return header.lastWhole();
        }
        try (SegmentReader reader = new SegmentReader(disk, header, header.size())) {
            boolean isRest = reader.next()
                    && reader.fragment().kind != Fragment.MARK
                    && !reader.fragment().beginsRecord();
            return isRest ? reader.fragment().number : header.lastWhole();
        }
    }

    /** The same of all that there is; 0 of an empty log. */
    long before() throws IOException {
        return segments.isEmpty() ? 0 : before(disk, segments.get(0));
    }

    /**
     * Reads one record.
     *
     * @param place where it begins
     * @param end where the log ends
     */
    ByteBuffer read(LogPlace place, End end) throws IOException {
        @Nullable RecordAssembler records = null;
        long start = place.offset();
        for (int i = 0; i < segments.size(); i++) {
            SegmentHeader header = segments.get(i);
            if (header.number() < place.segment()) {
                continue;
            }
            long limit = limit(i, end);
            try (SegmentReader reader = new SegmentReader(disk, header, start, limit)) {
                while (reader.position() < limit) {
                    long at = reader.position();
                    boolean fits = reader.next();
                    if (fits && records == null) {
                        records = new RecordAssembler(reader.fragment());
                    }
                    if (!fits
                            || records == null
                            || records.add(reader.fragment(), reader.contents()).isPresent()) {
                        throw DiskErrors.damaged(
                                disk.path(SegmentHeader.name(header.number())),
                                at,
                                "what was there is not there any more");
                    }
                    if (reader.fragment().endsRecord()) {
                        return records.record();
                    }
                }
            }
            start = SegmentHeader.BYTES;
        }
        throw DiskErrors.missing(disk.path(SegmentHeader.name(place.segment())), "a record begins there");
    }

    /** Where a segment ends. */
    private long limit(int index, End end) {
        return index + 1 < segments.size()
                ? segments.get(index + 1).end().offset()
                : end.end().offset();
    }

    /** Reads a segment up to where the next one says that it ends. */
    void read(int index, End end, RecordAssembler records, long after, RecordConsumer consumer) throws IOException {
        SegmentHeader header = segments.get(index);
        long limit = limit(index, end);
        String path = disk.path(SegmentHeader.name(header.number()));
        Optional<String> misfit = records.enter(header);
        if (misfit.isPresent()) {
            throw DiskErrors.damaged(path, 56, misfit.get());
        }
        if (limit < SegmentHeader.BYTES || limit > header.size()) {
            throw DiskErrors.damaged(path, limit, "the segment after it says that it ends there");
        }
        try (SegmentReader reader = new SegmentReader(disk, header, limit)) {
            while (reader.position() < limit) {
                long at = reader.position();
                misfit = reader.next()
                        ? records.add(reader.fragment(), reader.contents())
                        : Optional.of("record " + (records.lastWhole() + 1) + " is not what was written");
                if (misfit.isPresent()) {
                    throw DiskErrors.damaged(path, at, misfit.get());
                }
                if (reader.fragment().beginsRecord()) {
                    begin = new LogPlace(header.number(), at);
                }
                if (reader.fragment().endsRecord() && records.lastWhole() > after) {
                    consumer.accept(records.lastWhole(), begin, records.record());
                }
            }
        }
    }
}

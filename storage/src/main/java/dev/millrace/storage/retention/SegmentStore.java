package dev.millrace.storage.retention;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.error.MillraceException;
import dev.millrace.storage.batch.BatchBytes;
import dev.millrace.storage.column.ColumnBounds;
import dev.millrace.storage.column.SortKey;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.DiskFile;
import dev.millrace.storage.disk.FileImage;
import dev.millrace.storage.disk.WholeFile;
import dev.millrace.storage.segment.ColumnRange;
import dev.millrace.storage.segment.ColumnSegment;
import dev.millrace.storage.segment.ColumnSegmentWriter;
import dev.millrace.storage.segment.SegmentFile;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The past of one stream. Any thread; {@link #append} is called in the order of entries.
 *
 * <pre>{@code
 * SegmentStore store = SegmentStore.open(disk.directory("17"), schema, options, known, allocator);
 * replay(log, store.lastEntry());                      // appends again what was not flushed
 * store.append(entry, arrivalMicros, batches);         // with each entry of the log
 * ...                                                  // and now and then, by a thread in the background:
 * store.flush();                                       // then the log may forget the entries before store.firstEntryNeeded()
 * store.drop(nowMicros);
 * while (store.merge()) {}
 * }</pre>
 *
 * <p>What was published, by a {@link #flush}, {@link #merge} or {@link #drop} that returned, is so after any crash; while one is under way, it
 * is or is not, as a whole. Methods that read or write files throw XX001 where one is damaged, 53100 and 58030 where the disk is full or fails:
 * then everything is as before, in memory for certain and on disk as one of the two, and they can be called again.
 *
 * <p>Long because what waits in memory, is on disk and is read by scans changes under two locks, whose order is to be seen in one place.
 */
public final class SegmentStore implements AutoCloseable {
    private static final int PARTS = 8; // of a large segment, for each scan

    private final Disk disk;
    private final Schema kept;
    private final RetentionOptions options;
    private final BufferAllocator allocator;
    private final List<MillraceException> damage = new ArrayList<>(); // found when it was opened; not changed after
    private final Object maintenance = new Object(); // held by whoever writes files; taken before this

    @GuardedBy("this") private SegmentList list;

    @GuardedBy("this") private final Deque<RetainedRows> pending = new ArrayDeque<>();

    @GuardedBy("this") private long pendingBytes;

    @GuardedBy("this") private boolean closed;

    @GuardedBy("this") private long lastAppended;

    @GuardedBy("this") private long lastArrival = Long.MIN_VALUE;

    @GuardedBy("this") private final Map<Long, Integer> pins = new HashMap<>(); // scans of each segment, by its number

    @GuardedBy("maintenance") private long nextNumber; // of files, also of those that came to nothing

    private SegmentStore(
            Disk disk, Schema kept, RetentionOptions options, SegmentList list, BufferAllocator allocator) {
        this.disk = disk;
        this.kept = kept;
        this.options = options;
        this.list = list;
        this.allocator = allocator;
        this.nextNumber = list.nextNumber();
        this.lastAppended = list.lastEntry();
        for (KeptSegment segment : list.segments()) {
            lastArrival = Math.max(lastArrival, segment.lastArrival());
        }
    }

    /**
     * Opens what is there, or begins where nothing is; removes files that do not count.
     *
     * @param schema of the stream
     * @param known of it beside it
     * @param allocator the caller's, of what is held for a while: one block, and the rows of one entry
     * @throws MillraceException XX001 if the list of segments is missing or damaged, of another database or an older copy, or they are
     *     of other columns; F0000 if it is of a later version; 53100 or 58030
     */
    public static SegmentStore open(
            Disk disk, Schema schema, RetentionOptions options, KnownPast known, BufferAllocator allocator) {
        Schema kept = RetainedRows.kept(schema);
        int typesHash = BatchBytes.hash(kept);
        try {
            List<String> names = disk.list();
            if (!names.contains(SegmentList.NAME)) {
                for (String name : names) {
                    if (KeptSegment.numberOf(name).isPresent()) {
                        throw DiskErrors.missing(disk.path(SegmentList.NAME), "there is the segment " + name);
                    }
                }
                SegmentList.empty(known.log().orElse(SegmentList.NO_LOG), typesHash)
                        .write(disk);
            }
            SegmentList list = SegmentList.read(disk);
            if (list.typesHash() != typesHash) {
                throw DiskErrors.damaged(
                        disk.path(SegmentList.NAME), 40, "its segments have other columns than (" + schema + ")");
            }
            known.misfit(list).ifPresent(what -> {
                throw DiskErrors.damaged(disk.path(SegmentList.NAME), 24, what)
                        .withHint("put the directory back from a backup; ./millrace verify says what else is damaged");
            });
            disk.forceNames(); // should the process have ended before it had done so
            WholeFile.removeUnfinished(disk);
            SegmentStore store =
                    new SegmentStore(disk, kept, options, list.of(known.log().orElse(list.log())), allocator);
            for (KeptSegment segment : list.segments()) {
                checkLength(disk, segment.file()).ifPresent(store.damage::add);
            }
            store.removeOthers();
            return store;
        } catch (IOException e) {
            throw DiskErrors.failed("open " + disk.path(SegmentList.NAME), e);
        }
    }

    /** Whether there is a store in a directory. */
    public static boolean exists(Disk disk) throws IOException {
        return disk.has(SegmentList.NAME);
    }

    private static Optional<MillraceException> checkLength(Disk disk, SegmentFile expected) throws IOException {
        String path = disk.path(expected.name());
        try (DiskFile file = disk.open(expected.name())) {
            return file.size() == expected.bytes()
                    ? Optional.empty()
                    : Optional.of(DiskErrors.damaged(
                            path,
                            Math.min(file.size(), expected.bytes()),
                            "it has " + file.size() + " bytes, and " + expected.bytes() + " were written"));
        } catch (NoSuchFileException e) {
            return Optional.of(DiskErrors.missing(path, "it is a segment of a stream"));
        }
    }

    /** Segments that were missing or of another length when this was opened, XX001 each; scans that come to them fail. */
    public List<MillraceException> damage() {
        return List.copyOf(damage);
    }

    /** Whether there are scans that are not closed and have segments to read. */
    public synchronized boolean isRead() {
        return !pins.isEmpty();
    }

    // ---- rows ------------------------------------------------------------------------------------------------------

    /**
     * Adds the rows of an entry of the log, which scans that begin from now on see. Reads and writes no file.
     *
     * @param entry its number, above all before
     * @param arrivalMicros when it was accepted, microseconds since 1970; taken for that of the entry before if a clock was set back
     * @param batches all that it has of the stream, without weights; they stay the caller's
     * @return bytes that wait to be flushed, which are held in memory: who appends sees to it that this is done
     */
    public synchronized long append(long entry, long arrivalMicros, List<Batch> batches) {
        if (entry <= lastAppended) {
            throw new IllegalArgumentException("entry " + entry + " comes after " + lastAppended);
        }
        if (closed) {
            return 0; // the stream was dropped meanwhile
        }
        lastAppended = entry;
        lastArrival = Math.max(lastArrival, arrivalMicros);
        for (Batch batch : batches) {
            if (batch.rowCount() > 0) {
                RetainedRows rows = new RetainedRows(entry, lastArrival, batch.retain());
                pending.add(rows);
                pendingBytes += rows.bytes();
            }
        }
        return pendingBytes;
    }

    /** Number of the last entry whose rows are on disk, or were; 0 before. What comes after is to be appended when a database is opened. */
    public synchronized long lastEntry() {
        return list.lastEntry();
    }

    /** The same of the entries up to one; whoever flushed up to that knows which rows it has on disk. */
    public synchronized long lastEntry(long upTo) {
        long last = list.lastEntry() <= upTo ? list.lastEntry() : Math.min(upTo, list.lastDropped());
        for (KeptSegment segment : list.segments()) {
            last = segment.lastEntry() <= upTo ? Math.max(last, segment.lastEntry()) : last;
        }
        return last;
    }

    /** Number of the last entry that was appended, since it was opened or before. */
    public synchronized long lastAppended() {
        return lastAppended;
    }

    /** Number of the first entry that only the log has; empty if there is none, and the log may forget all that was appended. */
    public synchronized OptionalLong firstEntryNeeded() {
        RetainedRows first = pending.peekFirst();
        return first == null ? OptionalLong.empty() : OptionalLong.of(first.entry());
    }

    /** Bytes of rows that wait to be flushed. */
    public synchronized long pendingBytes() {
        return pendingBytes;
    }

    /** The segments, in the order of their entries. */
    public synchronized List<KeptSegment> segments() {
        return list.segments();
    }

    /** How many rows were dropped since the stream was made. */
    public synchronized long droppedRows() {
        return list.droppedRows();
    }

    /**
     * How many rows there are of some entries that arrived between two times: about, where only a part of a segment is meant.
     *
     * @param first the first of the entries
     * @param last the last
     * @param fromMicros the first moment, microseconds since 1970
     * @param toMicros the first that is not meant
     */
    public synchronized long rows(long first, long last, long fromMicros, long toMicros) {
        double rows = 0;
        for (KeptSegment segment : list.segments()) {
            rows += segment.file().rows() * segment.share(first, last, fromMicros, toMicros);
        }
        for (RetainedRows each : pending) {
            boolean isMeant = each.entry() >= first
                    && each.entry() <= last
                    && each.arrivalMicros() >= fromMicros
                    && each.arrivalMicros() < toMicros;
            rows += isMeant ? each.batch().rowCount() : 0;
        }
        return Math.round(rows);
    }

    /** The columns that scans choose from: the stream's, {@code #entry} and {@code #arrival}. */
    public Schema schema() {
        return kept;
    }

    /**
     * Reads rows in the order of their entries: those that are there now, whatever is appended, flushed, merged or dropped meanwhile.
     *
     * @param columns of {@link #schema}, in the order in which batches have them
     * @param ranges segments, blocks and entries that have no rows in all of them are passed by; of others all rows are given
     * @param of the batches, and of what is read at a time
     * @return the caller's, to be closed
     */
    public StoreScan scan(List<Integer> columns, List<ColumnRange> ranges, BufferAllocator of) {
        return scans(columns, ranges, Long.MAX_VALUE, 1, of).get(0);
    }

    /**
     * The same for several threads, of the rows that one moment had.
     *
     * @param upTo rows of later entries are left out, but for those of segments that have earlier ones as well
     * @param most how many scans there may be, with about as many rows of segments each; the rows of the second come behind those of the first
     * @return at least one; together they have every row once
     */
    public synchronized List<StoreScan> scans(
            List<Integer> columns, List<ColumnRange> ranges, long upTo, int most, BufferAllocator of) {
        List<KeptSegment> segments = list.segments().stream()
                .filter(segment -> segment.firstEntry() <= upTo)
                .filter(segment -> ranges.stream().allMatch(range -> mayHave(segment, range)))
                .toList();
        long skipped = list.segments().size() - segments.size();
        List<RetainedRows> rows = pending(ranges, upTo);
        long share = segments.stream().mapToLong(each -> each.file().rows()).sum() / Math.max(1, most) + 1;
        long last = Math.min(upTo, lastAppended);
        List<StoreScan> scans = new ArrayList<>();
        List<StoreScan.Piece> next = new ArrayList<>();
        double counted = 0;
        for (KeptSegment segment : segments) {
            int parts = segment.file().rows() <= share ? 1 : PARTS * most; // so many that scans end together
            int from = 0;
            for (int to = 1; to <= parts; to++) {
                counted += (double) segment.file().rows() / parts;
                boolean isShare = counted >= (double) share * (scans.size() + 1) && scans.size() + 1 < most;
                if (isShare || to == parts) {
                    next.add(new StoreScan.Piece(segment, from, to, parts));
                    pins.merge(segment.number(), 1, Integer::sum);
                    from = to;
                }
                if (isShare) {
                    scans.add(new StoreScan(
                            this,
                            next,
                            List.of(),
                            columns,
                            ranges,
                            last,
                            list.lastDropped(),
                            scans.isEmpty() ? skipped : 0,
                            of));
                    next = new ArrayList<>();
                }
            }
        }
        if (!next.isEmpty() || !rows.isEmpty() || scans.isEmpty()) {
            scans.add(new StoreScan(
                    this, next, rows, columns, ranges, last, list.lastDropped(), scans.isEmpty() ? skipped : 0, of));
        }
        return scans;
    }

    /** What waits of the entries and the times that are meant, retained; looks at no row of entries before, of which there may be many. */
    @GuardedBy("this") private List<RetainedRows> pending(List<ColumnRange> ranges, long upTo) {
        KeptSegment.Span entries = meant(ranges, kept.size() - 2);
        KeptSegment.Span arrivals = meant(ranges, kept.size() - 1);
        Deque<RetainedRows> rows = new ArrayDeque<>();
        for (Iterator<RetainedRows> backwards = pending.descendingIterator(); backwards.hasNext(); ) {
            RetainedRows each = backwards.next();
            if (each.entry() < entries.first() || each.arrivalMicros() < arrivals.first()) {
                break; // both grow
            }
            if (each.entry() <= Math.min(upTo, entries.last()) && each.arrivalMicros() <= arrivals.last()) {
                rows.addFirst(each.retain());
            }
        }
        return new ArrayList<>(rows);
    }

    /** The values of a column of integers or times that are in all ranges. */
    private static KeptSegment.Span meant(List<ColumnRange> ranges, int column) {
        long first = Long.MIN_VALUE;
        long last = Long.MAX_VALUE;
        for (ColumnRange range : ranges) {
            if (range.column() == column) {
                first = Math.max(first, range.low().map(SortKey::toLong).orElse(Long.MIN_VALUE));
                last = Math.min(last, range.high().map(SortKey::toLong).orElse(Long.MAX_VALUE));
            }
        }
        return new KeptSegment.Span(first, last);
    }

    /** Whether a segment may have rows in a range, by what the list knows of it. */
    private boolean mayHave(KeptSegment segment, ColumnRange range) {
        Optional<KeptSegment.Span> span = Optional.empty();
        if (range.column() == kept.size() - 2) {
            span = Optional.of(new KeptSegment.Span(segment.firstEntry(), segment.lastEntry()));
        } else if (range.column() == kept.size() - 1) {
            span = Optional.of(new KeptSegment.Span(segment.firstArrival(), segment.lastArrival()));
        } else if (options.eventTime().equals(Optional.of(range.column()))) {
            span = segment.eventTimes();
        }
        return span.isEmpty()
                || range.low().map(SortKey::toLong).orElse(Long.MIN_VALUE)
                                <= span.get().last()
                        && range.high().map(SortKey::toLong).orElse(Long.MAX_VALUE)
                                >= span.get().first();
    }

    ColumnSegment open(KeptSegment segment) {
        return ColumnSegment.open(disk, segment.file(), segment.isSketched() ? RetainedRows.stored(kept) : kept);
    }

    /** What segments have that are not exact. */
    SegmentForm form() {
        return options.form()
                .orElseThrow(() -> DiskErrors.damaged(
                        disk.path(SegmentList.NAME), 24, "it has sketched segments, and the stream is kept exactly"));
    }

    /** A scan has done with a segment. */
    void unpin(KeptSegment segment) {
        synchronized (this) {
            if (pins.merge(segment.number(), -1, Integer::sum) > 0) {
                return;
            }
            pins.remove(segment.number());
            if (list.segments().contains(segment)) {
                return;
            }
        }
        try {
            disk.delete(segment.file().name());
        } catch (IOException e) {
            return; // it is removed with the next that is published, or when the store is opened
        }
    }

    // ---- files -----------------------------------------------------------------------------------------------------

    /**
     * Forgets all entries behind one, which are going to be made again: they come with other numbers, greater than this one. Before any is appended.
     *
     * @throws MillraceException XX001 if a segment has rows of entries before and behind it: {@link #merge(long)} keeps them apart
     */
    public void cutBack(long toEntry) {
        synchronized (maintenance) {
            SegmentList before = list();
            List<KeptSegment> left = new ArrayList<>();
            for (KeptSegment segment : before.segments()) {
                if (segment.lastEntry() <= toEntry) {
                    left.add(segment);
                } else if (segment.firstEntry() <= toEntry) {
                    throw DiskErrors.damaged(
                            disk.path(SegmentList.NAME),
                            40,
                            "rows up to entry " + toEntry + " count, and "
                                    + segment.file().name() + " has others too");
                }
            }
            if (before.lastEntry() > toEntry) {
                publish(before.cutBack(nextNumber, toEntry, left), List.of());
                synchronized (this) {
                    lastAppended = toEntry;
                    lastArrival = left.stream()
                            .mapToLong(KeptSegment::lastArrival)
                            .max()
                            .orElse(Long.MIN_VALUE);
                }
            }
        }
    }

    /** Writes what waits to a segment, and publishes it. Nothing where nothing waits. */
    public void flush() {
        flush(Long.MAX_VALUE);
    }

    /**
     * The same of the entries up to one.
     *
     * @param upTo the last entry that the log has on disk: one that it might lose must not be in a segment
     */
    public void flush(long upTo) {
        synchronized (maintenance) {
            List<RetainedRows> rows = new ArrayList<>();
            SegmentList before;
            synchronized (this) {
                pending.stream().filter(each -> each.entry() <= upTo).forEach(rows::add);
                before = list;
            }
            if (rows.isEmpty()) {
                return;
            }
            RetainedRows first = rows.get(0);
            RetainedRows last = rows.get(rows.size() - 1);
            List<Integer> all = IntStream.range(0, kept.size()).boxed().toList();
            KeptSegment segment = write(
                    out -> {
                        for (int from = 0, to; from < rows.size(); from = to) {
                            to = RetainedRows.endTogether(rows, from);
                            try (Batch batch = RetainedRows.select(rows.subList(from, to), all, kept, allocator)) {
                                out.append(batch);
                            }
                        }
                    },
                    new Bounds(first.entry(), last.entry(), first.arrivalMicros(), last.arrivalMicros()));
            List<KeptSegment> segments = new ArrayList<>(before.segments());
            segments.add(segment);
            publish(before.next(nextNumber, last.entry(), segments), rows);
        }
    }

    private record Bounds(long firstEntry, long lastEntry, long firstArrival, long lastArrival) {
        static Bounds of(List<KeptSegment> parts) {
            KeptSegment first = parts.get(0);
            KeptSegment last = parts.get(parts.size() - 1);
            return new Bounds(first.firstEntry(), last.lastEntry(), first.firstArrival(), last.lastArrival());
        }

        KeptSegment segment(long number, SegmentFile file, Optional<KeptSegment.Span> times, boolean isSketched) {
            return new KeptSegment(number, file, firstEntry, lastEntry, firstArrival, lastArrival, times, isSketched);
        }
    }

    private interface RowWriter {
        void write(ColumnSegmentWriter out);
    }

    @GuardedBy("maintenance") private KeptSegment write(RowWriter rows, Bounds bounds) {
        long number = nextNumber++;
        try (ColumnSegmentWriter out = ColumnSegmentWriter.create(disk, KeptSegment.nameOf(number), kept)) {
            rows.write(out);
            SegmentFile file = out.finish();
            Optional<KeptSegment.Span> times = options.eventTime()
                    .map(out::statistics)
                    .filter(ColumnBounds::bounded)
                    .map(known ->
                            new KeptSegment.Span(SortKey.toLong(known.least()), SortKey.toLong(known.greatest())));
            return bounds.segment(number, file, times, false);
        }
    }

    /** Has a list take the place of the one that counts, and the rows that are in it now wait no more. */
    @GuardedBy("maintenance") private void publish(SegmentList next, List<RetainedRows> flushed) {
        try {
            disk.forceNames();
            next.write(disk);
        } catch (IOException e) {
            throw DiskErrors.failed("write " + disk.path(SegmentList.NAME), e);
        }
        synchronized (this) {
            list = next;
            for (RetainedRows each : flushed) {
                pending.removeFirst();
                pendingBytes -= each.bytes();
            }
        }
        Closing.all(flushed);
        try {
            removeOthers();
        } catch (IOException e) {
            return; // they are removed after the next one
        }
    }

    /** Files of segments that the list does not have and nobody reads. Nobody writes any at this time. */
    private void removeOthers() throws IOException {
        for (String name : disk.list()) {
            OptionalLong number = KeptSegment.numberOf(name);
            if (number.isPresent() && isNobodys(number.getAsLong())) {
                try {
                    disk.delete(name);
                } catch (NoSuchFileException e) {
                    continue; // its last reader did
                }
            }
        }
    }

    private synchronized boolean isNobodys(long number) {
        return !pins.containsKey(number) && list.segments().stream().noneMatch(segment -> segment.number() == number);
    }

    /**
     * Makes one segment of several small ones, or has some take the stream's form, if there are such.
     *
     * @return whether there were; then there may be others
     */
    public boolean merge() {
        return merge(Long.MAX_VALUE);
    }

    /**
     * The same of the entries up to one: segments of later ones stay as they are, and can be {@link #cutBack}.
     *
     * @param upTo up to which all was {@link #flush(long) flushed} at a time
     */
    public boolean merge(long upTo) {
        synchronized (maintenance) {
            SegmentList before = list();
            long mostSpan = options.policy().mostSpanMicros();
            List<KeptSegment> settled = before.segments().stream()
                    .filter(segment -> segment.lastEntry() <= upTo)
                    .toList();
            List<KeptSegment> formed = options.form()
                    .map(form -> MergeChoice.toBeFormed(settled, form, mostSpan))
                    .orElse(List.of());
            List<KeptSegment> exact = MergeChoice.exact(settled);
            List<KeptSegment> sketched = new ArrayList<>(settled);
            sketched.removeAll(exact);
            List<KeptSegment> parts = Stream.of(
                            formed,
                            MergeChoice.of(exact, options.mergedBytes(), mostSpan),
                            MergeChoice.of(sketched, options.mergedBytes(), mostSpan))
                    .filter(chosen -> !chosen.isEmpty())
                    .findFirst()
                    .orElse(List.of());
            if (parts.isEmpty()) {
                return false;
            }
            KeptSegment first = parts.get(0);
            Bounds bounds = Bounds.of(parts);
            KeptSegment merged = parts.equals(formed) || first.isSketched()
                    ? writeFormed(parts, bounds, !first.isSketched())
                    : write(out -> copy(parts, kept, out, false), bounds);
            List<KeptSegment> segments = new ArrayList<>(before.segments());
            int at = segments.indexOf(first);
            segments.subList(at, at + parts.size()).clear();
            segments.add(at, merged);
            publish(before.next(nextNumber, before.lastEntry(), segments), List.of());
            return true;
        }
    }

    /** Segments of the stream's form, as one. @param isNew whether they are exact still */
    @GuardedBy("maintenance") private KeptSegment writeFormed(List<KeptSegment> parts, Bounds bounds, boolean isNew) {
        long number = nextNumber++;
        Schema stored = RetainedRows.stored(kept);
        try (ColumnSegmentWriter out = ColumnSegmentWriter.create(disk, KeptSegment.nameOf(number), stored)) {
            if (isNew) {
                try (SegmentParts rows = new SegmentParts(parts, this::open, kept.size(), allocator)) {
                    form().write(rows, bounds.lastArrival(), out, allocator);
                }
            } else {
                copy(parts, stored, out, true);
            }
            SegmentFile file = out.finish();
            long expected = parts.stream().mapToLong(part -> part.file().rows()).sum();
            if (file.rows() != expected) {
                throw new IllegalStateException(file.rows() + " rows were written of " + expected);
            }
            return bounds.segment(
                    number, file, KeptSegment.eventTimes(parts, isNew ? form().timeErrorMicros() : 0), true);
        }
    }

    /** @param inBlocks whether blocks stay what they are */
    private void copy(List<KeptSegment> parts, Schema of, ColumnSegmentWriter out, boolean inBlocks) {
        try (SegmentParts rows = new SegmentParts(parts, this::open, of.size(), allocator)) {
            for (Optional<Batch> next = rows.get(); next.isPresent(); next = rows.get()) {
                try (Batch batch = next.get()) {
                    out.append(batch);
                }
                if (inBlocks) {
                    out.endBlock();
                }
            }
        }
    }

    /** What is on disk now; its files stay until the image is closed. */
    public synchronized StoreImage image() {
        List<FileImage> files = new ArrayList<>();
        for (KeptSegment segment : list.segments()) {
            files.add(FileImage.of(
                    disk,
                    segment.file().name(),
                    segment.file().bytes(),
                    segment.file().bytes()));
            pins.merge(segment.number(), 1, Integer::sum);
        }
        files.add(FileImage.of(SegmentList.NAME, list.toBytes()));
        return new StoreImage(this, list.segments(), files);
    }

    private synchronized SegmentList list() {
        return list;
    }

    /**
     * Drops the segments of which no row need be kept.
     *
     * @param nowMicros by which rows are old, microseconds since 1970: the clock's, or for event times the watermark
     * @return how many rows that were
     */
    public long drop(long nowMicros) {
        synchronized (maintenance) {
            SegmentList before = list();
            Set<KeptSegment> dropped = new HashSet<>();
            long bytes = before.bytes();
            long most = options.policy().bytes().orElse(Long.MAX_VALUE);
            for (KeptSegment segment : before.segments()) {
                if (bytes > most || options.policy().isOver(segment, nowMicros)) {
                    dropped.add(segment);
                    bytes -= segment.file().bytes();
                }
            }
            if (dropped.isEmpty()) {
                return 0;
            }
            SegmentList after = before.without(nextNumber, dropped);
            publish(after, List.of());
            return after.droppedRows() - before.droppedRows();
        }
    }

    /** Lets go of the rows that wait, which are lost here. Scans are closed before. */
    @Override
    public void close() {
        List<RetainedRows> rows;
        synchronized (maintenance) {
            synchronized (this) {
                closed = true;
                rows = List.copyOf(pending);
                pending.clear();
                pendingBytes = 0;
            }
        }
        Closing.all(rows);
    }
}

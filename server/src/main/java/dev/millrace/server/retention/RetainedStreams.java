package dev.millrace.server.retention;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.connector.Source;
import dev.millrace.engine.relation.KeptOutput;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.journal.AcceptedRows;
import dev.millrace.server.journal.RowJournal;
import dev.millrace.server.log.EventLog;
import dev.millrace.server.sketched.ColumnCost;
import dev.millrace.server.sketched.ColumnCosts;
import dev.millrace.server.sketched.SketchedForm;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.retention.KeptSegment;
import dev.millrace.storage.retention.KnownPast;
import dev.millrace.storage.retention.RetentionOptions;
import dev.millrace.storage.retention.SegmentStore;
import dev.millrace.storage.retention.StoreImage;
import dev.millrace.time.Clock;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The streams of a database that keep their rows. Safe on any thread, but for {@link #add} and {@link #drop}, which the holder of the lock
 * of definitions calls.
 *
 * <p>Rows come with the lock of epochs held, in the order of the log ({@link #accepted}), wait in memory, and are written to a segment when
 * the log has them on disk: so what a segment has the log cannot lose. Who brings rows while much waits writes it first.
 *
 * <p>A <i>derived</i> stream's rows come from a query ({@link #addDerived}), and are in no log: its entries are the query's epochs. What came behind a
 * checkpoint is made again when a database goes on from that, so the stream is cut back to it; no segment has rows of both sides of one.
 *
 * <p>Long because streams are known here by their names and by their numbers, with those who follow them.
 */
public final class RetainedStreams implements AcceptedRows, AutoCloseable {
    private static final EventLog LOG = EventLog.named("storage");
    private static final String OWN = "past of ";
    private static final long MOST_BYTES = 32 << 20; // that wait of one stream

    private static final int MOST_UNSETTLED = 16; // segments

    private final BufferAllocator allocator;
    private final Clock clock;
    private final RowJournal journal;
    private final Supplier<Optional<Disk>> directory;
    private final Map<String, KeptStream> byName = new ConcurrentHashMap<>();
    private final Map<Long, KeptStream> byNumber = new ConcurrentHashMap<>();
    private final Map<String, Map<String, Backfill>> readers = new ConcurrentHashMap<>(); // by query and stream
    private final Set<KeptStream> dropped = ConcurrentHashMap.newKeySet(); // whose files are there still

    /** As {@link #lastEntries}, when the checkpoint was written that is gone on from. */
    private volatile Map<Long, Long> expected = Map.of();

    /** The last entry of the log that came again, while a database is opened; then all have. */
    private volatile long cameAgain = Long.MAX_VALUE;

    /** The number of the checkpoint that was cut last: epochs that are in it have smaller ones. */
    private volatile long cutNumber;

    /** A segment of a stream, for those who look. */
    public record StreamSegment(String stream, KeptSegment segment) {}

    /**
     * @param allocator of rows that wait
     * @param directory in which each stream has one; empty where nothing is kept
     */
    public RetainedStreams(
            BufferAllocator allocator, Clock clock, RowJournal journal, Supplier<Optional<Disk>> directory) {
        this.allocator = allocator;
        this.clock = clock;
        this.journal = journal;
        this.directory = directory;
    }

    // ---- streams ---------------------------------------------------------------------------------------------------

    /**
     * Opens the past of a stream, or begins it.
     *
     * @param number by which the log knows the stream's rows
     * @param isNew whether the stream is being made; else it has files
     * @return what queries read of it
     * @throws MillraceException 0A000 without a data directory; XX001 if the list of segments is damaged, of another database or an
     *     older copy; 53100 or 58030
     */
    public Source add(String stream, long number, Schema schema, RetentionOptions options, boolean isNew) {
        KeptStream kept = open(stream, number, schema, options, isNew, false);
        return past(kept);
    }

    /**
     * The same of a stream that a query fills, whose rows are cut back to the checkpoint that is gone on from.
     *
     * @return what keeps the query's rows
     * @throws MillraceException as {@link #add}
     */
    public KeptOutput addDerived(String stream, long number, Schema schema, RetentionOptions options, boolean isNew) {
        KeptStream kept = open(stream, number, schema, options, isNew, true);
        return derived(kept);
    }

    /** What keeps the rows of a query that fills a stream, which is there; empty if the stream keeps none. */
    public Optional<KeptOutput> derived(String stream) {
        return Optional.ofNullable(byName.get(stream))
                .filter(kept -> kept.isDerived)
                .map(this::derived);
    }

    private KeptOutput derived(KeptStream kept) {
        return new DerivedRows(past(kept), kept.store, kept.schema, allocator, () -> kept.flush(() -> cutNumber));
    }

    private static Source past(KeptStream kept) {
        return new RetainedPast(kept.store, kept.schema, kept.form, kept.shown);
    }

    private KeptStream open(
            String stream, long number, Schema schema, RetentionOptions options, boolean isNew, boolean isDerived) {
        Disk all = directory
                .get()
                .orElseThrow(() -> MillraceException.user(
                                SqlState.FEATURE_NOT_SUPPORTED,
                                "a stream can keep its rows only where there is a data directory")
                        .withHint("start it with --data DIR"));
        SegmentStore store;
        try {
            Disk own = all.directory(String.valueOf(number));
            if (!isNew && !SegmentStore.exists(own)) {
                throw DiskErrors.missing(own.path("segments"), "stream \"" + stream + "\" has its rows there")
                        .withHint("put it back from a copy");
            }
            store = SegmentStore.open(
                    own,
                    schema,
                    options,
                    new KnownPast(journal.identity(), expected.getOrDefault(number, 0L)),
                    allocator);
            if (isDerived) {
                store.cutBack(expected.getOrDefault(number, 0L));
            }
        } catch (IOException e) {
            throw DiskErrors.failed("use " + all.path(String.valueOf(number)), e);
        }
        store.damage()
                .forEach(why -> LOG.warning("a segment is damaged", "stream", stream, "reason", why.getMessage()));
        Optional<SketchedForm> form = options.form().map(SketchedForm.class::cast);
        KeptStream kept = new KeptStream(number, schema, form, store, isDerived, journal::durable, clock.epochMicros());
        byName.put(stream, kept);
        byNumber.put(number, kept);
        return kept;
    }

    /**
     * What a standing query reads that begins in the past of a stream.
     *
     * @param query its name
     * @param arrivals rows that arrived at other times are left out
     * @param choice which of the others it is given
     */
    public Source follow(String stream, String query, ArrivalSpan arrivals, RowChoice choice) {
        KeptStream kept = Objects.requireNonNull(byName.get(stream));
        LongSupplier shown = kept.isDerived ? kept.shown : () -> Math.min(kept.shown.getAsLong(), cameAgain);
        Backfill backfill = new Backfill(stream, kept.store, arrivals, choice, shown, clock);
        readers.computeIfAbsent(query, first -> new ConcurrentHashMap<>()).put(stream, backfill);
        return new StreamFollower(kept.store, kept.schema, kept.form, arrivals, shown, backfill);
    }

    /** A query is gone that read the past of streams. */
    public void forgetReaders(String query) {
        readers.remove(query);
    }

    /** A query that read the past of streams has another name. */
    public void renameReaders(String query, String newName) {
        Optional.ofNullable(readers.remove(query)).ifPresent(moved -> readers.put(newName, moved));
    }

    /** Streams and queries have other names, all at once. @param names the new ones, by those before */
    public void rename(Map<String, String> names) {
        RelationNames.rename(byName, names);
        RelationNames.rename(readers, names);
        for (Map<String, Backfill> streams : readers.values()) {
            RelationNames.rename(streams, names);
            streams.forEach((stream, backfill) -> backfill.rename(stream));
        }
    }

    /** Whether a stream's old rows are sketches. */
    public boolean isSketched(String stream) {
        return Optional.ofNullable(byName.get(stream))
                .flatMap(kept -> kept.form)
                .isPresent();
    }

    /** Whether a stream has no rows, be it in segments or in memory. */
    public boolean isEmpty(String stream) {
        return Optional.ofNullable(byName.get(stream))
                .filter(kept -> !kept.store.segments().isEmpty() || kept.store.pendingBytes() > 0)
                .isEmpty();
    }

    /** Whether any query follows a stream from its past on. */
    public boolean isFollowed() {
        return !readers.isEmpty();
    }

    /** How far a query is with each of the streams that it follows from their past on. */
    public List<Backfill> backfillsOf(String query) {
        return List.copyOf(new TreeMap<>(readers.getOrDefault(query, Map.of())).values());
    }

    /**
     * How far a query is.
     *
     * @param choice which rows it is given
     * @param leftOut how many this has left out since the database was opened
     */
    public record QueryBackfill(String query, BackfillProgress progress, RowChoice choice, long leftOut) {}

    /** How far all queries are that follow streams from their past on, by their names and those of the streams. */
    public List<QueryBackfill> backfills() {
        List<QueryBackfill> all = new ArrayList<>();
        new TreeMap<>(readers)
                .keySet()
                .forEach(query -> backfillsOf(query)
                        .forEach(backfill -> all.add(
                                new QueryBackfill(query, backfill.progress(), backfill.choice(), backfill.leftOut()))));
        return all;
    }

    /** The name by which the engine knows a query's own reader of a stream. */
    public static String ownName(String stream, String query) {
        return OWN + stream + " for " + query;
    }

    /** The stream that a query's own reader of that name reads. */
    public static String streamOf(String ownName, String query) {
        return ownName.substring(OWN.length(), ownName.length() - " for ".length() - query.length());
    }

    /** Whether this is such a name, if no relation has it. */
    public static boolean isOwnName(String relation) {
        return relation.startsWith(OWN);
    }

    /** Forgets the past of a stream, if it has one; its files go when that the stream is gone is on disk. */
    public void drop(String stream) {
        KeptStream kept = byName.remove(stream);
        if (kept != null) {
            byNumber.remove(kept.number);
            kept.store.close();
            dropped.add(kept);
        }
    }

    /** Before streams are restored: of each, up to which entry the log may have forgotten its rows. */
    public void expect(Map<Long, Long> lastEntries) {
        expected = Map.copyOf(lastEntries);
    }

    /**
     * Of each stream by its number, the last entry whose rows are on disk, or were; of a derived one, of those that a checkpoint has. Of one that
     * could not be restored it is what was expected of it.
     *
     * @param checkpoint its number
     */
    public Map<Long, Long> lastEntries(long checkpoint) {
        Map<Long, Long> entries = new TreeMap<>(expected);
        byNumber.forEach((number, kept) ->
                entries.put(number, kept.isDerived ? kept.store.lastEntry(checkpoint) : kept.store.lastEntry()));
        return entries;
    }

    /** Removes the directories of streams that are gone: when a database is open. */
    public void removeOthers(Set<Long> defined) {
        Map<Long, Long> lost = new TreeMap<>(expected);
        lost.keySet().removeIf(number -> byNumber.containsKey(number) || !defined.contains(number));
        expected = Map.copyOf(lost);
        directory.get().ifPresent(all -> {
            try {
                for (String name : all.directories()) {
                    if (name.matches("[0-9]{1,18}")) {
                        long number = Long.parseLong(name);
                        if (!byNumber.containsKey(number) && !defined.contains(number)) {
                            all.removeDirectory(name);
                        }
                    }
                }
            } catch (IOException e) {
                LOG.warning("files of a dropped stream are left", "reason", String.valueOf(e.getMessage()));
            }
        });
    }

    /**
     * Removes the files of streams that were dropped and that nobody reads any more.
     *
     * @param isDefined whether a number is that of a definition on disk
     */
    public void removeDropped(LongPredicate isDefined) {
        for (KeptStream kept : dropped) {
            if (!isDefined.test(kept.number) && !kept.store.isRead()) {
                try {
                    directory.get().orElseThrow().removeDirectory(String.valueOf(kept.number));
                } catch (IOException e) {
                    LOG.warning("files of a dropped stream are left", "reason", String.valueOf(e.getMessage()));
                }
                dropped.remove(kept); // else they go when the database is opened
            }
        }
    }

    /** The segments of all streams. */
    public List<StreamSegment> segments() {
        List<StreamSegment> segments = new ArrayList<>();
        byName.keySet().stream()
                .sorted()
                .forEach(stream -> Optional.ofNullable(byName.get(stream))
                        .ifPresent(kept -> kept.store
                                .segments()
                                .forEach(segment -> segments.add(new StreamSegment(stream, segment)))));
        return segments;
    }

    /** Those of one stream, oldest first; none if it keeps no rows. */
    public List<KeptSegment> segments(String stream) {
        return Optional.ofNullable(byName.get(stream))
                .map(kept -> kept.store.segments())
                .orElse(List.of());
    }

    /** What a column of a stream costs. */
    public record StreamColumn(String stream, ColumnCost cost) {}

    /**
     * What the columns of all streams cost in segments; reads all sketches.
     *
     * @throws MillraceException XX001 or 58030 where a segment is damaged or cannot be read
     */
    public List<StreamColumn> columns() {
        List<StreamColumn> columns = new ArrayList<>();
        new TreeMap<>(byName)
                .forEach((stream, kept) ->
                        costs(kept, Long.MAX_VALUE).forEach(cost -> columns.add(new StreamColumn(stream, cost))));
        return columns;
    }

    /**
     * The same of one stream, in its newest segments that have so many bytes together, at least one; reads their sketches.
     *
     * @throws MillraceException as {@link #columns()}
     */
    public Collection<ColumnCost> columns(String stream, long mostBytes) {
        return Optional.ofNullable(byName.get(stream))
                .map(kept -> costs(kept, mostBytes))
                .orElse(List.of());
    }

    private Collection<ColumnCost> costs(KeptStream kept, long mostBytes) {
        ColumnCosts costs = new ColumnCosts(kept.form, allocator);
        try (StoreImage image = kept.store.image()) {
            image.forNewest(mostBytes, (segment, file) -> {
                if (segment.isSketched()) {
                    costs.addSketched(file);
                } else {
                    costs.addExact(file);
                }
            });
        }
        return costs.all();
    }

    /** A stream's files for a copy, and in which directory they are. */
    public record StreamImage(String directory, StoreImage image) {}

    /** What all streams have on disk; the caller closes the images. With the lock of definitions held. */
    public List<StreamImage> images() {
        List<StreamImage> images = new ArrayList<>();
        byNumber.forEach((number, kept) -> images.add(new StreamImage(String.valueOf(number), kept.store.image())));
        return images;
    }

    // ---- rows ------------------------------------------------------------------------------------------------------

    @Override
    public boolean keeps(long relation) {
        KeptStream kept = byNumber.get(relation);
        return kept != null && !kept.isDerived;
    }

    @Override
    public void makeRoom(long relation) {
        KeptStream kept = byNumber.get(relation);
        if (kept != null && kept.store.pendingBytes() > MOST_BYTES) {
            journal.awaitAll();
            kept.store.flush(journal.durable());
        }
    }

    @Override
    public long nowMicros() {
        return clock.epochMicros();
    }

    @Override
    public void accepted(long entry, long relation, long arrivedMicros, List<Batch> rows) {
        KeptStream kept = byNumber.get(relation);
        if (kept != null) {
            kept.store.append(entry, arrivedMicros, rows);
        }
    }

    /**
     * Rows come again from the log when a database is opened; those that segments have are passed by.
     *
     * @param arrivedMicros when they came first; logs of earlier versions do not say it, and they count as coming now
     */
    public void again(long entry, long relation, OptionalLong arrivedMicros, List<Batch> rows) {
        KeptStream kept = byNumber.get(relation);
        if (kept != null && entry > kept.store.lastEntry()) {
            long arrived = arrivedMicros.orElseGet(clock::epochMicros);
            if (kept.store.append(entry, arrived, rows) > MOST_BYTES) {
                kept.store.flush(journal.durable());
            }
        }
    }

    /**
     * While a database is opened: standing queries that read the past of streams come no further than the log does, though segments have more. What reads
     * those queries, and is made again behind an entry, so sees what it saw.
     *
     * @param entry the last that came again; {@code Long.MAX_VALUE} when all did
     */
    public void cameAgain(long entry) {
        cameAgain = entry;
    }

    // ---- files -----------------------------------------------------------------------------------------------------

    /**
     * Writes all that waits of the entries up to one, which are on disk: then the log may forget them. Of derived streams, what a checkpoint
     * has.
     *
     * @param checkpoint its number
     * @throws MillraceException 53100 or 58030
     */
    public void flush(long upTo, long checkpoint) {
        byNumber.values().forEach(kept -> kept.store.flush(kept.isDerived ? checkpoint : upTo));
    }

    /** A checkpoint of a number is being cut: with the lock of epochs held. */
    public void cut(long checkpoint) {
        cutNumber = checkpoint;
    }

    /** A checkpoint is on disk. */
    public void published(long checkpoint) {
        byNumber.values().forEach(kept -> kept.published(checkpoint));
    }

    /** Whether a derived stream has many segments behind the newest checkpoint, which are merged and sketched when there is another. */
    public boolean isCheckpointDue() {
        return byNumber.values().stream().anyMatch(kept -> kept.unsettled() >= MOST_UNSETTLED);
    }

    /**
     * Does what is to be done now and then: writes what waits for long or is much, drops what is old, merges what is small.
     *
     * @throws MillraceException what one of the streams failed with, after all were seen to
     */
    public void maintain() {
        List<MillraceException> failures = new ArrayList<>();
        for (KeptStream kept : byNumber.values()) {
            try {
                kept.maintain(clock.epochMicros(), () -> cutNumber);
            } catch (MillraceException e) {
                failures.add(e);
            }
        }
        if (!failures.isEmpty()) {
            throw failures.get(0);
        }
    }

    /** Lets go of all rows that wait; the log has them. */
    @Override
    public void close() {
        List<AutoCloseable> stores = new ArrayList<>();
        byNumber.values().forEach(kept -> stores.add(kept.store));
        byName.clear();
        byNumber.clear();
        Closing.all(stores);
    }
}

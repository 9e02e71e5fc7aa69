package dev.millrace.connectors.directory;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.connector.CheckpointedSink;
import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.PreparedRows;
import dev.millrace.connector.Sink;
import dev.millrace.connector.SinkContext;
import dev.millrace.connector.SinkHome;
import dev.millrace.connector.SinkStatus;
import dev.millrace.connectors.input.FileErrors;
import dev.millrace.connectors.s3.LocalCopies;
import dev.millrace.connectors.s3.ObjectName;
import dev.millrace.connectors.s3.ObjectStore;
import dev.millrace.connectors.s3.StoreOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Objects of a store, each row in one of them once: those of files that are complete at the cut of a checkpoint are shown when it is on disk. Until then, and while the store is
 * away, the files are in the sink's own directory.
 *
 * <pre>
 *   write --> files --prepare--> [ files that a checkpoint is to have ] --publish--> {@link Uploads} --> objects
 * </pre>
 */
public final class ObjectSink implements CheckpointedSink {
    private static final String LIMIT = "outbox.limit_mb";
    private static final long DEFAULT_LIMIT_MB = 1_024;
    private static final long MOST_LIMIT_MB = 1L << 30;
    private static final int MOST_FILES = 10_000; // that wait: a checkpoint names them all

    private record Cut(long checkpoint, int files, long rows) {}

    private final ObjectName target;
    private final StoreOptions store;
    private final Path directory;
    private final PartName names;
    private final BufferAllocator allocator;
    private final DirectoryFiles files;
    private final PlacedRows rows;
    private final Uploads uploads;
    private final long mostBytes;
    private final Deque<Cut> cuts = new ArrayDeque<>(); // of which no file is to be uploaded yet
    private volatile long written; // rows; by the sink's thread, read by who asks
    private volatile long filesBytes; // of those that are not to be uploaded yet; likewise
    private volatile boolean full; // written with the lock, read by those who make rows
    private volatile Runnable onRoom = () -> {}; // set once, before rows
    private boolean closed;

    private ObjectSink(
            SinkContext context,
            ObjectName target,
            StoreOptions store,
            Path directory,
            String tag,
            PartitionColumns partitions,
            PartFormat format,
            Options options) {
        this.target = target;
        this.store = store;
        this.directory = directory;
        this.mostBytes = options.integer(LIMIT, DEFAULT_LIMIT_MB, 1, MOST_LIMIT_MB) << 20;
        DirectoryFiles.Rolling rolling = DirectorySink.rolling(options);
        this.names = new PartName(tag, format.extension());
        this.allocator = context.allocator().newChildAllocator("objects of " + context.name(), 0, Long.MAX_VALUE);
        this.rows = new PlacedRows(partitions, allocator);
        this.files = new DirectoryFiles(directory, true, names, format, rolling, context.clock());
        this.uploads = new Uploads(context.name(), store, target, names, context.clock(), this::shown);
    }

    /**
     * Makes one; nothing is written yet.
     *
     * @param target what keys begin with, with a "/" at its end or empty
     * @param format closed with the sink, but not if this fails
     * @param exactlyOnce else objects are shown when their files are complete
     */
    public static Sink open(
            SinkContext context,
            ObjectName target,
            StoreOptions store,
            PartitionColumns partitions,
            PartFormat format,
            boolean exactlyOnce,
            Options options) {
        if (exactlyOnce) {
            SinkHome home = context.requireHome("delivery = 'exactly_once'");
            return new ObjectSink(
                    context,
                    target,
                    store,
                    home.directory(),
                    home.database() + "-" + home.number(),
                    partitions,
                    format,
                    options);
        }
        String tag = UUID.randomUUID().toString().substring(0, 8).toLowerCase(Locale.ROOT);
        Path own = temporary();
        try {
            return new AtOnce(new ObjectSink(context, target, store, own, tag, partitions, format, options));
        } catch (RuntimeException | Error e) {
            LocalCopies.remove(own);
            throw e;
        }
    }

    private static Path temporary() {
        try {
            return Files.createTempDirectory("millrace-s3");
        } catch (IOException e) {
            throw FileErrors.writing(Path.of(System.getProperty("java.io.tmpdir")), e);
        }
    }

    /** Descriptions of the options that are read here and not by {@link DirectorySink}. */
    public static List<OptionDescription> options() {
        return List.of(new OptionDescription(
                LIMIT,
                Long.toString(DEFAULT_LIMIT_MB),
                "s3: MB of files that wait on disk to be uploaded, beyond which the query waits"));
    }

    @Override
    public void check() {
        try (ObjectStore asked = new ObjectStore(store)) {
            asked.check(target);
        }
    }

    @Override
    public void whenRoom(Runnable tell) {
        onRoom = tell;
    }

    @Override
    public void recover(Optional<PreparedRows> from) {
        files.recover(
                from.map(prepared -> PartEntry.Token.of(prepared.token())).orElse(new PartEntry.Token(0, List.of())));
        removeOrphans();
        List<PartEntry> left = files.take(files.complete()).stream()
                .filter(entry -> Files.exists(files.hidden(entry))) // any other was shown
                .toList();
        uploads.add(waiting(left, 0));
        noteRoom();
        uploads.start();
    }

    /** What is kept of uploads whose files are gone. */
    private void removeOrphans() {
        if (!Files.isDirectory(directory)) {
            return;
        }
        try (Stream<Path> all = Files.list(directory)) {
            for (Path kept : all.toList()) {
                String name = String.valueOf(kept.getFileName());
                int end = name.lastIndexOf(UploadRecord.EXTENSION);
                if (end > 0 && !Files.exists(kept.resolveSibling(name.substring(0, end)))) {
                    Files.deleteIfExists(kept);
                }
            }
        } catch (IOException e) {
            throw FileErrors.reading(directory, e);
        }
    }

    /** @param shownRows how many rows the sink has shown when the last of these is */
    private List<Uploads.Waiting> waiting(List<PartEntry> entries, long shownRows) {
        List<Uploads.Waiting> all = new ArrayList<>();
        long before = uploads.state().rows();
        for (PartEntry entry : entries) {
            String place = entry.place().isEmpty() ? "" : entry.place() + "/";
            boolean isLast = all.size() == entries.size() - 1;
            all.add(new Uploads.Waiting(
                    entry,
                    files.hidden(entry),
                    target.below(place + names.shown(entry.number())),
                    isLast ? shownRows : before));
        }
        return all;
    }

    @Override
    public void write(Batch batch) {
        rows.write(batch, files);
        written += batch.rowCount();
    }

    @Override
    public void commit(long epoch) {
        files.roll();
        noteRoom();
        uploads.requireNoFailure();
    }

    private void noteRoom() {
        filesBytes = files.bytes();
        synchronized (this) {
            full |= isBeyond(1);
        }
    }

    /** Whether there is more than a part of what there may be. */
    private boolean isBeyond(int parts) {
        return filesBytes + uploads.leftBytes() > mostBytes / parts
                || uploads.left().size() > MOST_FILES / parts;
    }

    private void shown() {
        boolean hasRoom;
        synchronized (this) {
            hasRoom = full && !isBeyond(2);
            full &= !hasRoom;
        }
        if (hasRoom) {
            onRoom.run();
        }
    }

    @Override
    public byte[] prepare(long checkpoint) {
        PartEntry.Token fresh = files.prepare();
        cuts.add(new Cut(checkpoint, files.complete(), written));
        noteRoom();
        List<PartEntry> all = new ArrayList<>(uploads.left());
        all.addAll(fresh.entries());
        return new PartEntry.Token(fresh.lastNumber(), all).bytes();
    }

    @Override
    public void publish(long checkpoint) {
        int count = 0;
        long shownRows = 0;
        while (!cuts.isEmpty() && cuts.element().checkpoint() <= checkpoint) {
            Cut cut = cuts.remove();
            count = cut.files();
            shownRows = cut.rows();
        }
        upload(count, shownRows);
        int gone = count;
        List<Cut> left = cuts.stream()
                .map(cut -> new Cut(cut.checkpoint(), cut.files() - gone, cut.rows()))
                .toList();
        cuts.clear();
        cuts.addAll(left);
        uploads.requireNoFailure();
    }

    private void upload(int count, long shownRows) {
        uploads.add(waiting(files.take(count), shownRows));
        noteRoom();
    }

    @Override
    public boolean isFull() {
        return full;
    }

    @Override
    public Optional<SinkStatus> status() {
        Uploads.State state = uploads.state();
        Optional<String> waitsFor = !state.waitsForStore()
                ? Optional.empty()
                : Optional.of(
                        full
                                ? target + ", with " + mostBytes + " bytes of files, as many as may wait"
                                : target.toString());
        return Optional.of(new SinkStatus(
                target.toString(),
                state.rows(),
                Math.max(0, written - state.rows()),
                state.silentMicros(),
                state.lastError(),
                waitsFor));
    }

    /** What is not shown is when the sink is opened again. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            Closing.all(List.of(uploads, files, rows, allocator));
        }
    }

    /** The same where nothing outlives the process: files are uploaded when they are complete, and all when it is closed. */
    private static final class AtOnce implements Sink {
        private static final long PATIENCE_MILLIS = 300_000;

        private final ObjectSink sink;
        private boolean isWhole = true; // no row since the last end of an epoch
        private boolean isStarted;
        private boolean closed;

        AtOnce(ObjectSink sink) {
            this.sink = sink;
        }

        @Override
        public void check() {
            sink.check();
        }

        @Override
        public void write(Batch batch) {
            isWhole = false;
            sink.write(batch);
        }

        @Override
        public void commit(long epoch) {
            sink.files.rollByTime();
            isWhole = true;
            show();
        }

        private void show() {
            if (!isStarted) {
                isStarted = true;
                sink.uploads.start();
            }
            sink.upload(sink.files.complete(), sink.written);
            sink.uploads.awaitAll(PATIENCE_MILLIS);
        }

        @Override
        public Optional<SinkStatus> status() {
            return sink.status();
        }

        /** Of an epoch that was not committed nothing is shown, nor what is in one file with it. */
        @Override
        public void close() {
            if (closed) {
                return;
            }
            closed = true;
            List<AutoCloseable> all = new ArrayList<>();
            all.add(() -> {
                if (isWhole) {
                    sink.files.finishAll();
                    show();
                } else {
                    sink.files.discard();
                }
            });
            all.add(sink);
            all.add(() -> LocalCopies.remove(sink.directory));
            Closing.all(all);
        }
    }
}

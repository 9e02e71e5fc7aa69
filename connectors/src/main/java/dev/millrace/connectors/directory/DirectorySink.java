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
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Files in a directory, each row in one of them once: those that are complete at the cut of a checkpoint have their names when it is on disk. Without a data directory they
 * have them as soon as they are complete.
 */
public final class DirectorySink implements CheckpointedSink {
    private static final long DEFAULT_ROLL_MB = 128;
    private static final long MOST_ROLL_MB = 1 << 20;

    private record Cut(long checkpoint, int files, long rows) {}

    private final Path directory;
    private final BufferAllocator allocator;
    private final DirectoryFiles files;
    private final PlacedRows rows;
    private final Deque<Cut> cuts = new ArrayDeque<>(); // whose files are not shown
    private volatile long written; // rows; by the sink's thread, read by who asks
    private volatile long shown; // likewise
    private boolean closed;

    private DirectorySink(
            SinkContext context,
            Path directory,
            String tag,
            PartitionColumns partitions,
            PartFormat format,
            Options options) {
        this.directory = directory;
        DirectoryFiles.Rolling rolling = rolling(options);
        this.allocator = context.allocator().newChildAllocator("files of " + context.name(), 0, Long.MAX_VALUE);
        this.rows = new PlacedRows(partitions, allocator);
        this.files = new DirectoryFiles(
                directory, false, new PartName(tag, format.extension()), format, rolling, context.clock());
    }

    static DirectoryFiles.Rolling rolling(Options options) {
        long bytes = options.integer("roll.size_mb", DEFAULT_ROLL_MB, 1, MOST_ROLL_MB) << 20;
        long micros = options.durationMicros("roll.interval", 0);
        return new DirectoryFiles.Rolling(bytes, TimeUnit.MICROSECONDS.toNanos(micros));
    }

    /**
     * Makes one; nothing is written yet.
     *
     * @param format closed with the sink, but not if this fails
     * @param exactlyOnce else files are shown when they are complete
     */
    public static Sink open(
            SinkContext context,
            Path directory,
            PartitionColumns partitions,
            PartFormat format,
            boolean exactlyOnce,
            Options options) {
        if (exactlyOnce) {
            SinkHome home = context.requireHome("delivery = 'exactly_once'");
            return new DirectorySink(
                    context, directory, home.database() + "-" + home.number(), partitions, format, options);
        }
        String tag = UUID.randomUUID().toString().substring(0, 8).toLowerCase(Locale.ROOT);
        return new AtOnce(new DirectorySink(context, directory, tag, partitions, format, options));
    }

    /** Descriptions of the options that are read here. */
    public static List<OptionDescription> options() {
        return List.of(
                new OptionDescription(
                        "roll.size_mb",
                        Long.toString(DEFAULT_ROLL_MB),
                        "directory: MB beyond which a file is complete, at the end of an epoch"),
                new OptionDescription(
                        "roll.interval",
                        "each checkpoint",
                        "directory: age at which a file is complete, at a checkpoint; of Parquet and Arrow each is then"),
                new OptionDescription(
                        "partition_by",
                        "",
                        "directory: columns between commas, by whose values files are in directories named column=value"));
    }

    @Override
    public void recover(Optional<PreparedRows> from) {
        files.recover(
                from.map(prepared -> PartEntry.Token.of(prepared.token())).orElse(new PartEntry.Token(0, List.of())));
        files.show();
    }

    @Override
    public void write(Batch batch) {
        rows.write(batch, files);
        written += batch.rowCount();
    }

    @Override
    public void commit(long epoch) {
        files.roll();
    }

    @Override
    public byte[] prepare(long checkpoint) {
        byte[] token = files.prepare().bytes();
        cuts.add(new Cut(checkpoint, files.complete(), written));
        return token;
    }

    @Override
    public void publish(long checkpoint) {
        int show = 0;
        while (!cuts.isEmpty() && cuts.element().checkpoint() <= checkpoint) {
            Cut cut = cuts.remove();
            show = cut.files();
            shown = cut.rows();
        }
        files.show(show);
        int gone = show;
        List<Cut> left = cuts.stream()
                .map(cut -> new Cut(cut.checkpoint(), cut.files() - gone, cut.rows()))
                .toList();
        cuts.clear();
        cuts.addAll(left);
    }

    @Override
    public Optional<SinkStatus> status() {
        return Optional.of(
                new SinkStatus(directory.toString(), shown, written - shown, 0, Optional.empty(), Optional.empty()));
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            Closing.all(List.of(files, rows, allocator));
        }
    }

    /** The same where nothing outlives the process: files are shown when they are complete, and all when it is closed. */
    private static final class AtOnce implements Sink {
        private final DirectorySink sink;
        private boolean isWhole = true; // no row since the last end of an epoch
        private boolean closed;

        AtOnce(DirectorySink sink) {
            this.sink = sink;
        }

        @Override
        public void write(Batch batch) {
            isWhole = false;
            sink.write(batch);
        }

        @Override
        public void commit(long epoch) {
            sink.files.rollByTime();
            sink.files.show();
            sink.shown = sink.written;
            isWhole = true;
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
            try (sink) {
                if (isWhole) {
                    sink.files.finishAll();
                    sink.files.show();
                } else {
                    sink.files.discard();
                }
            }
        }
    }
}

package dev.millrace.edge.stream;

import dev.millrace.connector.Options;
import dev.millrace.edge.config.EdgeConfig.StreamConfig;
import dev.millrace.edge.config.SketchSettings;
import dev.millrace.edge.input.Input;
import dev.millrace.edge.input.LineMemory;
import dev.millrace.edge.queue.EdgeQueue;
import dev.millrace.edge.queue.TakenCounts;
import dev.millrace.error.MillraceException;
import dev.millrace.format.DecodedRows;
import dev.millrace.format.DecoderContext;
import dev.millrace.format.RecordDecoder;
import dev.millrace.format.RecordFormats;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.segment.SketchHeader.Announcement;
import dev.millrace.sketch.stream.EncodedSegment;
import dev.millrace.sketch.stream.EncoderOptions;
import dev.millrace.sketch.stream.Observations;
import dev.millrace.sketch.stream.StreamEncoder;
import dev.millrace.time.Clock;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;

/**
 * One stream of a device: its input, its encoders, and what of it waits for the next commit. Not thread-safe.
 *
 * <pre>
 *   step:   input -> lines -> columns -> the encoder of each row's key -> closed segments
 *   commit: closed segments, the rows of open ones, the place of the input -> queue, all at once
 * </pre>
 *
 * <p>When it is made it goes on where the last commit was. A segment also closes when its first row came as long ago as a segment is long, so
 * that a stream that falls silent is sent. And when open segments of all keys have more memory than they may, the larger ones close.
 *
 * <p>Long because what is open, closed and committed is one state.
 */
public final class EdgeStream implements DecoderContext, AutoCloseable {
    private static final int STEP_BYTES = 256 << 10;
    private static final long MOST_PENDING_BYTES = 1 << 20;
    private static final int SHOWN = 300;
    private static final String ONE_KEY = "";

    private final StreamConfig config;
    private final EdgeQueue queue;
    private final Input input;
    private final Clock clock;
    private final BufferAllocator allocator;
    private final LineMemory lines;
    private final RecordDecoder decoder;
    private final ColumnCopy[] columns; // by column; that of the time, too
    private final Map<String, KeyEncoder> encoders =
            new LinkedHashMap<>(16, .75f, true); // the key longest silent first
    private final Set<String> gone = new HashSet<>(); // keys without an encoder, of which the queue may have rows
    private final List<Closed> closed = new ArrayList<>();
    private final List<Long> unpinned = new ArrayList<>();
    private final long mostOpenBytes;
    private long openBytes; // memory of all encoders' rows
    private SketchSettings settings;
    private long settingsNumber;
    private SketchSchema schema;
    private EncoderOptions options;
    private long closedBytes;
    private long rows;
    private long skipped;
    private long unneeded;
    private final Refusals refusals;
    private final StreamRow values;
    private NeededRows needed;
    private EdgeWindows windows;
    private long sampled;

    /** A segment that is not in the queue yet, with its version where it says something of that. */
    private record Closed(EncodedSegment segment, byte[] announcement) {}

    /**
     * What became of rows.
     *
     * @param rows taken, ever: what was taken after the last commit of an agent that was killed is taken again, and counted once
     * @param skipped left out by sampling, or as the stream is switched off, since this was made
     * @param rejected that were no rows, ever
     * @param unneeded that stayed here, as no query needs them, ever
     * @param lastRejected why the last of the rejected was no row
     */
    public record Counts(long rows, long skipped, long rejected, long unneeded, Optional<String> lastRejected) {}

    /**
     * Goes on where the queue says.
     *
     * @param input from the place that the queue has; is closed with this
     * @param formats that lines may have
     * @param options of the format; those that nobody has read are errors
     * @param mostOpenBytes of memory that rows of open segments have, about; a segment that is just being filled more
     */
    public EdgeStream(
            StreamConfig config,
            EdgeQueue queue,
            Input input,
            RecordFormats formats,
            Options options,
            Clock clock,
            BufferAllocator allocator,
            long mostOpenBytes) {
        this.config = config;
        this.mostOpenBytes = mostOpenBytes;
        this.queue = queue;
        this.columns = ColumnCopy.of(config);
        this.values = new StreamRow(columns);
        this.input = input;
        this.clock = clock;
        this.allocator = allocator;
        Optional<SketchSettings> steered = steered();
        this.settings = steered.orElse(config.settings());
        this.settingsNumber = steered.isPresent() ? queue.settingsNumber(config.name()) : 0;
        this.schema = SketchSchemas.schema(config, settings);
        this.options = SketchSchemas.options(settings);
        this.needed = new NeededRows(config, settings, values);
        this.windows = new EdgeWindows(config, settings, values);
        TakenCounts before = queue.counts(config.name());
        this.refusals = new Refusals(before); // the decoder may say something at once
        this.decoder = formats.named(config.input().format())
                .create(config.columns(), options)
                .decoder(IntStream.range(0, config.columns().size()).boxed().toList(), this);
        options.rejectUnread();
        this.lines = new LineMemory(allocator);
        this.rows = before.rows();
        this.unneeded = before.unneeded();
        restore();
    }

    /** What the server has set, if it still fits what is configured; else it is told that nothing is, and says it again. */
    private Optional<SketchSettings> steered() {
        try {
            SketchSettings steered = SettingsText.read(queue.settings(config.name()))
                    .map(config.settings()::with)
                    .orElse(config.settings());
            SketchSchemas.schema(config, steered);
            NeededRows.require(config, steered);
            new EdgeWindows(config, steered, values);
            return Optional.of(steered);
        } catch (MillraceException e) { // the reason is told to the server when it says it again
            return Optional.empty();
        }
    }

    /** The open segments of the last commit go on. */
    private void restore() {
        queue.opens(config.name()).forEach((key, state) -> {
            KeyEncoder made = new KeyEncoder(encoder(state));
            encoders.put(key, made);
            made.since(clock.nanoTime());
            if (!made.encoder().schema().equals(schema)) {
                made.encoder().alter(schema);
                made.changed();
            }
            SketchSchemas.useBins(made.encoder(), settings.bins());
        });
        openBytes = memoryBytes();
        windows.restore(queue.groups(config.name()), clock.nanoTime());
    }

    private long memoryBytes() {
        return encoders.values().stream()
                .mapToLong(each -> each.encoder().memoryBytes())
                .sum();
    }

    private StreamEncoder encoder(byte[] state) {
        StreamEncoder[] made = new StreamEncoder[1];
        List<EncodedSegment> early = new ArrayList<>(); // closed while rows come again
        made[0] = StreamEncoder.restore(state, options, segment -> {
            if (made[0] == null) {
                early.add(segment);
            } else {
                closed(made[0], segment);
            }
        });
        early.forEach(segment -> closed(made[0], segment));
        queue.pin(config.name(), made[0].incarnation());
        return made[0];
    }

    private StreamEncoder fresh() {
        StreamEncoder[] made = new StreamEncoder[1];
        made[0] = new StreamEncoder(schema, options, segment -> closed(made[0], segment));
        SketchSchemas.useBins(made[0], settings.bins());
        queue.pin(config.name(), made[0].incarnation());
        return made[0];
    }

    private void closed(StreamEncoder by, EncodedSegment segment) {
        byte[] announcement = segment.announces() ? by.announcement().orElseThrow() : new byte[0];
        closed.add(new Closed(segment, announcement));
        closedBytes += segment.bytes().length;
    }

    public String name() {
        return config.name();
    }

    // ---- rows
    // -------------------------------------------------------------------------------------------------------

    /** Takes some of what the input has; waits for nothing. @return whether there was anything */
    public boolean step() {
        if (closedBytes > MOST_PENDING_BYTES) {
            return false; // the disk takes nothing for now
        }
        lines.clear();
        boolean any = false;
        while (lines.bytes() < STEP_BYTES && input.poll(lines)) {
            any = true;
        }
        if (lines.lines() == 0) {
            return any;
        }
        Optional<DecodedRows> decoded = decoder.decode(lines.finish());
        if (decoded.isPresent()) {
            try (DecodedRows made = decoded.get()) {
                take(made);
            }
        }
        return true;
    }

    private void take(DecodedRows made) {
        if (!settings.enabled()) {
            skipped += made.rows();
            return;
        }
        for (int column = 0; column < columns.length; column++) {
            columns[column].of(made.columns().get(column));
        }
        long arrival = clock.epochMicros();
        long nanos = clock.nanoTime();
        for (int row = 0; row < made.rows(); row++) {
            if (settings.sample() > 1 && sampled++ % settings.sample() != 0) {
                skipped++;
                continue;
            }
            long time = arrival;
            if (config.time().isPresent()) {
                ColumnCopy times = columns[config.time().get()];
                if (times.isNull(row)) {
                    refusals.add("", "a row without a time", "");
                    continue;
                }
                time = times.whole(row);
            }
            values.arrived(time);
            windows.take(row, time, nanos);
            if (needed.goes(row, time)) {
                take(row, time, nanos);
            } else {
                unneeded++;
            }
        }
    }

    private void take(int row, long time, long nanos) {
        KeyEncoder of = of(config.key().isPresent() ? keyOf(columns[config.key().get()], row) : ONE_KEY);
        int before = of.encoder().waitingRows();
        long bytesBefore = of.encoder().memoryBytes();
        try {
            Observations to = of.encoder().row(time);
            for (int column = 0; column < columns.length; column++) {
                if (needed.goes(column) && !config.time().equals(Optional.of(column))) {
                    columns[column].copy(row, to);
                }
            }
            if (windows.any()) {
                to.text(of.encoder().schema().size() - 1, windows.mark());
            }
            rows++;
        } catch (MillraceException e) { // of texts that no segment holds: the row was taken back
            refusals.add("", String.valueOf(e.getMessage()), "");
        }
        of.took(before, nanos);
        openBytes += of.encoder().memoryBytes() - bytesBefore;
        if (openBytes > mostOpenBytes) {
            makeRoom();
        }
    }

    /** Closes those that have as much as the mean of all, so that this is rare. */
    private void makeRoom() {
        long mean = memoryBytes() / encoders.size();
        for (KeyEncoder each : encoders.values()) {
            if (each.encoder().memoryBytes() >= mean) {
                each.encoder().release();
                each.changed();
            }
        }
        openBytes = memoryBytes();
    }

    private static String keyOf(ColumnCopy column, int row) {
        return column.isNull(row) ? ONE_KEY : column.text(row);
    }

    private KeyEncoder of(String key) {
        KeyEncoder known = encoders.get(key);
        if (known == null) {
            if (encoders.size() >= config.mostKeys()) {
                Map.Entry<String, KeyEncoder> silent =
                        encoders.entrySet().iterator().next();
                openBytes -= silent.getValue().encoder().memoryBytes();
                silent.getValue().encoder().flush();
                unpinned.add(silent.getValue().encoder().incarnation());
                gone.add(silent.getKey());
                encoders.remove(silent.getKey());
            }
            known = new KeyEncoder(fresh());
            openBytes += known.encoder().memoryBytes();
            encoders.put(key, known);
            gone.remove(key);
            known.changed();
        }
        return known;
    }

    @Override
    public void reject(int record, String column, MillraceException reason) {
        refusals.add(column, String.valueOf(reason.getMessage()), lines.text(record, SHOWN));
    }

    @Override
    public void note(String text) {
        refusals.note(text);
    }

    @Override
    public BufferAllocator allocator() {
        return allocator;
    }

    @Override
    public Clock clock() {
        return clock;
    }

    @Override
    public void wakeUp() {}

    // ---- the queue
    // --------------------------------------------------------------------------------------------------

    /**
     * Has the queue take all that came since the last time.
     *
     * @throws MillraceException 53100 or 58030 if the disk does not take it: it is tried again with the next commit
     */
    public void commit() {
        commit(false);
    }

    /** @param all whether no window stays open */
    private void commit(boolean all) {
        closeOld();
        EdgeQueue.Commit commit = queue.begin(config.name());
        if (all) { // partials before what brings later times
            windows.addAllTo(commit);
        } else {
            windows.addTo(commit, clock.nanoTime());
        }
        for (Closed each : closed) {
            EncodedSegment segment = each.segment();
            if (each.announcement().length > 0) {
                commit.version(segment.incarnation(), segment.version(), each.announcement());
            }
            int needs = segment.announcement() == Announcement.COMPLETE
                    ? 0
                    : segment.announcement() == Announcement.CHANGE ? segment.version() - 1 : segment.version();
            long[] times = ordered(segment);
            commit.segment(
                    segment.rows(),
                    times[0],
                    times[1],
                    segment.incarnation(),
                    needs,
                    segment.announces() ? segment.version() : 0,
                    segment.bytes());
        }
        refusals.addTo(commit);
        gone.forEach(key -> commit.open(key, new byte[0]));
        encoders.forEach((key, each) -> {
            if (each.isChanged()) {
                StreamEncoder encoder = each.encoder();
                commit.open(key, encoder.waitingRows() == 0 ? new byte[0] : encoder.state());
            }
        });
        input.place().ifPresent(commit::place);
        Counts counts = counts();
        commit.counts(new TakenCounts(
                counts.rows(),
                counts.rejected(),
                counts.unneeded(),
                counts.lastRejected().orElse("")));
        commit.write();
        closed.clear();
        windows.committed();
        refusals.committed();
        closedBytes = 0;
        gone.clear();
        encoders.values().forEach(KeyEncoder::committed);
        unpinned.forEach(incarnation -> queue.unpin(config.name(), incarnation));
        unpinned.clear();
        input.committed();
    }

    private static long[] ordered(EncodedSegment segment) {
        return new long[] {
            Math.min(segment.firstTicks(), segment.lastTicks()), Math.max(segment.firstTicks(), segment.lastTicks())
        };
    }

    private void closeOld() {
        long oldest = clock.nanoTime() - settings.segmentMicros() * 1000;
        for (KeyEncoder each : encoders.values()) {
            if (each.encoder().waitingRows() > 0 && each.sinceNanos() - oldest <= 0) {
                each.encoder().flush();
                each.changed();
            }
        }
    }

    /** Whether it should be committed before its time: enough is closed, or somebody waits for it. */
    public boolean isFull() {
        return closedBytes > MOST_PENDING_BYTES / 4 || windows.isFull() || input.wantsCommit();
    }

    /** Closes all open segments and windows, and commits. */
    public void flush() {
        for (KeyEncoder each : encoders.values()) {
            if (each.encoder().waitingRows() > 0) {
                each.encoder().flush();
                each.changed(); // so that the queue has its rows as a segment alone
            }
        }
        commit(true);
    }

    /**
     * Has the stream sketched otherwise, from the next row on: open segments close as they are.
     *
     * @param number of the setting, which the server counts
     * @param changes over what is configured
     * @throws MillraceException if one of them is wrong: then nothing has changed
     */
    public void set(long number, Map<String, String> changes) {
        SketchSettings wanted = config.settings().with(changes);
        SketchSchema newSchema = SketchSchemas.schema(config, wanted); // may be refused
        NeededRows newNeeded = new NeededRows(config, wanted, values); // likewise
        EdgeWindows newWindows = new EdgeWindows(config, wanted, values); // likewise
        EncoderOptions newOptions = SketchSchemas.options(wanted);
        flush();
        queue.begin(config.name())
                .settings(number, SettingsText.write(new TreeMap<>(changes)))
                .write();
        settings = wanted;
        settingsNumber = number;
        options = newOptions;
        schema = newSchema;
        needed = newNeeded;
        windows = newWindows;
        windows.restore(Map.of(), clock.nanoTime());
        for (KeyEncoder each : encoders.values()) {
            queue.unpin(config.name(), each.encoder().incarnation());
            each.use(encoder(each.encoder().state()));
            each.encoder().alter(schema);
            SketchSchemas.useBins(each.encoder(), settings.bins());
        }
        openBytes = memoryBytes();
    }

    public SketchSettings settings() {
        return settings;
    }

    /** The number of what the server has set and is in effect; 0 for nothing. */
    public long settingsNumber() {
        return settingsNumber;
    }

    public boolean isFinished() {
        return input.isFinished();
    }

    public Optional<String> problem() {
        return input.problem();
    }

    public Counts counts() {
        return new Counts(rows, skipped, refusals.all() + input.tooLong(), unneeded, refusals.last());
    }

    /** Rows that are not in a closed segment. */
    public long openRows() {
        return encoders.values().stream()
                .mapToLong(each -> each.encoder().waitingRows())
                .sum();
    }

    @Override
    public void close() {
        input.close();
        decoder.close();
        lines.close();
    }
}

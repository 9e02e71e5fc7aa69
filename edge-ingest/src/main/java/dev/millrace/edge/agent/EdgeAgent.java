package dev.millrace.edge.agent;

import dev.millrace.connector.Options;
import dev.millrace.connectors.csv.CsvRecordFormatFactory;
import dev.millrace.connectors.json.JsonRecordFormatFactory;
import dev.millrace.connectors.senml.SenmlRecordFormatFactory;
import dev.millrace.edge.config.EdgeConfig;
import dev.millrace.edge.config.EdgeConfig.StreamConfig;
import dev.millrace.edge.input.EdgeInputs;
import dev.millrace.edge.input.Input;
import dev.millrace.edge.link.DeviceWire;
import dev.millrace.edge.link.EdgeLink;
import dev.millrace.edge.queue.EdgeQueue;
import dev.millrace.edge.queue.QueueOptions;
import dev.millrace.edge.stream.Coarsening;
import dev.millrace.edge.stream.EdgeStream;
import dev.millrace.error.MillraceException;
import dev.millrace.format.RecordFormats;
import dev.millrace.storage.disk.Disk;
import dev.millrace.time.Clock;
import java.io.InputStream;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Consumer;
import org.apache.arrow.memory.BufferAllocator;

/**
 * A device. {@link #step} does what can be done now: takes rows, commits, sends. Who closes it has what was read on disk, and goes on from there later; who
 * does not loses no more than a crash would. Not thread-safe.
 */
public final class EdgeAgent implements AutoCloseable {
    /** What it calls itself, for users of the server. */
    public static final String NAME = "millrace-edge 1";

    private static final RecordFormats FORMATS = new RecordFormats(
            List.of(new JsonRecordFormatFactory(), new CsvRecordFormatFactory(), new SenmlRecordFormatFactory()));
    private static final long LEAST_PAUSE_NANOS = 1_000_000_000L;
    private static final long MOST_PAUSE_NANOS = 30_000_000_000L;

    private final EdgeQueue queue;
    private final List<EdgeStream> streams = new ArrayList<>();
    private final Optional<EdgeLink> link;
    private final Clock clock;
    private final Consumer<String> log;
    private final long commitNanos;
    private long commitAt;
    private long pauseNanos = LEAST_PAUSE_NANOS;
    private long pausedUntil;
    private boolean paused; // the disk takes nothing
    private boolean finishing; // nothing more is taken
    private boolean flushed; // all inputs have ended, and their segments are closed
    private String said = "";

    /**
     * What of the machine an agent uses.
     *
     * @param heapBytes of the heap, that what it keeps may have: a third of it for rows of open segments, the rest for finding what the queue has
     * @param log takes a line when something is news
     */
    public record Machine(
            Disk disk,
            Clock clock,
            BufferAllocator allocator,
            InputStream stdin,
            Random random,
            long heapBytes,
            Consumer<String> log) {
        /** The one that this runs on, of whose heap it may have three eighths: what is open is copied to be committed, and the rest is work. */
        public static Machine of(Disk disk, BufferAllocator allocator, InputStream stdin, Consumer<String> log) {
            return new Machine(
                    disk,
                    Clock.system(),
                    allocator,
                    stdin,
                    new SecureRandom(),
                    Runtime.getRuntime().maxMemory() / 8 * 3,
                    log);
        }

        private int records() {
            long records = heapBytes / 3 * 2 / QueueOptions.RECORD_BYTES;
            return (int) Math.max(QueueOptions.LEAST_RECORDS, Math.min(records, Integer.MAX_VALUE));
        }
    }

    /**
     * Goes on from what the disk has.
     *
     * @param dialer how the server is reached; of no use without one in the configuration
     * @throws MillraceException naming what is wrong with an option, or 58030 if the disk is
     */
    public EdgeAgent(EdgeConfig config, Machine machine, DeviceWire.Dialer dialer) {
        this.clock = machine.clock();
        this.log = machine.log();
        this.commitNanos = config.commitMicros() * 1000;
        this.commitAt = clock.nanoTime() + commitNanos;
        EdgeConfig.Queue size = config.queue();
        queue = EdgeQueue.open(
                machine.disk(),
                new QueueOptions(
                        size.bytes(), machine.records(), size.whenFull(), size.coarsest(), machine.random()::nextLong),
                new Coarsening());
        try {
            for (StreamConfig stream : config.streams()) {
                streams.add(open(stream, config, machine));
            }
        } catch (RuntimeException e) {
            streams.forEach(EdgeStream::close);
            queue.close();
            throw e;
        }
        link = config.server()
                .map(server -> new EdgeLink(
                        NAME,
                        new EdgeLink.Credentials(config.device(), server.user(), server.token()),
                        queue,
                        streams,
                        dialer,
                        clock,
                        machine.random(),
                        config.statusMicros()));
    }

    private EdgeStream open(StreamConfig stream, EdgeConfig config, Machine machine) {
        Options options = new Options(stream.input().options());
        Input input = EdgeInputs.open(
                stream.input(), options, queue.place(stream.name()), clock, machine.stdin(), config.data());
        try {
            long openBytes = machine.heapBytes() / 3 / config.streams().size();
            return new EdgeStream(stream, queue, input, FORMATS, options, clock, machine.allocator(), openBytes);
        } catch (RuntimeException e) {
            input.close();
            throw e instanceof MillraceException error ? error.in("stream " + stream.name()) : e;
        }
    }

    /** Does what can be done now; false if there was nothing. */
    public boolean step() {
        long now = clock.nanoTime();
        if (paused && now - pausedUntil < 0) {
            return false;
        }
        try {
            boolean any = false;
            boolean full = false;
            for (EdgeStream stream : streams) {
                any |= !finishing && stream.step();
                full |= stream.isFull();
            }
            if (full || now - commitAt >= 0) {
                streams.forEach(EdgeStream::commit);
                commitAt = now + commitNanos;
            }
            if (!flushed && !any && (finishing || streams.stream().allMatch(EdgeStream::isFinished))) {
                streams.forEach(EdgeStream::flush);
                flushed = true;
                any = true;
            }
            if (link.isPresent()) {
                any |= link.get().step();
                say(link.get().health());
            }
            paused = false;
            pauseNanos = LEAST_PAUSE_NANOS;
            return any;
        } catch (MillraceException e) { // of the disk: what is not there is tried again
            say(String.valueOf(e.getMessage()));
            paused = true;
            pausedUntil = now + pauseNanos;
            pauseNanos = Math.min(MOST_PAUSE_NANOS, 2 * pauseNanos);
            return false;
        }
    }

    private void say(EdgeLink.Health health) {
        say(
                health.up()
                        ? health.problem().orElse("connected")
                        : health.problem().orElse(""));
    }

    private void say(String news) {
        if (!news.equals(said) && !news.isEmpty()) {
            said = news;
            log.accept(news);
        }
    }

    /** Takes nothing more from its inputs; what it has is sent. */
    public void finish() {
        finishing = true;
    }

    /** Whether nothing comes any more, and nothing waits to be sent. */
    public boolean isDone() {
        return flushed
                && (link.isEmpty()
                        || streams.stream()
                                .allMatch(stream -> queue.backlog(stream.name()).records() == 0));
    }

    public Optional<EdgeLink.Health> health() {
        return link.map(EdgeLink::health);
    }

    public List<EdgeStream> streams() {
        return List.copyOf(streams);
    }

    public EdgeQueue.Backlog backlog(String stream) {
        return queue.backlog(stream);
    }

    /** Has what was read on disk; segments stay open, for the one that goes on. */
    @Override
    public void close() {
        link.ifPresent(EdgeLink::close);
        try {
            streams.forEach(EdgeStream::commit);
        } catch (MillraceException e) {
            say(String.valueOf(e.getMessage()));
        }
        abandon();
    }

    /** Ends it as a crash would: what came after the last commit is not on disk. */
    public void abandon() {
        link.ifPresent(EdgeLink::close);
        streams.forEach(EdgeStream::close);
        queue.close();
    }
}

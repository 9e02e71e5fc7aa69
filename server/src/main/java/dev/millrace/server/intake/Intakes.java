package dev.millrace.server.intake;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.connector.MemoryChange;
import dev.millrace.connector.PushedSource;
import dev.millrace.connector.RejectedRecord;
import dev.millrace.connector.Source;
import dev.millrace.connector.SplitStatus;
import dev.millrace.engine.epoch.Accepted;
import dev.millrace.engine.relation.FedRelation;
import dev.millrace.engine.relation.OnError;
import dev.millrace.engine.runtime.Engine;
import dev.millrace.error.MillraceException;
import dev.millrace.server.journal.RowJournal;
import dev.millrace.server.log.EventLog;
import dev.millrace.time.Clock;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.ToLongFunction;

/**
 * The streams of a database that others push records to. {@link #add} and {@link #drop} are for the holder of the lock of definitions;
 * all else is safe on any thread.
 */
public final class Intakes implements AutoCloseable {
    private static final EventLog LOG = EventLog.named("intake");

    private final Engine engine;
    private final Clock clock;
    private final RowJournal journal;
    private final Definitions definitions;
    private final boolean hasThreads;
    private final String database;
    private final Map<String, Entry> entries = new ConcurrentSkipListMap<>();
    private volatile boolean begun; // written by who opens the database, and by close

    private record Entry(Intake intake, StreamMemory memory) {}

    /** What it needs of the definitions that are kept. */
    public interface Definitions {
        /** Whether the relation that has the rows of a number is not on disk yet. */
        boolean isUnkept(long number);

        /** The rows of a number are a relation's; 0 for none any more. */
        void hasRows(String relation, long number);
    }

    /** How a stream is with one peer, or all of them. */
    public record IntakeSplit(String stream, SplitStatus split) {}

    /** @param hasThreads whether the database has threads of its own; else streams receive nothing */
    public Intakes(Engine engine, Clock clock, RowJournal journal, Definitions definitions, boolean hasThreads) {
        this.engine = engine;
        this.clock = clock;
        this.journal = journal;
        this.definitions = definitions;
        this.hasThreads = hasThreads;
        OptionalLong identity = journal.identity();
        this.database = identity.isPresent()
                ? Long.toHexString(identity.getAsLong())
                : UUID.randomUUID().toString().replace("-", "").substring(0, 16);
    }

    /**
     * A stream that a source feeds, from now on, or from {@link #begin} on.
     *
     * @param number by which the journal knows its rows; 0 where nothing is kept
     * @param past what finite queries read of it
     * @param awaitsDisk whether peers hear of rows only when these are on disk
     * @throws MillraceException if the source cannot receive; then nothing was added
     */
    public void add(
            String name, PushedSource source, long number, Optional<Source> past, OnError onError, boolean awaitsDisk) {
        Schema schema = source.schema();
        FedRelation stream = engine.relations().addPushed(name, schema, number, past, onError);
        try {
            StreamMemory memory = StreamMemory.add(name, -number, engine, journal);
            definitions.hasRows(StreamMemory.tableOf(name), -number);
            IntakeContext context = new IntakeContext(
                    stream,
                    memory,
                    engine.allocator(),
                    clock,
                    engine.options().batchRows(),
                    database,
                    awaitsDisk && journal.identity().isPresent());
            Intake intake = new Intake(name, source, context, place(name, number, stream, memory), awaitsDisk);
            entries.put(name, new Entry(intake, memory));
            if (begun) {
                intake.receive();
                intake.start();
            }
        } catch (RuntimeException | Error e) {
            drop(name);
            engine.relations().drop(name);
            throw e;
        }
    }

    private Intake.Place place(String name, long number, FedRelation stream, StreamMemory memory) {
        return new Intake.Place() {
            @Override
            public boolean isDefined() {
                return !definitions.isUnkept(number);
            }

            @Override
            public boolean hasRoom() {
                try {
                    return engine.relations().writable(name).hasRoom();
                } catch (MillraceException e) {
                    return true; // the stream is going: accept() says it
                }
            }

            @Override
            public Accepted accept(Batch batch, MemoryChange change) {
                return memory.accept(name, batch, change);
            }

            @Override
            public void tellDurable(long entry, Runnable then) {
                journal.tellDurable(entry, then);
            }

            @Override
            public boolean isDurable(long entry) {
                return journal.isDurable(entry);
            }

            @Override
            public void report(RejectedRecord record) {
                stream.report(record);
            }
        };
    }

    /**
     * All is there that was kept: has the streams receive. What a source cannot get now it tries to get again and again.
     *
     * @param lastEpoch that brings a relation all that came again of it
     */
    public void begin(ToLongFunction<String> lastEpoch) {
        if (!hasThreads) {
            return;
        }
        begun = true;
        entries.forEach((name, entry) -> {
            entry.memory().restore(lastEpoch);
            try {
                entry.intake().receive();
            } catch (MillraceException e) {
                LOG.warning("receives nothing for now", "stream", name, "reason", String.valueOf(e.getMessage()));
            }
        });
        entries.values().forEach(entry -> entry.intake().start());
    }

    /** Ends the feeding of a stream that is gone, if it is one of these. */
    public void drop(String name) {
        Entry entry = entries.remove(name);
        if (entry != null) {
            entry.intake().drop();
            engine.relations().drop(StreamMemory.tableOf(name));
            definitions.hasRows(StreamMemory.tableOf(name), 0);
        }
    }

    /** How all streams are with their peers. */
    public List<IntakeSplit> splits() {
        List<IntakeSplit> all = new ArrayList<>();
        new TreeMap<>(entries)
                .forEach((name, entry) ->
                        entry.intake().splits().forEach(split -> all.add(new IntakeSplit(name, split))));
        return all;
    }

    /** Receives nothing any more. */
    @Override
    public void close() {
        begun = false;
        List<AutoCloseable> intakes = new ArrayList<>();
        entries.values().forEach(entry -> intakes.add(entry.intake()));
        Closing.all(intakes);
    }
}

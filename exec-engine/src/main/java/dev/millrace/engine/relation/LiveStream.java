package dev.millrace.engine.relation;

import dev.millrace.batch.Batch;
import dev.millrace.connector.ScanRequest;
import dev.millrace.connector.SourcePosition;
import dev.millrace.connector.SourceReader;
import dev.millrace.engine.checkpoint.Barrier;
import dev.millrace.engine.checkpoint.SavedSections;
import dev.millrace.engine.checkpoint.SectionOutput;
import dev.millrace.engine.epoch.EpochInput;
import dev.millrace.engine.intake.HeldItems;
import dev.millrace.engine.intake.QueryIntakes;
import dev.millrace.engine.task.EntryStage;
import dev.millrace.engine.task.MemoryScope;
import dev.millrace.engine.task.OutletStage;
import dev.millrace.engine.task.PipelineTask;
import dev.millrace.engine.task.Resources;
import dev.millrace.engine.task.SourceInput;
import dev.millrace.engine.task.TaskHost;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.scheduler.ScheduledTask;
import dev.millrace.scheduler.Workers;
import dev.millrace.time.Clock;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** A source that cannot be read twice: one task reads it from the start and passes its rows to all queries. */
final class LiveStream implements TaskHost, AutoCloseable {
    private volatile ReplayableStream stream; // as the name of an AppendedRelation
    private final Resources resources;
    private final MemoryScope memory;
    private final Fanout fanout;
    private final Interrupt interrupt = new Interrupt();
    private final List<SourceInput> inputs = new ArrayList<>();
    private final List<EpochInput> epochInputs = new ArrayList<>();
    private final PipelineTask task;
    private final ScheduledTask scheduled;

    /** @param saved where the positions of its readers are, if they are anywhere */
    LiveStream(ReplayableStream stream, Resources resources, Optional<SavedSections> saved) {
        this.stream = stream;
        this.resources = resources;
        this.fanout = new Fanout(resources.signal());
        this.memory = resources.memory().newScope(scopeOf(stream.name()));
        try {
            EntryStage entry = new EntryStage(stream.source().schema());
            OutletStage outlet = new OutletStage(fanout);
            entry.feed(outlet);
            List<Integer> all =
                    IntStream.range(0, stream.source().schema().size()).boxed().toList();
            List<SourceReader> readers = open(new ScanRequest(all, List.of(), 1), saved);
            QueryIntakes always = QueryIntakes.always();
            readers.forEach(reader ->
                    inputs.add(new SourceInput(entry, reader, this, false, new HeldItems(always, resources.clock()))));
            task = new PipelineTask(this, List.of(entry, outlet), List.copyOf(inputs));
            scheduled = resources.workers().add(task);
        } catch (RuntimeException | Error e) {
            resources.memory().release(memory);
            throw e;
        }
        var domain = resources.epochs().newDomain();
        for (SourceInput input : inputs) {
            EpochInput epochInput = resources.epochs().addInput(domain, scheduled::wake);
            epochInputs.add(epochInput);
            input.start(Optional.of(epochInput), scheduled::wake);
        }
        task.start(scheduled::wake);
        scheduled.wake();
    }

    private List<SourceReader> open(ScanRequest request, Optional<SavedSections> saved) {
        List<SourcePosition> positions = new ArrayList<>();
        saved.ifPresent(sections -> sections.read(
                section(sections.nameThen(stream.name())), part -> positions.addAll(SavedPositions.read(part.part()))));
        return positions.isEmpty()
                ? stream.open(request, memory.own(), resources.clock(), resources.batchRows(), this::wakeReaders)
                : stream.reopen(
                        request, positions, memory.own(), resources.clock(), resources.batchRows(), this::wakeReaders);
    }

    private static String scopeOf(String name) {
        return "stream \"" + name + "\"";
    }

    /** Has another name from now on. While no checkpoint is made. */
    void rename(String newName) {
        stream = new ReplayableStream(newName, stream.source(), stream.rejected());
        memory.rename(scopeOf(newName));
    }

    private String section() {
        return section(stream.name());
    }

    private static String section(String name) {
        return "stream " + name;
    }

    /** The positions of its readers are to be in a checkpoint, of which nothing has come yet. */
    void expect(Barrier barrier) {
        if (!task.isDone()) {
            barrier.expect(task);
        }
    }

    @Override
    public boolean isCut(long epoch) {
        return false; // is never paused
    }

    /** Without positions, who reads it goes on with what comes after the restart: so it is of a source that cannot be read twice. */
    @Override
    public boolean epochEnded(PipelineTask ended, long epoch) {
        resources.barriers().at(epoch).filter(barrier -> barrier.begin(ended)).ifPresent(this::savePositions);
        return false;
    }

    @Override
    public boolean saveMore(PipelineTask any, Saving how) {
        return true; // positions are written at once
    }

    private void savePositions(Barrier barrier) {
        List<SourcePosition> positions = new ArrayList<>();
        inputs.forEach(input -> input.position().ifPresent(positions::add));
        try (SectionOutput output = barrier.section(section())) {
            if (positions.size() == inputs.size()) {
                SavedPositions.write(positions, output.part("positions"));
                output.finish();
            }
            barrier.done(0);
        } catch (IOException | RuntimeException | Error e) {
            barrier.failed(e);
        }
    }

    private void leaveCheckpoint() {
        resources.barriers().current().ifPresent(barrier -> barrier.forget(task));
    }

    private void wakeReaders() {
        inputs.forEach(SourceInput::wakeUp);
    }

    Scannable.Feed feed() {
        return new Scannable.Feed(
                stream.source().schema(),
                fanout,
                () -> resources.epochs().domainOf(epochInputs.get(0)),
                Optional.empty(),
                Optional.empty(),
                scheduled::wake);
    }

    @Override
    public String name() {
        return stream.name();
    }

    @Override
    public int priority() {
        return 0;
    }

    @Override
    public Clock clock() {
        return resources.clock();
    }

    @Override
    public long epochMicros(long epoch) {
        return resources.epochs().micros(epoch);
    }

    @Override
    public Workers workers() {
        return resources.workers();
    }

    @Override
    public int batchRows() {
        return resources.batchRows();
    }

    @Override
    public void lateRows(Batch batch, int[] rows, int count, long watermarkMicros) {
        throw new IllegalStateException("a live stream assigns no watermarks");
    }

    @Override
    public void touch() {}

    @Override
    public void failed(Throwable failure) {
        leaveCheckpoint();
        epochInputs.forEach(EpochInput::leave);
        fanout.fail(
                failure instanceof MillraceException known
                        ? known
                        : MillraceException.internal("stream \"" + name() + "\" failed: " + failure, failure));
    }

    @Override
    public long mostRowNanos() {
        return Long.MAX_VALUE;
    }

    @Override
    public Interrupt interrupt() {
        return interrupt;
    }

    @Override
    public void ended(PipelineTask ended) {
        leaveCheckpoint();
    }

    @Override
    public void close() {
        leaveCheckpoint();
        interrupt.stop(MillraceException.user(SqlState.QUERY_CANCELED, "stream \"" + name() + "\" is being stopped"));
        resources.abandoned().end(name(), List.of(scheduled), () -> {}, () -> {
            try {
                task.close();
            } finally {
                resources.memory().release(memory);
            }
        });
    }
}

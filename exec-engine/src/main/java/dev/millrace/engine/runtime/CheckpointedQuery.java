package dev.millrace.engine.runtime;

import dev.millrace.connector.PreparedRows;
import dev.millrace.connector.SourcePosition;
import dev.millrace.engine.channel.Item;
import dev.millrace.engine.checkpoint.QueryMeta;
import dev.millrace.engine.checkpoint.SavedSections;
import dev.millrace.engine.checkpoint.SavedSections.OperatorState;
import dev.millrace.engine.checkpoint.SavedSink;
import dev.millrace.engine.checkpoint.StateSteps;
import dev.millrace.engine.relation.SavedQuery;
import dev.millrace.engine.task.FailedRows;
import dev.millrace.engine.task.StageMark;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.error.MillraceException;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.StateReader;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;

/** A query as a checkpoint has it; what is large is read when it is asked for. */
final class CheckpointedQuery implements SavedQuery {
    private final QueryMeta meta;
    private final SavedSections saved;
    private final SavedTask.Places places;
    private final SavedAnswer.Newest newest;

    CheckpointedQuery(QueryMeta meta, SavedSections saved) {
        this.meta = meta;
        this.saved = saved;
        this.places = meta.kind() == QueryMeta.Kind.RUNNING || paused()
                ? SavedTask.read(saved, meta.name(), meta.tasks())
                : new SavedTask.Places();
        this.newest = SavedAnswer.newest(saved, meta.name());
    }

    @Override
    public long epoch() {
        return newest.epoch();
    }

    @Override
    public long micros() {
        return newest.micros();
    }

    @Override
    public int tasks() {
        return meta.parallelism();
    }

    @Override
    public boolean finished() {
        return meta.kind() == QueryMeta.Kind.FINISHED;
    }

    @Override
    public boolean paused() {
        return meta.kind() == QueryMeta.Kind.PAUSED;
    }

    @Override
    public List<Item> waiting(int node, Schema schema, BufferAllocator memory, long mostBytes) {
        return SavedTask.waiting(saved, meta.name(), meta.tasks(), node, schema, memory, mostBytes);
    }

    @Override
    public Optional<MillraceException> failure() {
        return meta.failure();
    }

    @Override
    public StateReader states(int node, long schemaHash, int instance, int instances, KeyGroups groups) {
        int written = places.marks().getOrDefault(node, Map.of()).size();
        if (written == instances) { // what its namesake wrote, as rows come to it as they did before
            return saved.states(List.of(state(node, instance)), schemaHash, group -> true);
        }
        List<OperatorState> all =
                IntStream.range(0, written).mapToObj(each -> state(node, each)).toList();
        return saved.states(all, schemaHash, groups::contains);
    }

    private OperatorState state(int node, int instance) {
        return new OperatorState(
                SavedTask.stateSections(meta.name(), node, instance),
                meta.states().stream()
                        .filter(state -> state.node() == node && state.instance() == instance)
                        .findFirst()
                        .map(StateSteps::steps));
    }

    @Override
    public StageMark mark(int node, int instance, int instances) {
        Map<Integer, StageMark> marks = places.marks().getOrDefault(node, Map.of());
        return marks.size() == instances
                ? marks.getOrDefault(instance, StageMark.NONE)
                : marks.values().stream().reduce(StageMark::and).orElse(StageMark.NONE);
    }

    @Override
    public List<SourcePosition> positions(int node) {
        return places.readers().getOrDefault(node, Map.of()).values().stream()
                .flatMap(List::stream)
                .toList();
    }

    @Override
    public Optional<PreparedRows> sink() {
        return SavedSink.read(saved, meta.name());
    }

    /** Whether some reader of a source could not say where it was. */
    boolean lacksPosition() {
        return places.readers().values().stream()
                .anyMatch(readers -> readers.values().stream().anyMatch(List::isEmpty));
    }

    @Override
    public void restoreAnswer(VersionedView view) {
        SavedAnswer.restoreRows(saved, meta.name(), view);
    }

    @Override
    public void restoreFailures(FailedRows failures) {
        SavedAnswer.restoreFailures(saved, meta.name(), failures);
    }
}

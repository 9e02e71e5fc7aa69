package dev.millrace.engine.runtime;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.connector.CheckpointedSink;
import dev.millrace.connector.PreparedRows;
import dev.millrace.connector.SourcePosition;
import dev.millrace.engine.channel.Item;
import dev.millrace.engine.checkpoint.CheckpointMeta;
import dev.millrace.engine.checkpoint.CheckpointReader;
import dev.millrace.engine.checkpoint.QueryMeta;
import dev.millrace.engine.checkpoint.Resumption;
import dev.millrace.engine.checkpoint.SavedSections;
import dev.millrace.engine.checkpoint.SavedSections.OperatorState;
import dev.millrace.engine.checkpoint.SavedSink;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.checkpoint.StateSteps;
import dev.millrace.engine.graph.PlanPrint;
import dev.millrace.engine.group.Member;
import dev.millrace.engine.relation.SavedQuery;
import dev.millrace.engine.task.FailedRows;
import dev.millrace.engine.task.Restores;
import dev.millrace.engine.task.StageMark;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.StateReader;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;

/** What the queries of an engine begin with that is being opened from a checkpoint. */
final class LocalResumption implements Resumption {
    private final SavedSections saved;
    private final CheckpointMeta meta;
    private final Optional<Restores> restores;
    private final Consumer<List<LocalStandingQuery>> onRestored;
    private final Runnable onDeclared;
    private final Runnable onClose;
    private volatile boolean declared; // written by who declares, read by who starts queries

    @GuardedBy("this") private List<LocalStandingQuery> restoring = new ArrayList<>();

    @GuardedBy("this") private final Map<String, String> anew = new LinkedHashMap<>();

    /**
     * @param restores by which all is read; if there is none, before it is declared
     * @param onRestored has queries go on
     * @param onDeclared lets rows flow
     * @param onClose forgets this
     */
    LocalResumption(
            CheckpointReader reader,
            Optional<Restores> restores,
            Consumer<List<LocalStandingQuery>> onRestored,
            Runnable onDeclared,
            Runnable onClose) {
        this.onDeclared = onDeclared;
        this.restores = restores;
        this.onRestored = onRestored;
        this.saved = new SavedSections(reader);
        this.meta = CheckpointMeta.read(saved);
        this.onClose = onClose;
    }

    /** By what the state of a query is read that is started now, if by any. */
    Optional<Restores> restores() {
        return declared ? Optional.empty() : restores;
    }

    /** A query whose state is read while it is there. */
    synchronized void isRestored(LocalStandingQuery query) {
        restoring.add(query);
    }

    @Override
    public void await() {
        try {
            restores.ifPresent(Restores::finish);
            onRestored.accept(waiting());
        } catch (RuntimeException | Error e) {
            waiting()
                    .forEach(query ->
                            query.failed(QueryTasks.explain(e))); // or rows that they have no room for wait for ever
            throw e;
        }
        synchronized (this) {
            restoring = List.of();
        }
    }

    private synchronized List<LocalStandingQuery> waiting() {
        return List.copyOf(restoring);
    }

    SavedSections saved() {
        return saved;
    }

    long[] numbers() {
        return meta.numbers();
    }

    /** Whether there is something for a query of this name, if it is started now. */
    boolean has(String name) {
        return !declared && meta.queries().containsKey(saved.nameThen(name));
    }

    /** The options with which a query is started, with its state if there is some that fits. */
    QueryOptions optionsOf(String name, PlanNode plan, QueryOptions options) {
        QueryMeta query = meta.queries().get(saved.nameThen(name));
        if (!declared && query == null && options.materialized() && SavedAnswer.hasRows(saved, saved.nameThen(name))) {
            beginAnew(name, "it shared what ran it with queries of another form", options);
        }
        if (declared || query == null || options.restore().isPresent()) {
            return options;
        }
        Optional<String> why = whyAnew(query, plan);
        if (why.isPresent()) {
            beginAnew(name, why.get(), options);
            return options;
        }
        CheckpointedQuery state = new CheckpointedQuery(query, saved);
        if (state.lacksPosition()) {
            beginAnew(name, "a source that it reads cannot go on from where it was", options);
            return options;
        }
        goOn(name);
        return options.withRestore(state);
    }

    /** See {@link EngineCheckpoints#restoreMember}. */
    void restoreMember(LocalStandingQuery group, Member member, String was, Supplier<VersionedView> view) {
        Optional<String> whyAnew = Optional.ofNullable(begunAnew().get(group.name()));
        if (whyAnew.isPresent()) {
            beginAnew(member.name(), whyAnew.get());
            return;
        }
        SavedAnswer.restoreFailures(saved, was, member);
        if (SavedAnswer.hasRows(saved, was)) {
            restoreRows(group, was, view.get());
        }
    }

    private void restoreRows(LocalStandingQuery group, String was, VersionedView rows) {
        Runnable restore = () -> {
            try {
                SavedAnswer.restoreRows(saved, was, rows);
            } catch (MillraceException e) {
                if (!rows.isClosed()) { // else nobody wants them any more
                    throw e;
                }
            }
        };
        if (group.isRestored() && restores().isPresent()) {
            Restores.Part part = restores().get().add(restore);
            group.tasks().restores.add(part);
            rows.beginWith(part::await);
        } else {
            restore.run();
        }
    }

    private Optional<String> whyAnew(QueryMeta query, PlanNode plan) {
        if (query.kind() == QueryMeta.Kind.ANEW) {
            return Optional.of(query.whyAnew());
        }
        if (!query.print().equals(PlanPrint.of(plan, saved::nameThen))) {
            return Optional.of("its plan is another than that of the checkpoint");
        }
        Optional<String> unreadable = query.formats().stream()
                .map(StateFormats::whyUnreadable)
                .flatMap(Optional::stream)
                .findFirst();
        if (unreadable.isPresent()) {
            return unreadable;
        }
        Set<String> begunAnew = begunAnew().keySet();
        return LocalEngine.scans(plan).stream()
                .map(PlanNode.Scan::relation)
                .filter(begunAnew::contains)
                .findFirst()
                .map(read -> "it reads \"" + read + "\", which begins anew");
    }

    /** It may have been started with another plan before, and dropped. */
    private synchronized void goOn(String name) {
        anew.remove(name);
    }

    private void beginAnew(String name, String why, QueryOptions options) {
        if (options.sinks().stream().anyMatch(CheckpointedSink.class::isInstance)) {
            throw MillraceException.user(
                            SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                            "sink \"" + name + "\" would have to begin anew, and its outside see rows twice: " + why)
                    .withHint("DROP SINK and CREATE it again, if that may be");
        }
        beginAnew(name, why);
    }

    private synchronized void beginAnew(String name, String why) {
        anew.put(name, why);
    }

    @Override
    public synchronized Map<String, String> begunAnew() {
        return Map.copyOf(anew);
    }

    @Override
    public Optional<MillraceException> failure() {
        return saved.failure();
    }

    @Override
    public void declared() {
        declared = true;
        onDeclared.run();
    }

    @Override
    public void close() {
        restores.ifPresent(Restores::cancel);
        if (!declared) {
            declared();
        }
        onClose.run();
    }

    /** A query as a checkpoint has it; what is large is read when it is asked for. */
    private static final class CheckpointedQuery implements SavedQuery {
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
            List<OperatorState> all = IntStream.range(0, written)
                    .mapToObj(each -> state(node, each))
                    .toList();
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
}

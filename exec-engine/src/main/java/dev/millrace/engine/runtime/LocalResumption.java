package dev.millrace.engine.runtime;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.connector.CheckpointedSink;
import dev.millrace.engine.checkpoint.CheckpointMeta;
import dev.millrace.engine.checkpoint.CheckpointReader;
import dev.millrace.engine.checkpoint.QueryMeta;
import dev.millrace.engine.checkpoint.Resumption;
import dev.millrace.engine.checkpoint.SavedSections;
import dev.millrace.engine.checkpoint.StateFormats;
import dev.millrace.engine.graph.PlanPrint;
import dev.millrace.engine.task.Restores;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.node.PlanNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

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
        return !declared && meta.queries().containsKey(name);
    }

    /** The options with which a query is started, with its state if there is some that fits. */
    QueryOptions optionsOf(String name, PlanNode plan, QueryOptions options) {
        QueryMeta query = meta.queries().get(name);
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

    private Optional<String> whyAnew(QueryMeta query, PlanNode plan) {
        if (query.kind() == QueryMeta.Kind.ANEW) {
            return Optional.of(query.whyAnew());
        }
        if (!query.print().equals(PlanPrint.of(plan))) {
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
        synchronized (this) {
            anew.put(name, why);
        }
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
}

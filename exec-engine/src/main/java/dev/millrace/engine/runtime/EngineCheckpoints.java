package dev.millrace.engine.runtime;

import dev.millrace.engine.checkpoint.CheckpointReader;
import dev.millrace.engine.checkpoint.CheckpointSummary;
import dev.millrace.engine.checkpoint.CheckpointWriter;
import dev.millrace.engine.checkpoint.Resumption;
import dev.millrace.engine.epoch.EpochDomain;
import dev.millrace.engine.epoch.Quiescence;
import dev.millrace.engine.group.Member;
import dev.millrace.engine.relation.KeptOutput;
import dev.millrace.engine.relation.LostState;
import dev.millrace.engine.relation.RelationRegistry;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.task.Resources;
import dev.millrace.engine.task.Restores;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.node.PlanNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

/** Writes an engine's checkpoints, one at a time, and has the engine begin with one. Safe on any thread. */
final class EngineCheckpoints {
    private static final long MOST_SPOOLED_BYTES = 64L << 20; // of a checkpoint, on their way to its writer
    private static final int SPOOLED_PART = 16; // of all memory

    private final Resources resources;
    private final RelationRegistry relations;
    private final Quiescence quiescence;
    private final ReentrantLock changes;
    private final long mostSpooledBytes;
    private final ReentrantLock checkpointing = new ReentrantLock(); // one checkpoint at a time
    private volatile Optional<LocalResumption> restoring = Optional.empty(); // written under the lock of changes

    /** @param changes held by who starts and changes queries */
    EngineCheckpoints(
            Resources resources,
            RelationRegistry relations,
            Quiescence quiescence,
            ReentrantLock changes,
            long memoryLimitBytes) {
        this.mostSpooledBytes = Math.min(MOST_SPOOLED_BYTES, memoryLimitBytes / SPOOLED_PART);
        this.resources = resources;
        this.relations = relations;
        this.quiescence = quiescence;
        this.changes = changes;
    }

    /**
     * See {@link Engine#checkpoint}.
     *
     * @param queries that are to be in it; asked for while none is started, as is {@code isClosed}
     */
    CheckpointSummary write(
            CheckpointWriter writer,
            LongConsumer atCut,
            Supplier<List<LocalStandingQuery>> queries,
            BooleanSupplier isClosed) {
        Interrupt.lock(checkpointing);
        try {
            return new CheckpointRun(resources, quiescence, mostSpooledBytes)
                    .run(writer, atCut, cutting -> cut(cutting, queries, isClosed));
        } finally {
            checkpointing.unlock();
        }
    }

    private void cut(
            CheckpointRun.Cutting cutting, Supplier<List<LocalStandingQuery>> queries, BooleanSupplier isClosed) {
        Interrupt.lock(changes);
        try {
            boolean closed = isClosed.getAsBoolean();
            if (restoring.isPresent() || closed) {
                throw MillraceException.user(
                        SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                        closed ? "the engine is closed" : "the engine is being opened from a checkpoint");
            }
            relations.expect(cutting.barrier());
            cutting.cut(queries.get());
        } finally {
            changes.unlock();
        }
    }

    /**
     * See {@link Engine#restore}.
     *
     * @param side by which all is read; if there is none, each before it is declared
     */
    Resumption restore(CheckpointReader reader, Optional<Restores> side) {
        Interrupt.lock(changes);
        try {
            if (restoring.isPresent() || relations.hasFeeds()) {
                throw MillraceException.user(
                        SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                        "an engine goes on from a checkpoint before anything is declared in it");
            }
            LocalResumption resumption =
                    new LocalResumption(reader, side, this::goOn, this::letRowsFlow, this::endResumption);
            resources.epochs().beginOpening(resumption.numbers());
            relations.restoreFrom(Optional.of(resumption.saved()), side);
            restoring = Optional.of(resumption);
            return resumption;
        } finally {
            changes.unlock();
        }
    }

    /** Has a query whose state is being read go on when it is there, before the others. By who holds the lock of changes. */
    void haveGoneOn(LocalStandingQuery query) {
        if (query.isRestored()) {
            query.tasks().restores.forEach(Restores.Part::await);
            goOn(List.of(query));
        }
    }

    /** Has queries go on with their state, those of one domain together. */
    private void goOn(List<LocalStandingQuery> queries) {
        Interrupt.lock(changes);
        try {
            Map<EpochDomain, List<LocalStandingQuery>> together = new LinkedHashMap<>();
            for (LocalStandingQuery query : queries) {
                QueryState state = query.lifeState();
                if (query.isRestored() && (state == QueryState.RUNNING || state == QueryState.PAUSED)) {
                    together.computeIfAbsent(query.domain(), first -> new ArrayList<>())
                            .add(query);
                }
            }
            together.forEach((domain, all) -> {
                all.forEach(LocalStandingQuery::prepareToGoOn);
                quiescence.atRest(Set.of(domain), still -> all.forEach(LocalStandingQuery::goOn));
                all.forEach(query -> query.tasks().wakeAll());
            });
        } finally {
            changes.unlock();
        }
    }

    /** By what the state of a query that is started now is read, if not before it is. */
    Optional<Restores> restores() {
        return restoring.flatMap(LocalResumption::restores);
    }

    /** A query was started whose state is not there yet. */
    void isRestored(LocalStandingQuery query) {
        restoring.ifPresent(resumption -> resumption.isRestored(query));
    }

    /** Whether a query of this name goes on with what a checkpoint has. */
    boolean has(String name) {
        return restoring.filter(resumption -> resumption.has(name)).isPresent();
    }

    /** The name that a query had when the checkpoint was written from which the engine is being opened. */
    String nameThen(String name) {
        return restoring.map(checkpoint -> checkpoint.saved().nameThen(name)).orElse(name);
    }

    /**
     * Has a member of a group, which is a view, have the answer that the checkpoint has of it, and what failed; nothing where the group begins anew.
     *
     * @param was its name then
     * @param view its answer, asked for if there are rows; nobody has it yet
     */
    void restoreMember(LocalStandingQuery group, Member member, String was, Supplier<VersionedView> view) {
        restoring.ifPresent(checkpoint -> checkpoint.restoreMember(group, member, was, view));
    }

    private void letRowsFlow() {
        changes.lock();
        try {
            relations.restoreFrom(Optional.empty(), Optional.empty());
            resources.epochs().endOpening();
        } finally {
            changes.unlock();
        }
    }

    private void endResumption() {
        changes.lock();
        try {
            restoring = Optional.empty();
        } finally {
            changes.unlock();
        }
    }

    /** The options with which a query is started: with its state, if the engine is being opened and has some that fits; failed, if it cannot do without. */
    QueryOptions optionsOf(String name, PlanNode plan, QueryOptions asked) {
        QueryOptions options = restoring
                .map(checkpoint -> checkpoint.optionsOf(name, plan, asked))
                .orElse(asked);
        boolean isLost = options.restore().isEmpty()
                && options.kept().filter(KeptOutput::isBegun).isPresent();
        return isLost ? options.withRestore(new LostState()) : options;
    }
}

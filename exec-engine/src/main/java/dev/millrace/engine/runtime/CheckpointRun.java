package dev.millrace.engine.runtime;

import dev.millrace.engine.checkpoint.Barrier;
import dev.millrace.engine.checkpoint.CheckpointMeta;
import dev.millrace.engine.checkpoint.CheckpointSummary;
import dev.millrace.engine.checkpoint.CheckpointWriter;
import dev.millrace.engine.checkpoint.QueryMeta;
import dev.millrace.engine.epoch.Quiescence;
import dev.millrace.engine.task.MemoryScope;
import dev.millrace.engine.task.Resources;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.apache.arrow.memory.OutOfMemoryException;

/**
 * One checkpoint, by the thread that asked for it.
 *
 * <pre>
 *   cut, while nobody starts or alters queries
 *   tasks write as they come to the epoch's end; what they have written goes to the writer
 *   what was pinned when the epoch was published goes to the writer; last, what the engine says of itself
 * </pre>
 */
final class CheckpointRun {
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final int STUCK_LOOKS = 3_000; // half a minute, where there are threads
    private static final int SINK_LOOKS = 200; // after which nobody waits for sinks
    private static final long SINK_NANOS = TimeUnit.SECONDS.toNanos(5); // for their commits of what came before the cut

    private final Resources resources;
    private final Quiescence quiescence;
    private final long mostBytes;
    private final List<LocalStandingQuery> queries = new ArrayList<>();
    private final Map<Object, LocalStandingQuery> queryOf = new IdentityHashMap<>(); // of a part
    private long[] numbers = {};

    /** @param mostBytes that may wait to be written */
    CheckpointRun(Resources resources, Quiescence quiescence, long mostBytes) {
        this.resources = resources;
        this.quiescence = quiescence;
        this.mostBytes = mostBytes;
    }

    /**
     * @param atCut called with the number of the checkpoint
     * @param begin given what is to be called with each query while none is started, and then the cut
     */
    CheckpointSummary run(CheckpointWriter writer, LongConsumer atCut, Consumer<Cutting> begin) {
        MemoryScope memory = resources.memory().newScope("a checkpoint");
        try (Barrier barrier =
                new Barrier(memory.newChildForSpare("what is to be written"), mostBytes, resources.signal()::raise)) {
            long[] since = {0};
            begin.accept(new Cutting() {
                @Override
                public Barrier barrier() {
                    return barrier;
                }

                @Override
                public void cut(List<LocalStandingQuery> all) {
                    queries.addAll(all);
                    for (LocalStandingQuery query : all) {
                        query.checkpoint().expect(barrier);
                        query.tasks().stages.forEach(stage -> stage.chain().ask(writer));
                        queryOf.put(query.checkpoint(), query);
                        queryOf.put(query.checkpoint().sinks(), query);
                        query.tasks().tasks.forEach(task -> queryOf.put(task, query));
                    }
                    resources.barriers().begin(barrier);
                    since[0] = resources.clock().nanoTime();
                    resources.epochs().cut(epochs -> {
                        numbers = resources.epochs().numbers();
                        barrier.cutAt(epochs, numbers[0]);
                        atCut.accept(numbers[0]);
                    });
                }
            });
            collect(barrier, writer);
            barrier.writeLater(writer);
            quiescence.await(
                    () -> queries.stream().allMatch(query -> query.checkpoint().sinksHaveAll()), SINK_NANOS);
            List<QueryMeta> meta = queries.stream()
                    .map(query -> query.checkpoint().meta(barrier.number()))
                    .flatMap(Optional::stream)
                    .toList();
            CheckpointMeta.write(numbers, meta, barrier);
            barrier.write(writer);
            barrier.failure().ifPresent(CheckpointRun::fail);
            return new CheckpointSummary(
                    numbers[0],
                    barrier.written(),
                    resources.clock().nanoTime() - since[0],
                    barrier.longestNanos(),
                    meta.stream()
                            .filter(query -> query.kind() == QueryMeta.Kind.ANEW)
                            .map(QueryMeta::name)
                            .toList());
        } catch (IOException e) {
            throw MillraceException.external(
                    SqlState.IO_ERROR, "the checkpoint could not be written: " + e.getMessage(), e);
        } finally {
            resources.barriers().end();
            queries.forEach(query -> query.output().passSinks(false));
            resources.memory().release(memory);
        }
    }

    /** What is to be done while nobody starts or alters queries. */
    interface Cutting {
        /** Relations that are to be in it say so here, before the cut. */
        Barrier barrier();

        void cut(List<LocalStandingQuery> all);
    }

    /** Until all parts have come, and are written. */
    private void collect(Barrier barrier, CheckpointWriter writer) throws IOException {
        int before = Integer.MAX_VALUE;
        long written = 0;
        int looks = 0;
        boolean passes = false;
        while (barrier.failure().isEmpty() && !(barrier.isComplete() && !barrier.hasMore())) {
            barrier.write(writer);
            List<Object> toCome = new ArrayList<>(barrier.toCome());
            toCome.addAll(barrier.goingOn());
            if (!toCome.isEmpty()) {
                Set<LocalStandingQuery> open = Collections.newSetFromMap(new IdentityHashMap<>());
                toCome.forEach(part -> Optional.ofNullable(queryOf.get(part)).ifPresent(open::add));
                open.forEach(query -> query.checkpoint().settle(barrier));
            }
            if (toCome.size() != before || barrier.written() != written) {
                before = toCome.size();
                written = barrier.written();
                looks = 0;
            } else if (++looks > STUCK_LOOKS) {
                throw stuck(toCome);
            } else if (looks == SINK_LOOKS) {
                passes = true;
                queries.forEach(query -> query.output().passSinks(true));
            }
            if (passes && barrier.toCome().isEmpty()) {
                passes = false; // what is waited for still is no reason to let more rows wait for it
                queries.forEach(query -> query.output().passSinks(false));
            }
            quiescence.await(
                    () -> barrier.hasMore()
                            || barrier.isComplete()
                            || barrier.failure().isPresent(),
                    LOOK_NANOS);
        }
        barrier.failure().ifPresent(CheckpointRun::fail);
    }

    private MillraceException stuck(List<Object> toCome) {
        Optional<LocalStandingQuery> slow = toCome.stream()
                .filter(part -> Optional.ofNullable(queryOf.get(part))
                        .filter(query -> query.checkpoint().sinks() == part)
                        .isPresent())
                .map(queryOf::get)
                .findFirst();
        if (slow.isPresent()) {
            return MillraceException.resources(
                            SqlState.OBJECT_IN_USE,
                            "a checkpoint has waited half a minute for sink \""
                                    + slow.get().name() + "\", which does not come to its end of an epoch")
                    .withHint("millrace.sinks says what it waits for; there is another checkpoint later");
        }
        String names = toCome.stream()
                .map(queryOf::get)
                .filter(Objects::nonNull)
                .distinct()
                .map(query -> "\"" + query.name() + "\"")
                .limit(3)
                .reduce((a, b) -> a + ", " + b)
                .orElse("a relation");
        return MillraceException.user(
                SqlState.OBJECT_IN_USE, "the epoch of a checkpoint does not end: " + names + " is stuck");
    }

    private static void fail(Throwable why) {
        if (why instanceof OutOfMemoryException || why instanceof OutOfMemoryError) {
            throw MillraceException.resources(SqlState.OUT_OF_MEMORY, "out of memory for a checkpoint");
        }
        if (why instanceof MillraceException known) {
            throw known.again();
        }
        throw MillraceException.internal("a checkpoint failed: " + why, why);
    }
}

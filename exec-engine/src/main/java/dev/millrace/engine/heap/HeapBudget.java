package dev.millrace.engine.heap;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.sun.management.GarbageCollectorMXBean;
import com.sun.management.GcInfo;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The Java heap that standing queries may fill with what each of them takes of it: tasks, operators, their buffers' handles and
 * small arrays. State and rows are elsewhere. Beyond half of the heap no query is started: what remains is for what the arrays grow
 * by when many rows come at once, and for statements, connections and plans, without which nobody could drop one.
 *
 * <p>What is in use is known only after a collection, so queries count by an estimate until the next one. Exactly it is known only
 * after one of all garbage, during which everything stands still for a tenth of a second or more. That is asked for when there may be
 * no room: what was in use before and all that was allocated to start the queries since, garbage included, is as much as half of the
 * heap; every few seconds at most. Safe on any thread.
 */
public final class HeapBudget {
    private static final long QUERY_BYTES = 12 << 10;
    private static final long OPERATOR_BYTES = 6 << 10; // per instance
    private static final long CONSTANT_BYTES = 100; // in the plan, and as text in the catalog
    private static final long COLLECT_NANOS = 5_000_000_000L; // at least between two collections that are asked for

    private final Heap heap;

    @GuardedBy("this") private long collectedNanos;

    @GuardedBy("this") private int asked; // collections that were asked for

    @GuardedBy("this") private long seenCollections;

    @GuardedBy("this") private long sinceBytes; // estimates since the last collection of any kind

    @GuardedBy("this") private long
            knownBytes; // at most in use: after a collection that was asked for, or at first, and what was taken since

    /** What a query takes, in bytes, as far as it is known. */
    public record Taken(int asked, long bytes) {}

    /** What is known of a heap. */
    public interface Heap {
        long mostBytes();

        /** After the last collection, of whatever kind: old garbage may be in it. */
        long usedBytes();

        /** How many there were, of whatever kind. */
        long collections();

        /** Collects all garbage. */
        void collect();

        long nanoTime();
    }

    public HeapBudget(Heap heap) {
        this.heap = heap;
        this.knownBytes = heap.usedBytes();
    }

    /** That of this process. */
    public static HeapBudget ofProcess() {
        Runtime runtime = Runtime.getRuntime();
        List<GarbageCollectorMXBean> collectors = HeapCollectors.all();
        Set<String> heapPools = ManagementFactory.getMemoryPoolMXBeans().stream()
                .filter(pool -> pool.getType() == MemoryType.HEAP)
                .map(MemoryPoolMXBean::getName)
                .collect(Collectors.toSet());
        return new HeapBudget(new Heap() {
            @Override
            public long mostBytes() {
                return runtime.maxMemory();
            }

            @Override
            public long usedBytes() {
                return collectors.stream()
                        .flatMap(collector -> Optional.ofNullable(collector.getLastGcInfo()).stream())
                        .max(Comparator.comparingLong(GcInfo::getEndTime))
                        .map(last -> last.getMemoryUsageAfterGc().entrySet().stream()
                                .filter(pool -> heapPools.contains(pool.getKey()))
                                .mapToLong(pool -> pool.getValue().getUsed())
                                .sum())
                        .orElseGet(() -> runtime.totalMemory() - runtime.freeMemory());
            }

            @Override
            public long collections() {
                return collectors.stream()
                        .mapToLong(GarbageCollectorMXBean::getCollectionCount)
                        .sum();
            }

            @Override
            public void collect() {
                System.gc();
            }

            @Override
            public long nanoTime() {
                return System.nanoTime();
            }
        });
    }

    /** About what a query takes with so many workers, before it has seen many rows: its plan, tasks and operators. */
    public static long estimate(PlanNode plan, int workers) {
        return QUERY_BYTES + OPERATOR_BYTES * workers * nodes(plan) + CONSTANT_BYTES * constants(plan);
    }

    /** How many constants a plan has: lists of values may have very many, where all else is small. */
    private static long constants(PlanNode plan) {
        long count = 0;
        if (plan instanceof PlanNode.Values values) {
            count = (long) values.rows().size() * values.schema().size();
        } else if (plan instanceof PlanNode.Calc calc) {
            count = calc.condition().map(HeapBudget::constants).orElse(0L)
                    + calc.projections().stream()
                            .mapToLong(HeapBudget::constants)
                            .sum();
        }
        return count + plan.inputs().stream().mapToLong(HeapBudget::constants).sum();
    }

    private static long constants(Expression expression) {
        if (expression instanceof Expression.Call call) {
            return call.arguments().stream().mapToLong(HeapBudget::constants).sum();
        } else if (expression instanceof Expression.Cast cast) {
            return constants(cast.input());
        } else if (expression instanceof Expression.Case cases) {
            return constants(cases.otherwise())
                    + cases.branches().stream()
                            .mapToLong(branch -> constants(branch.condition()) + constants(branch.result()))
                            .sum();
        }
        return expression instanceof Expression.Literal literal && literal.value() instanceof List<?> elements
                ? elements.size()
                : 1;
    }

    private static long nodes(PlanNode plan) {
        return 1 + plan.inputs().stream().mapToLong(HeapBudget::nodes).sum();
    }

    /**
     * Counts a query that is about to be started.
     *
     * @throws MillraceException 53200 if there is no room for it
     */
    public synchronized Taken take(String name, long bytes) {
        long most = heap.mostBytes() / 2;
        long collections = heap.collections();
        if (collections != seenCollections) {
            seenCollections = collections;
            sinceBytes = 0; // what they became is in use now
        }
        if (heap.usedBytes() + sinceBytes + bytes > most && !isKnownToFit(bytes, most)) {
            throw MillraceException.resources(
                            SqlState.OUT_OF_MEMORY,
                            "no room for query \"" + name + "\" on the Java heap: it would take about " + (bytes >> 10)
                                    + " kB, and of " + (heap.mostBytes() >> 20) + " MB there are " + (knownBytes >> 20)
                                    + " MB in use, the most with which queries are started is " + (most >> 20) + " MB")
                    .withHint("DROP queries that are not needed, or start with a larger heap:"
                            + " MILLRACE_JVM_OPTIONS=-Xmx8g ./millrace server");
        }
        knownBytes += bytes;
        sinceBytes += bytes;
        return new Taken(asked, bytes);
    }

    @GuardedBy("this") private boolean isKnownToFit(long bytes, long most) {
        long now = heap.nanoTime();
        if (knownBytes + bytes > most && (asked == 0 || now - collectedNanos > COLLECT_NANOS)) {
            heap.collect();
            asked++;
            collectedNanos = heap.nanoTime();
            knownBytes = heap.usedBytes();
        }
        return knownBytes + bytes <= most;
    }

    /** A query was started, and so much was allocated for that: it has at most as much, or the estimate. */
    public synchronized Taken started(Taken taken, long allocatedBytes) {
        if (taken.asked != asked || allocatedBytes <= taken.bytes) {
            return taken;
        }
        knownBytes += allocatedBytes - taken.bytes;
        return new Taken(asked, allocatedBytes);
    }

    /** The query has ended. What it had of what was collected last is known after the next time. */
    public synchronized void give(Taken taken) {
        if (taken.asked == asked) {
            knownBytes -= taken.bytes;
        }
    }
}

package dev.millrace.engine.runtime;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.node.PlanNode;

/**
 * The Java heap that standing queries may fill with what each of them takes of it: tasks, operators, their buffers' handles and
 * small arrays. State and rows are elsewhere. Beyond half of the heap no query is started: what remains is for what the arrays grow
 * by when many rows come at once, and for statements, connections and plans, without which nobody could drop one.
 *
 * <p>What is in use is known exactly only after a collection, so queries count by an estimate until the next one, and it is asked
 * for one when the room seems to end, every few seconds at most. Safe on any thread.
 */
final class HeapBudget {
    private static final long QUERY_BYTES = 12 << 10;
    private static final long OPERATOR_BYTES = 6 << 10; // per instance
    private static final long COLLECT_NANOS = 5_000_000_000L;

    private final Heap heap;
    private long collectedNanos; // guarded by this, as what follows
    private boolean hasCollected;
    private long knownBytes; // in use after the last collection that was asked for, and estimates since

    /** What is known of a heap. */
    interface Heap {
        long mostBytes();

        /** Garbage included. */
        long usedBytes();

        void collect();

        long nanoTime();
    }

    HeapBudget(Heap heap) {
        this.heap = heap;
    }

    /** That of this process. */
    static HeapBudget ofProcess() {
        Runtime runtime = Runtime.getRuntime();
        return new HeapBudget(new Heap() {
            @Override
            public long mostBytes() {
                return runtime.maxMemory();
            }

            @Override
            public long usedBytes() {
                return runtime.totalMemory() - runtime.freeMemory();
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

    /** About what a query takes with so many workers, before it has seen many rows. */
    static long estimate(PlanNode plan, int workers) {
        return QUERY_BYTES + OPERATOR_BYTES * workers * nodes(plan);
    }

    private static long nodes(PlanNode plan) {
        return 1 + plan.inputs().stream().mapToLong(HeapBudget::nodes).sum();
    }

    /**
     * Counts a query that is about to be started.
     *
     * @throws MillraceException 53200 if there is no room for it
     */
    synchronized void take(String name, long bytes) {
        long most = heap.mostBytes() / 2;
        if (heap.usedBytes() + bytes > most && !isKnownToFit(bytes, most)) {
            throw MillraceException.resources(
                            SqlState.OUT_OF_MEMORY,
                            "no room for query \"" + name + "\" on the Java heap: it would take about " + (bytes >> 10)
                                    + " kB, and of " + (heap.mostBytes() >> 20) + " MB there are " + (knownBytes >> 20)
                                    + " MB in use, the most with which queries are started is " + (most >> 20) + " MB")
                    .withHint("DROP queries that are not needed, or start with a larger heap:"
                            + " MILLRACE_JVM_OPTIONS=-Xmx8g ./millrace server");
        }
        knownBytes += bytes;
    }

    private boolean isKnownToFit(long bytes, long most) {
        long now = heap.nanoTime();
        if (!hasCollected || now - collectedNanos > COLLECT_NANOS) {
            heap.collect();
            hasCollected = true;
            collectedNanos = heap.nanoTime();
            knownBytes = heap.usedBytes();
        }
        return knownBytes + bytes <= most;
    }
}

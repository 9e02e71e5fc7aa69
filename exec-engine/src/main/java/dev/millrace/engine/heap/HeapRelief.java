package dev.millrace.engine.heap;

import com.sun.management.GarbageCollectorMXBean;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Has queries give way when the Java heap is nearly full although it was collected. {@link HeapBudget} leaves half of the heap for
 * what queries grow by when rows come; if that is not enough, some of the queries have to go, or nobody would be answered any
 * more. What an operator has on the heap goes along with what it has in memory of its own, so those that hold most go first, as many
 * as the heap is too full, all with 53200.
 *
 * <p>One thread, which makes as few objects as it can.
 */
public final class HeapRelief implements AutoCloseable {
    /** Of where old objects are, in use after a collection; {@link HeapBudget} lets queries start up to some .7 of it. */
    private static final double FULL = .85;

    /** What is to be in use after some gave way. */
    private static final double ENOUGH = .7;

    private static final long LOOK_MILLIS = 100;

    /** Where the old objects of a heap are. */
    public interface Heap {
        /** How often it was collected. */
        long collections();

        /** In use after the last collection. */
        long keptBytes();

        long mostBytes();
    }

    /** The queries. */
    public interface Queries {
        /** The greediest end, until they are this part of what all hold; returns at once. */
        void giveWay(double part);

        /** Whether some are ending. */
        boolean areGivingWay();
    }

    private final Heap heap;
    private final Queries queries;
    private final Thread thread = new Thread(this::watch, "millrace-relief");
    private long seen; // collections that were looked at
    private boolean relieving;

    public HeapRelief(Heap heap, Queries queries) {
        this.heap = heap;
        this.queries = queries;
        this.seen = heap.collections();
    }

    /** Begins to look, for a while. */
    public void begin() {
        thread.setDaemon(true);
        thread.start();
    }

    private void watch() {
        while (true) {
            try {
                Thread.sleep(LOOK_MILLIS);
                look();
            } catch (InterruptedException e) {
                return;
            } catch (OutOfMemoryError e) {
                // somebody else's memory, as soon as there is any
            }
        }
    }

    /** After each collection: whether it was enough. What was in use before queries gave way says nothing of what is now. */
    void look() {
        long collections = heap.collections();
        boolean underWay = queries.areGivingWay();
        if (underWay || relieving || collections == seen) {
            relieving = underWay;
            seen = collections;
            return;
        }
        seen = collections;
        double kept = heap.keptBytes();
        double most = heap.mostBytes();
        if (kept > FULL * most) {
            relieving = true;
            queries.giveWay((kept - ENOUGH * most) / kept);
        }
    }

    /** That of this process, if its collector tells what it leaves. */
    public static Optional<Heap> ofProcess() {
        return HeapCollectors.old().map(HeapRelief::of);
    }

    private static Heap of(MemoryPoolMXBean old) {
        List<GarbageCollectorMXBean> looksAtOld = HeapCollectors.all().stream()
                .filter(collector ->
                        Arrays.asList(collector.getMemoryPoolNames()).contains(old.getName()))
                .toList();
        // G1 also collects a part of what is old at a time, which leaves garbage: only what is left of all counts.
        List<GarbageCollectorMXBean> whole = looksAtOld.stream()
                .filter(collector -> collector.getName().contains("Old"))
                .toList();
        List<GarbageCollectorMXBean> collectors = whole.isEmpty() ? looksAtOld : whole;
        return new Heap() {
            @Override
            public long collections() {
                long count = 0;
                for (int i = 0; i < collectors.size(); i++) {
                    count += Math.max(0, collectors.get(i).getCollectionCount());
                }
                return count;
            }

            @Override
            public long keptBytes() {
                MemoryUsage kept = old.getCollectionUsage();
                return kept == null ? 0 : kept.getUsed();
            }

            @Override
            public long mostBytes() {
                MemoryUsage usage = old.getUsage();
                return usage.getMax() > 0 ? usage.getMax() : Long.MAX_VALUE;
            }
        };
    }

    @Override
    public void close() {
        thread.interrupt();
    }
}

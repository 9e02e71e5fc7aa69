package dev.millrace.server.session;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.sun.management.GarbageCollectionNotificationInfo;
import com.sun.management.ThreadMXBean;
import dev.millrace.engine.heap.HeapCollectors;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.cancellation.Cancellation;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import javax.management.ListenerNotFoundException;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;

/**
 * Stops the statement that fills the Java heap, by its text or its plan, before the heap is full: who asks for the next byte
 * then may be anybody, the thread included that serves all connections. After each garbage collection that leaves little room
 * the greediest statement gives way, if it is greedy at all; where nothing is collected nothing is short.
 *
 * <p>How greedy a statement is says what its threads allocated since it was first looked at, garbage included: what it holds cannot
 * be told. Workers, which serve all queries, are not looked at: rows and states are not on the heap.
 *
 * <p>Safe on any thread; listeners are called by the JVM's own.
 */
final class HeapWatch implements AutoCloseable {
    private static final double FULL = 0.8; // of the heap, in use after a collection
    private static final int GREEDY_PART = 8; // of the heap
    private static final long COLLECT_NANOS = 5_000_000_000L; // at least between two collections that are asked for

    private final Collection<Session> sessions;
    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final Set<String> pools = ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(pool -> pool.getType() == MemoryType.HEAP)
            .map(MemoryPoolMXBean::getName)
            .collect(Collectors.toSet());
    private final List<NotificationEmitter> collectors = new ArrayList<>();
    private final NotificationListener listener = this::collected;
    private boolean hasCollected; // the JVM's thread that notifies, as what follows
    private long collectedNanos;

    @GuardedBy("this") private Map<Session, Seen> seen = new HashMap<>();

    /** What a step's threads had allocated when each of them was first seen, in bytes by thread. */
    private record Seen(long step, Map<Long, Long> from) {}

    private record Greedy(Session session, Cancellation.Step step, long bytes) {}

    HeapWatch(Collection<Session> sessions) {
        this.sessions = sessions;
        ManagementFactory.getGarbageCollectorMXBeans().forEach(collector -> {
            if (collector instanceof NotificationEmitter emitter) {
                emitter.addNotificationListener(listener, null, null);
                collectors.add(emitter);
            }
        });
    }

    private void collected(Notification notification, Object handback) {
        if (notification.getType().equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION)) {
            GarbageCollectionNotificationInfo info =
                    GarbageCollectionNotificationInfo.from((CompositeData) notification.getUserData());
            if (!HeapCollectors.isCollector(info.getGcName())) {
                return;
            }
            long used = info.getGcInfo().getMemoryUsageAfterGc().entrySet().stream()
                    .filter(pool -> pools.contains(pool.getKey()))
                    .mapToLong(pool -> pool.getValue().getUsed())
                    .sum();
            long most = Runtime.getRuntime().maxMemory();
            if (!info.getGcAction().equals("end of minor GC")) {
                look(used, most);
            } else if (look(used, Long.MAX_VALUE) > most / GREEDY_PART && used > FULL * most) {
                collectAll();
            }
        }
    }

    /** Most of what a collection of young objects leaves may be garbage: nobody is stopped before all of it was collected. */
    private void collectAll() {
        long now = System.nanoTime();
        if (!hasCollected || now - collectedNanos > COLLECT_NANOS) {
            hasCollected = true;
            collectedNanos = now;
            System.gc();
        }
    }

    /**
     * Looks at what runs, and stops the greediest if there is little room.
     *
     * @param usedBytes after a collection
     * @return how much the greediest has allocated, bytes
     */
    synchronized long look(long usedBytes, long mostBytes) {
        Map<Session, Seen> now = new HashMap<>();
        Optional<Greedy> greediest = Optional.empty();
        for (Session session : sessions) {
            Optional<Cancellation.Step> step = session.steps().current();
            if (step.isEmpty()) {
                continue;
            }
            Seen before = seen.get(session);
            Seen known = before != null && before.step == step.get().number()
                    ? before
                    : new Seen(step.get().number(), new HashMap<>());
            now.put(session, known);
            long bytes = 0;
            for (Thread thread : session.steps().threads(step.get())) {
                long allocated = Math.max(0, threads.getThreadAllocatedBytes(thread.getId())); // -1 when it has ended
                bytes += allocated - known.from.computeIfAbsent(thread.getId(), first -> allocated);
            }
            if (greediest.isEmpty() || greediest.get().bytes < bytes) {
                greediest = Optional.of(new Greedy(session, step.get(), bytes));
            }
        }
        seen = now;
        if (usedBytes > FULL * mostBytes) {
            greediest
                    .filter(greedy -> greedy.bytes > mostBytes / GREEDY_PART)
                    .ifPresent(greedy -> greedy.session.steps().stop(greedy.step, why(greedy, usedBytes, mostBytes)));
        }
        return greediest.map(Greedy::bytes).orElse(0L);
    }

    private static MillraceException why(Greedy greedy, long usedBytes, long mostBytes) {
        return MillraceException.resources(
                        SqlState.OUT_OF_MEMORY,
                        "out of memory on the Java heap: of " + (mostBytes >> 20) + " MB there are " + (usedBytes >> 20)
                                + " MB in use, and this statement allocated most of late, " + (greedy.bytes >> 20)
                                + " MB")
                .withHint("ask for less at a time, or start with a larger heap:"
                        + " MILLRACE_JVM_OPTIONS=-Xmx8g ./millrace server");
    }

    @Override
    public void close() {
        for (NotificationEmitter collector : collectors) {
            try {
                collector.removeNotificationListener(listener);
            } catch (ListenerNotFoundException e) {
                throw new AssertionError(e); // it was added once, and is removed once
            }
        }
        collectors.clear();
    }
}

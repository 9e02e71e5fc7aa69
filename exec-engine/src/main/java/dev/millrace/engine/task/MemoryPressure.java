package dev.millrace.engine.task;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import java.util.function.UnaryOperator;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Who gives way when memory ends: of the queries, standing or not, the one that holds most, whoever asks; it fails with 53200
 * and frees what it has. Who asks waits for that, for two seconds at most. Tables, and rows that clients bring, cannot be
 * taken back: if they hold more than any query, it is their growth that is refused.
 *
 * <p>Before the last of the memory is gone, a query that holds much of it is made to give way while others still find some, so
 * that hardly anybody has to wait.
 */
final class MemoryPressure {
    private static final System.Logger LOG = System.getLogger(MemoryPressure.class.getPackageName());

    private static final int MOST_WAITS = 2_000;
    private static final long WAIT_NANOS = 1_000_000;

    /** This part of the limit is for those who ask while the greediest gives way. */
    private static final int SPARE = 16;

    /** How often all queries are looked at for one that is large enough, while the spare part fills. */
    private static final int LOOKS = 16;

    /** What a query counts as that holds nothing: it has objects on the Java heap. */
    private static final double AT_LEAST_BYTES = 16 << 10;

    private volatile long limitBytes; // of what is in memory; set by who sets the limits

    @GuardedBy("this") private int underWay; // those that are giving way

    private final Executor yielding;

    @GuardedBy("this") private final Set<MemoryScope> scopes = new LinkedHashSet<>();

    private volatile long nobodyUpToBytes; // of all memory: nobody was large enough to give way before others ask

    @SuppressWarnings("NullAway.Init")
    private BufferAllocator root; // set once, before anybody asks

    @SuppressWarnings("NullAway.Init")
    private Spilling spilling; // likewise

    /** @param yielding runs what takes long; not on the caller's thread, unless there are no others */
    MemoryPressure(long limitBytes, Executor yielding) {
        this.limitBytes = limitBytes;
        this.yielding = yielding;
    }

    void over(BufferAllocator newRoot, Spilling newSpilling) {
        root = newRoot;
        spilling = newSpilling;
    }

    void limit(long newLimitBytes) {
        limitBytes = newLimitBytes;
    }

    long limitBytes() {
        return limitBytes;
    }

    /** Of all that is allocated what is not in files. */
    long memoryBytes() {
        return root.getAllocatedMemory() - spilling.bytes();
    }

    /** What can still be had of memory. */
    long headroom() {
        return Math.min(root.getHeadroom(), limitBytes - memoryBytes());
    }

    synchronized void add(MemoryScope scope) {
        scopes.add(scope);
    }

    synchronized void remove(MemoryScope scope) {
        scopes.remove(scope);
    }

    /**
     * Somebody is about to ask: if little is left, the greediest begins to give way; if nothing is, and the allocator would not say
     * so because of what may be in files, room is made.
     */
    void before(Optional<MemoryScope> asker, long bytes) {
        if (spilling.decides(bytes)) {
            return;
        }
        if (asker.isPresent() && !spilling.isOn()) { // else large queries leave a quarter to others by themselves
            beginEarly(bytes);
        }
        if (spilling.isOn() && headroom() < bytes) {
            makeRoom(asker, bytes);
        }
    }

    private void beginEarly(long bytes) {
        long allBytes = memoryBytes() + bytes;
        if (allBytes <= limitBytes - limitBytes / SPARE) {
            if (nobodyUpToBytes != 0) {
                nobodyUpToBytes = 0;
            }
        } else if (allBytes > nobodyUpToBytes) {
            chooseIfGreedy(allBytes);
        }
    }

    private void chooseIfGreedy(long allBytes) {
        Optional<MemoryScope> chosen;
        synchronized (this) {
            if (isAnyGivingWay()) {
                return;
            }
            chosen = greediest();
            if (chosen.filter(scope -> scope.bytes() >= limitBytes / SPARE).isEmpty()) {
                nobodyUpToBytes = allBytes + limitBytes / SPARE / LOOKS;
                return;
            }
            chosen.get().tell(yields(chosen.get()));
        }
        giveWay(List.of(chosen.get()));
    }

    private void giveWay(List<MemoryScope> chosen) {
        synchronized (this) {
            underWay++;
        }
        boolean begun = false;
        try {
            yielding.execute(() -> {
                try {
                    chosen.forEach(MemoryPressure::end);
                } finally {
                    gaveWay();
                }
            });
            begun = true;
        } finally {
            if (!begun) { // no memory for a thread, for one: they are asked again
                chosen.forEach(MemoryScope::untell);
                gaveWay();
            }
        }
    }

    private static void end(MemoryScope scope) {
        try {
            scope.giveWay();
        } catch (RuntimeException | Error e) { // the others are to go all the same
            LOG.log(System.Logger.Level.WARNING, scope.owner() + " did not free all that it held", e);
        }
    }

    private synchronized void gaveWay() {
        underWay--;
        notifyAll();
    }

    /** Waits until all that give way have given back what they hold, two seconds at most. */
    synchronized void awaitGiven() {
        long end = System.nanoTime() + MOST_WAITS * WAIT_NANOS;
        for (long left = end - System.nanoTime(); underWay > 0 && left > 0; left = end - System.nanoTime()) {
            try {
                wait(left / 1_000_000 + 1);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    /**
     * Somebody asked for more than there is. Returns true once there is as much.
     *
     * @param asker none if rows that a client brings are made
     * @throws MillraceException 53200 if the asker is to give way, or nobody can
     */
    boolean makeRoom(Optional<MemoryScope> asker, long bytes) {
        asker.ifPresent(scope -> requireWithinLimit(scope, bytes));
        for (int waits = 0; waits < MOST_WAITS; waits++) {
            asker.flatMap(MemoryScope::told).ifPresent(why -> {
                throw why;
            });
            if (headroom() >= bytes) {
                return true;
            }
            Optional<MemoryScope> chosen = choose(asker, bytes);
            if (chosen.isPresent() && chosen.equals(asker)) {
                giveWay(List.of(chosen.get()));
                throw chosen.get().told().orElseThrow();
            }
            chosen.ifPresent(scope -> giveWay(List.of(scope)));
            LockSupport.parkNanos(WAIT_NANOS);
        }
        throw nobodyYields(asker, bytes);
    }

    /** Who is to give way now; none if somebody is about to. */
    private synchronized Optional<MemoryScope> choose(Optional<MemoryScope> asker, long bytes) {
        if (isAnyGivingWay()) {
            return Optional.empty();
        }
        Optional<MemoryScope> greediest = greediest();
        boolean isQuery = asker.filter(MemoryScope::isCandidate).isPresent();
        long askerBytes = bytes + asker.map(MemoryScope::bytes).orElseGet(this::unowned);
        if (bytes > limitBytes
                || greediest.isEmpty()
                || !isQuery && askerBytes > greediest.get().bytes()) {
            throw nobodyYields(asker, bytes);
        }
        MemoryScope chosen = isQuery && askerBytes >= greediest.get().bytes() ? asker.get() : greediest.get();
        chosen.tell(yields(chosen));
        return Optional.of(chosen);
    }

    /**
     * Something else is used up of which a query has the more the more memory it holds: the greediest give way, until they are this part
     * of all.
     *
     * @param why of who gives way, by its name
     */
    void giveWay(double part, UnaryOperator<String> why) {
        List<MemoryScope> chosen = new ArrayList<>();
        synchronized (this) {
            List<MemoryScope> candidates = new ArrayList<>(scopes);
            candidates.removeIf(scope -> !scope.isCandidate());
            candidates.sort(Comparator.comparingLong(MemoryScope::bytes).reversed());
            double wanted = part
                    * candidates.stream()
                            .mapToDouble(scope -> AT_LEAST_BYTES + scope.bytes())
                            .sum();
            for (int i = 0; i < candidates.size() && wanted > 0; i++) {
                MemoryScope scope = candidates.get(i);
                wanted -= AT_LEAST_BYTES + scope.bytes();
                scope.tell(MillraceException.resources(SqlState.OUT_OF_MEMORY, why.apply(scope.owner()))
                        .withHint("drop what is not needed, or start with a larger heap:"
                                + " MILLRACE_JVM_OPTIONS=-Xmx8g ./millrace server"));
                chosen.add(scope);
            }
        }
        giveWay(chosen);
    }

    /** Whether some are giving way now. */
    synchronized boolean isUnderWay() {
        return underWay > 0;
    }

    @GuardedBy("this") private boolean isAnyGivingWay() {
        return scopes.stream().anyMatch(MemoryScope::isGivingWay);
    }

    @GuardedBy("this") private Optional<MemoryScope> greediest() {
        return scopes.stream().filter(MemoryScope::isCandidate).max(Comparator.comparingLong(MemoryScope::bytes));
    }

    /** Bytes of rows that clients bring, or that were read for them. */
    private synchronized long unowned() {
        return Math.max(
                0, memoryBytes() - scopes.stream().mapToLong(MemoryScope::bytes).sum());
    }

    private void requireWithinLimit(MemoryScope scope, long bytes) {
        BufferAllocator own = scope.own();
        if (own.getAllocatedMemory() + bytes > own.getLimit()) {
            throw MillraceException.resources(
                            SqlState.OUT_OF_MEMORY,
                            scope.owner() + " needs " + MemoryUser.size(bytes)
                                    + " more than its limit: max_query_memory is "
                                    + MemoryUser.size(own.getLimit()) + ", its largest parts are "
                                    + MemoryUser.largest(scope.parts()))
                    .withHint("a superuser may raise max_query_memory for the role, by ALTER ROLE ... SET");
        }
    }

    private MillraceException yields(MemoryScope chosen) {
        return MillraceException.resources(
                        SqlState.OUT_OF_MEMORY,
                        "out of memory: " + limit() + ", and " + chosen.owner()
                                + " gives way because it holds most; the largest users are " + largest())
                .withHint("let it keep less, or raise memory_limit");
    }

    private MillraceException nobodyYields(Optional<MemoryScope> asker, long bytes) {
        return MillraceException.resources(
                        SqlState.OUT_OF_MEMORY,
                        "out of memory: " + limit() + ", and "
                                + asker.map(MemoryScope::owner).orElse("a statement") + " asks for "
                                + MemoryUser.size(bytes) + "; the largest users are " + largest())
                .withHint("drop or delete what is not needed, or raise memory_limit");
    }

    private String limit() {
        return "memory_limit is " + MemoryUser.size(limitBytes);
    }

    private synchronized String largest() {
        List<MemoryUser> users = new ArrayList<>();
        scopes.forEach(scope -> users.add(new MemoryUser(scope.owner(), scope.bytes())));
        users.add(new MemoryUser("rows of clients", unowned()));
        return MemoryUser.largest(users);
    }
}

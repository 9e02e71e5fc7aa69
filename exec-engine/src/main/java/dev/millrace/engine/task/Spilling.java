package dev.millrace.engine.task;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.ChunkSource;
import dev.millrace.memory.SpillSpace;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.arrow.memory.BufferAllocator;

/**
 * Which large chunks of memory are in files. Pages, which are filled in their order, are in memory up to half of a limit, so
 * that there is room for indexes, which are touched all over, up to three quarters; what is small stays in memory, rows under way first of all.
 * Nothing moves: what is in memory stays there. The limits are the process's and the query's, whichever is reached first. Any thread.
 */
final class Spilling implements ChunkSource {
    private static final long MOST_PAGE_BYTES = 4 << 20;

    /** A state that can leave memory keeps this part of a limit there, and begins with so many eighths of one. */
    private static final int KEPT_PART = 64;

    private static final int SHORT_EIGHTHS = 3;

    private static final Set<Thread> WAITING = ConcurrentHashMap.newKeySet(); // for files

    private final SpillSpace space;
    private final MemoryPressure pressure;
    private final long leastBytes;
    private final AtomicLong bytes = new AtomicLong();
    private final Map<BufferAllocator, MemoryScope> scopes = new ConcurrentHashMap<>();
    private volatile long limitBytes; // set by who sets the process's limits

    Spilling(SpillSpace space, long limitBytes, long leastBytes, MemoryPressure pressure) {
        this.space = space;
        this.limitBytes = limitBytes;
        this.leastBytes = leastBytes;
        this.pressure = pressure;
    }

    void add(MemoryScope scope) {
        scopes.put(scope.own(), scope);
    }

    void remove(MemoryScope scope) {
        scopes.remove(scope.own());
    }

    /** Whether a thread is at having a file made, or waits for another that is. */
    static boolean waitsForFile(Thread thread) {
        return WAITING.contains(thread);
    }

    /** Bytes in files. */
    long bytes() {
        return bytes.get();
    }

    void limit(long newLimitBytes) {
        limitBytes = newLimitBytes;
    }

    /** Whether anything may be in files. */
    boolean isOn() {
        return !space.isNone() && limitBytes > 0;
    }

    /** Whether where a chunk goes is decided here. */
    boolean decides(long chunkBytes) {
        return chunkBytes >= leastBytes && isOn();
    }

    @Override
    public long leastBytes() {
        return leastBytes;
    }

    @Override
    public Optional<Chunk> take(BufferAllocator owner, long chunkBytes) {
        Optional<MemoryScope> scope = scopeOf(owner);
        if (!isOn()
                || !owner.getName().equals(ON_DISK)
                        && share(chunkBytes, pressure.limitBytes()) >= pressure.memoryBytes()
                        && scope.map(of -> share(chunkBytes, of.memoryLimitBytes()) >= of.bytes())
                                .orElse(true)) {
            return Optional.empty();
        }
        try {
            return Optional.of(inFile(scope, chunkBytes));
        } catch (MillraceException full) {
            if (pressure.limitBytes() >= pressure.memoryBytes()
                    && scope.map(of -> of.memoryLimitBytes() >= of.bytes()).orElse(true)) {
                return Optional.empty(); // what was left for others
            }
            throw full;
        }
    }

    @Override
    public long allowance(BufferAllocator owner) {
        Optional<MemoryScope> scope = scopeOf(owner);
        boolean isShort = isOn()
                && (isShort(pressure.memoryBytes(), pressure.limitBytes())
                        || scope.isPresent()
                                && isShort(scope.get().bytes(), scope.get().memoryLimitBytes()));
        return isShort
                ? Math.min(
                                pressure.limitBytes(),
                                scope.map(MemoryScope::memoryLimitBytes).orElse(Long.MAX_VALUE))
                        / KEPT_PART
                : Long.MAX_VALUE;
    }

    private static boolean isShort(long bytes, long limit) {
        return bytes >= limit / 8 * SHORT_EIGHTHS;
    }

    private static long share(long chunkBytes, long limit) {
        return limit - (chunkBytes <= MOST_PAGE_BYTES ? limit / 2 : limit / 4);
    }

    private Optional<MemoryScope> scopeOf(BufferAllocator owner) {
        BufferAllocator at = owner;
        while (at != null) {
            MemoryScope scope = scopes.get(at);
            if (scope != null) {
                return Optional.of(scope);
            }
            at = at.getParentAllocator();
        }
        return Optional.empty();
    }

    private Chunk inFile(Optional<MemoryScope> scope, long chunkBytes) {
        charge(scope, chunkBytes);
        boolean done = false;
        WAITING.add(Thread.currentThread());
        try {
            long address = space.allocate(chunkBytes);
            done = true;
            return new FileChunk(address, chunkBytes, scope);
        } catch (IOException e) {
            throw MillraceException.external(
                            e instanceof SpillSpace.NoRoomException ? SqlState.DISK_FULL : SqlState.IO_ERROR,
                            name(scope) + " cannot have state on disk: " + e.getMessage(),
                            e)
                    .withHint("free space on the disk, let the query keep less, or raise memory_limit");
        } finally {
            WAITING.remove(Thread.currentThread());
            if (!done) {
                refund(scope, chunkBytes);
            }
        }
    }

    private void charge(Optional<MemoryScope> scope, long chunkBytes) {
        long all = bytes.addAndGet(chunkBytes);
        long ofScope = scope.map(of -> of.addSpilled(chunkBytes)).orElse(0L);
        long most = scope.map(MemoryScope::spillLimitBytes).orElse(Long.MAX_VALUE);
        if (all > limitBytes || ofScope > most) {
            refund(scope, chunkBytes);
            throw limited(scope, ofScope > most ? most : limitBytes, ofScope > most, chunkBytes);
        }
    }

    private void refund(Optional<MemoryScope> scope, long chunkBytes) {
        bytes.addAndGet(-chunkBytes);
        scope.ifPresent(of -> of.addSpilled(-chunkBytes));
    }

    private static MillraceException limited(Optional<MemoryScope> scope, long limit, boolean own, long chunkBytes) {
        return MillraceException.resources(
                        SqlState.CONFIGURATION_LIMIT_EXCEEDED,
                        name(scope) + " needs more on disk than " + (own ? "its" : "the server's")
                                + " spill_limit of " + MemoryUser.size(limit)
                                + scope.map(of -> "; it has " + MemoryUser.size(of.bytes() - chunkBytes)
                                                + " in memory and " + MemoryUser.size(of.spilledBytes()) + " on disk")
                                        .orElse(""))
                .withHint(
                        own
                                ? "raise the query's spill_limit or memory_limit, or let it keep less"
                                : "raise spill_limit or memory_limit, or drop what is not needed");
    }

    private static String name(Optional<MemoryScope> scope) {
        return scope.map(MemoryScope::owner).orElse("a statement");
    }

    private final class FileChunk implements Chunk {
        private final long address;
        private final long chunkBytes;
        private final Optional<MemoryScope> scope;

        FileChunk(long address, long chunkBytes, Optional<MemoryScope> scope) {
            this.address = address;
            this.chunkBytes = chunkBytes;
            this.scope = scope;
        }

        @Override
        public long address() {
            return address;
        }

        @Override
        public void giveBack() {
            try {
                space.free(address);
            } finally {
                refund(scope, chunkBytes);
            }
        }
    }
}

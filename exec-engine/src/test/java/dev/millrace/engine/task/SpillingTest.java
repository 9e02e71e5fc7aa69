package dev.millrace.engine.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.memory.SpillSpace;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Semaphore;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SpillingTest {
    private static final long MB = 1 << 20;

    /** A disk of memory, which can be full or broken. */
    private static final class FakeSpace implements SpillSpace {
        private final Set<Long> live = new HashSet<>();
        private boolean full;
        private boolean broken;
        private boolean closed;
        private Semaphore stall = new Semaphore(Integer.MAX_VALUE); // one for each file that may be made

        @Override
        public long allocate(long bytes) throws IOException {
            if (full) {
                throw new NoRoomException("no space left", new IOException("ENOSPC"));
            }
            if (broken) {
                throw new IOException("Input/output error");
            }
            stall.acquireUninterruptibly();
            long address = Memory.allocate(bytes);
            live.add(address);
            return address;
        }

        @Override
        public void free(long address) {
            assertTrue(live.remove(address));
            Memory.free(address);
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    private final FakeSpace space = new FakeSpace();
    private final List<ArrowBuf> buffers = new ArrayList<>();
    private MemoryScopes scopes;

    @BeforeEach
    void open() {
        Assumptions.assumeFalse(
                Boolean.getBoolean("millrace.memory.checked"), "files are not used where accesses are checked");
        scopes = new MemoryScopes(16 * MB, Runnable::run, space, 64 * MB);
    }

    @AfterEach
    void close() {
        if (scopes != null) {
            buffers.forEach(ArrowBuf::close);
            assertEquals(0, scopes.spilledBytes());
            assertEquals(Set.of(), space.live);
            scopes.close();
            assertTrue(space.closed);
        }
    }

    private void take(BufferAllocator from, long bytes) {
        buffers.add(from.buffer(bytes));
    }

    private void giveBackAll() {
        buffers.forEach(ArrowBuf::close);
        buffers.clear();
    }

    @Test
    void pagesAreInMemoryUpToHalfOfTheLimitAndIndexesBeyondThat() {
        MemoryScope scope = scopes.newScope("a");
        BufferAllocator operator = scope.newChild("operator");
        for (int i = 0; i < 12; i++) {
            take(operator, MB);
        }
        assertEquals(8 * MB, scope.bytes());
        assertEquals(4 * MB, scope.spilledBytes());
        take(operator, 5 * MB); // 8 MB: more than three quarters together
        assertEquals(12 * MB, scope.spilledBytes());
        take(operator, 100 << 10);
        assertEquals(8 * MB + (128 << 10), scope.bytes());
        giveBackAll();
        take(operator, 5 * MB);
        assertEquals(8 * MB, scope.bytes());
        giveBackAll();
        scopes.release(scope);
    }

    @Test
    void whatIsSmallIsHeldToTheLimitOfMemory() {
        MemoryScope scope = scopes.newScope("a");
        MillraceException why = assertThrows(MillraceException.class, () -> {
            for (int i = 0; i < 1000; i++) {
                take(scope.own(), 128 << 10);
            }
        });
        assertEquals(SqlState.OUT_OF_MEMORY, why.sqlState());
        assertTrue(scopes.bytes() <= 16 * MB);
        assertEquals(0, scopes.spilledBytes());
        assertThrows(OutOfMemoryException.class, () -> take(scope.newChildForSpare("spare"), 128 << 10));
        giveBackAll();
        scopes.release(scope);
    }

    @Test
    void aQueryHasLimitsOfItsOwnAndFailsAlone() {
        MemoryScope limited =
                scopes.newScope("a", MemoryLimits.NONE.withMemoryBytes(2 * MB).withSpillBytes(3 * MB));
        MemoryScope other = scopes.newScope("b");
        for (int i = 0; i < 5; i++) {
            take(limited.own(), MB);
        }
        assertEquals(2 * MB, limited.bytes(), "when its part on disk is full, up to all of its memory");
        assertEquals(3 * MB, limited.spilledBytes());
        MillraceException why = assertThrows(MillraceException.class, () -> take(limited.own(), MB));
        assertEquals(SqlState.CONFIGURATION_LIMIT_EXCEEDED, why.sqlState());
        assertEquals(
                "a needs more on disk than its spill_limit of 3072 kB; it has 2048 kB in memory and 3072 kB on disk",
                why.getMessage());
        take(other.own(), MB);
        giveBackAll();
        scopes.release(limited);
        scopes.release(other);
    }

    /** Row_timeout is for steps that wait by their own doing: others may have the disk for long. */
    @Test
    void whoWaitsForAFileWaitsForTheDisk() throws InterruptedException {
        MemoryScope scope = scopes.newScope("a");
        for (int i = 0; i < 8; i++) {
            take(scope.own(), MB);
        }
        space.stall = new Semaphore(0);
        Semaphore own = new Semaphore(0);
        Thread taker = new Thread(() -> {
            take(scope.own(), MB);
            own.acquireUninterruptibly();
        });
        taker.start();
        try {
            Eventually.holds("it waits for the file", space.stall::hasQueuedThreads);
            Eventually.holds("as threads do", () -> taker.getState() == Thread.State.WAITING);
            assertFalse(StepTime.waits(taker));
        } finally {
            space.stall.release();
        }
        Eventually.holds("it has the file", own::hasQueuedThreads);
        Eventually.holds("and waits by its own doing", () -> StepTime.waits(taker));
        own.release();
        taker.join();
        assertEquals(MB, scope.spilledBytes());
        giveBackAll();
        scopes.release(scope);
    }

    @Test
    void theServersLimitOnDiskIsThatOfAllTogether() {
        scopes.limit(16 * MB, 2 * MB);
        MemoryScope scope = scopes.newScope("a");
        MillraceException why = assertThrows(MillraceException.class, () -> {
            for (int i = 0; i < 100; i++) {
                take(scope.own(), MB);
            }
        });
        assertEquals(SqlState.CONFIGURATION_LIMIT_EXCEEDED, why.sqlState());
        assertTrue(why.getMessage().contains("the server's spill_limit of 2048 kB"), why::getMessage);
        assertEquals(18, buffers.size());
        scopes.limit(32 * MB, 2 * MB);
        take(scope.own(), MB);
        giveBackAll();
        scopes.release(scope);
    }

    @Test
    void aDiskThatIsFullOrFailsIsToldToWhoNeedsItAndIsUsedAgainWhenItWorks() {
        MemoryScope scope = scopes.newScope("a");
        space.full = true;
        for (int i = 0; i < 16; i++) {
            take(scope.own(), MB); // what is left of memory
        }
        MillraceException full = assertThrows(MillraceException.class, () -> take(scope.own(), MB));
        assertEquals(SqlState.DISK_FULL, full.sqlState());
        space.full = false;
        space.broken = true;
        MillraceException broken = assertThrows(MillraceException.class, () -> take(scope.own(), MB));
        assertEquals(SqlState.IO_ERROR, broken.sqlState());
        assertEquals(16 * MB, scopes.bytes());
        assertEquals(0, scopes.spilledBytes());
        space.broken = false;
        take(scope.own(), MB);
        assertEquals(MB, scopes.spilledBytes());
        giveBackAll();
        scopes.release(scope);
    }
}

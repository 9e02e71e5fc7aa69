package dev.millrace.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.OutOfMemoryException;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;

class PooledAllocationTest {
    @Test
    void aFreedChunkIsGivenOutAgain() {
        try (RootAllocator root = PooledAllocation.newPool(1 << 20)) {
            ArrowBuf first = root.buffer(5_000);
            long address = first.memoryAddress();
            assertEquals(8_192, first.capacity());
            first.close();
            try (ArrowBuf second = root.buffer(8_000)) {
                assertEquals(address, second.memoryAddress());
            }
        }
    }

    @Test
    void theLimitHolds() {
        try (RootAllocator root = PooledAllocation.newPool(1 << 20)) {
            assertThrows(OutOfMemoryException.class, () -> root.buffer(2 << 20));
            assertEquals(0, root.getAllocatedMemory());
        }
    }

    /** As of a program that opens a database for each of its tests. */
    @Test
    void whatWasKeptGoesWithTheRoot() {
        long before = PooledAllocation.systemBytes();
        RootAllocator root = PooledAllocation.newPool(64 << 20);
        List<ArrowBuf> held = new ArrayList<>();
        for (int size = 1; size <= 8 << 20; size *= 2) {
            held.add(root.buffer(size));
            held.add(root.buffer(size));
        }
        held.forEach(ArrowBuf::close);
        assertTrue(PooledAllocation.systemBytes() > before);
        root.close();
        assertEquals(before, PooledAllocation.systemBytes());
    }

    @Test
    void noTwoThreadsEverHoldTheSameChunk() throws Exception {
        var pool = Executors.newFixedThreadPool(4);
        try (RootAllocator root = PooledAllocation.newPool(256 << 20)) {
            List<Callable<Void>> work = new ArrayList<>();
            for (int thread = 1; thread <= 4; thread++) {
                long mark = thread;
                work.add(() -> churn(root, mark));
            }
            for (Future<Void> done : pool.invokeAll(work)) {
                done.get();
            }
            assertEquals(0, root.getAllocatedMemory());
        } finally {
            pool.shutdownNow();
        }
    }

    /** Marks each buffer held and finds the mark untouched when it lets go. */
    private static Void churn(RootAllocator root, long mark) {
        Random random = new Random(mark);
        List<ArrowBuf> held = new ArrayList<>();
        Set<Long> addresses = new HashSet<>();
        for (int step = 0; step < 20_000; step++) {
            if (held.size() < 20 && random.nextBoolean()) {
                ArrowBuf buffer = root.buffer(64L << random.nextInt(10));
                assertTrue(addresses.add(buffer.memoryAddress()));
                buffer.setLong(0, mark);
                held.add(buffer);
            } else if (!held.isEmpty()) {
                ArrowBuf buffer = held.remove(random.nextInt(held.size()));
                assertEquals(mark, buffer.getLong(0));
                addresses.remove(buffer.memoryAddress());
                buffer.close();
            }
        }
        held.forEach(ArrowBuf::close);
        return null;
    }
}

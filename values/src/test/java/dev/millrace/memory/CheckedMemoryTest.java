package dev.millrace.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.millrace.memory.CheckedMemory.InvalidAccess;
import java.util.List;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class CheckedMemoryTest {
    @BeforeEach
    void onlyWhereAccessesAreChecked() {
        assumeTrue(CheckedMemory.isOn());
        assertEquals(List.of(), CheckedMemory.found());
    }

    @AfterEach
    void forget() {
        CheckedMemory.forget();
    }

    private static void caught(Executable access) {
        assertThrows(InvalidAccess.class, access);
    }

    private static void boundsAreHeld(long address, int bytes) {
        for (int at = 0; at < bytes; at++) {
            Memory.putByte(address + at, (byte) at);
        }
        assertEquals(0, Memory.getByte(address));
        caught(() -> Memory.getByte(address + bytes));
        caught(() -> Memory.putByte(address + bytes, (byte) 1));
        caught(() -> Memory.getByte(address - 1));
        if (bytes >= 8) {
            Memory.getLong(address + bytes - 8);
            caught(() -> Memory.getLong(address + bytes - 7));
            caught(() -> Memory.putDouble(address - 4, 1));
        }
        caught(() -> Memory.fill(address, bytes + 1L, (byte) 0));
        caught(() -> Memory.copy(address, address, -1));
        caught(() -> Memory.copyOut(address, new byte[bytes + 1], 0, bytes + 1));
        caught(() -> Memory.equal(address, address, bytes + 1));
        caught(() -> Memory.getBit(address, 8 * bytes));
        caught(() -> Memory.getByte(address + (1L << 40)));
        caught(() -> Memory.getByte(8));
    }

    @Test
    void anAccessBehindOrBeforeABlockIsCaught() {
        for (int bytes : new int[] {1, 7, 8, 9, 63, 64, 65, 1000, 4096, 100_000, 600_000, 1 << 20, (3 << 20) + 5}) {
            long block = Memory.allocate(bytes);
            boundsAreHeld(block, bytes);
            Memory.free(block);
        }
    }

    @Test
    void anAccessToWhatWasGivenBackIsCaught() {
        for (int bytes : new int[] {1, 64, 4096, 1 << 20}) {
            long block = Memory.allocate(bytes);
            Memory.free(block);
            caught(() -> Memory.getByte(block));
            long next = Memory.allocate(bytes); // not at the same place, so that the old address stays wrong
            assertTrue(next != block);
            caught(() -> Memory.putByte(block + bytes - 1, (byte) 0));
            caught(() -> Memory.free(block));
            Memory.free(next);
        }
    }

    @Test
    void arrowsMemoryIsCheckedWhicheverAllocatorItIsOf() {
        for (RootAllocator root : List.of(new RootAllocator(), PooledAllocation.newRoot(1 << 20))) {
            try (root) {
                ArrowBuf buffer = root.buffer(100);
                long address = buffer.memoryAddress();
                boundsAreHeld(address, (int) buffer.capacity());
                buffer.close();
                caught(() -> Memory.getByte(address));
            }
        }
    }

    @Test
    void partsOfAnAllocationCanBeForbidden() {
        long block = Memory.allocate(64);
        Memory.forbid(block + 16, 8);
        Memory.getLong(block + 8);
        caught(() -> Memory.getByte(block + 16));
        caught(() -> Memory.getLong(block + 12));
        Memory.permit(block + 16, 3);
        Memory.getShort(block + 16);
        caught(() -> Memory.getInt(block + 16));
        Memory.permit(block + 16, 8);
        Memory.getLong(block + 13);
        Memory.free(block);
    }

    @Test
    void whatWasFoundIsKept() {
        long block = Memory.allocate(20);
        caught(() -> Memory.getLong(block + 16));
        assertEquals(1, CheckedMemory.found().size());
        String text = CheckedMemory.found().get(0).getMessage();
        assertTrue(text.startsWith("access of 8 bytes at ") && text.endsWith("16 into a block of 20"), text);
        Memory.free(block);
    }
}

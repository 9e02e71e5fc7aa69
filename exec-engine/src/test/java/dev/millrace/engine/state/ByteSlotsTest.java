package dev.millrace.engine.state;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import dev.millrace.testing.memory.LeakCheck;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.SplittableRandom;
import org.apache.arrow.memory.ArrowBuf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Strings of each length from 0 to 300, in their slots and outside. */
final class ByteSlotsTest {
    private static final int LONGEST = 300;

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private static byte[] bytes(long address, int length) {
        byte[] bytes = new byte[length];
        Memory.copyOut(address, bytes, 0, length);
        return bytes;
    }

    /** A string right before the end of memory that may be read: with red zones around what is stored, nothing else is written. */
    private interface Check {
        void run(StateMemory memory, long slot, long text, byte[] content) throws IOException;
    }

    private void forEachLength(Check check) throws IOException {
        SplittableRandom random = new SplittableRandom(5);
        for (int length = 0; length <= LONGEST; length++) {
            byte[] content = new byte[length];
            random.nextBytes(content);
            try (StateMemory memory = new StateMemory(leaks.allocator());
                    ArrowBuf buffer = leaks.allocator().buffer(64 + length)) {
                long slot = buffer.memoryAddress();
                long text = slot + 64;
                Memory.fill(slot, 64, (byte) -86);
                Memory.copyIn(content, 0, text, length);
                check.run(memory, slot + 16, text, content);
                assertEquals(0xAAAAAAAAAAAAAAAAL, Memory.getLong(slot + 8), "before the slot");
            }
        }
    }

    @Test
    void aSlotHoldsWhatWasStored() throws IOException {
        forEachLength((memory, slot, text, content) -> {
            ByteSlots.store(memory, slot, text, content.length);
            assertEquals(content.length > ByteSlots.INLINE_BYTES, ByteSlots.isLong(slot));
            assertEquals(content.length, ByteSlots.length(slot));
            assertArrayEquals(content, bytes(ByteSlots.address(slot), content.length));
            ByteSlots.free(memory, slot);
        });
    }

    @Test
    void stringsThatDifferInOneByteAreNotEqual() throws IOException {
        forEachLength((memory, slot, text, content) -> {
            int length = content.length;
            ByteSlots.store(memory, slot, text, length);
            assertTrue(ByteSlots.equal(slot, ByteSlots.low(text, length), ByteSlots.high(text, length), text, length));
            ByteSlots.store(memory, slot + 16, text, length);
            assertTrue(ByteSlots.equal(slot, slot + 16));
            ByteSlots.free(memory, slot + 16);
            for (int at = 0; at < length; at++) {
                Memory.putByte(text + at, (byte) (content[at] ^ 1));
                assertFalse(
                        ByteSlots.equal(slot, ByteSlots.low(text, length), ByteSlots.high(text, length), text, length),
                        length + " bytes that differ at " + at);
                ByteSlots.store(memory, slot + 16, text, length);
                assertFalse(ByteSlots.equal(slot, slot + 16));
                ByteSlots.free(memory, slot + 16);
                Memory.putByte(text + at, content[at]);
            }
            if (length > 0) {
                assertFalse(ByteSlots.equal(
                        slot, ByteSlots.low(text, length - 1), ByteSlots.high(text, length - 1), text, length - 1));
            }
            ByteSlots.free(memory, slot);
        });
    }

    @Test
    void aSlotThatWasWrittenIsReadElsewhere() throws IOException {
        forEachLength((memory, slot, text, content) -> {
            ByteSlots.store(memory, slot, text, content.length);
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            ByteSlots.write(slot, new DataOutputStream(out));
            Memory.copy(slot, slot + 16, 16); // as its words are restored
            ByteSlots.free(memory, slot);
            ByteSlots.read(memory, slot + 16, new DataInputStream(new ByteArrayInputStream(out.toByteArray())));
            assertEquals(content.length, ByteSlots.length(slot + 16));
            assertArrayEquals(content, bytes(ByteSlots.address(slot + 16), content.length));
            ByteSlots.free(memory, slot + 16);
        });
    }
}

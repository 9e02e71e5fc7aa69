package dev.millrace.storage.column;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.memory.Memory;
import dev.millrace.testing.memory.MemoryCheckExtension;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Of columns where most is NULL what is not is handed on; of bytes that were changed nothing beyond them is read. */
@ExtendWith(MemoryCheckExtension.class)
class PresentTextsTest {
    private final Random random = new Random(Long.getLong("millrace.column.seed", 1));

    /** So many values, of which one in some is there; some are empty. */
    private List<Object> values(int rows, int oneIn) {
        List<Object> values = new ArrayList<>();
        for (int row = 0; row < rows; row++) {
            boolean isThere = random.nextInt(oneIn) == 0;
            values.add(isThere ? "x".repeat(random.nextInt(3) == 0 ? 0 : random.nextInt(300)) + row : null);
            if (isThere && random.nextInt(4) == 0) {
                values.set(row, "");
            }
        }
        return values;
    }

    /** What was handed on, by row; empty if it was of another form. */
    private static Optional<Map<Integer, String>> read(byte[] bytes, int length, int rows) {
        Map<Integer, String> there = new TreeMap<>();
        long address = Memory.allocate(length + ByteInput.SLACK);
        try {
            Memory.copyIn(bytes, 0, address, length);
            boolean isRead = PresentTexts.read(new ByteInput(address, length), rows, (row, at, size) -> {
                byte[] text = new byte[size];
                Memory.copyOut(at, text, 0, size);
                there.put(row, new String(text, java.nio.charset.StandardCharsets.ISO_8859_1));
            });
            assertTrue(isRead || there.isEmpty(), "nothing is handed on of what is of another form");
            return isRead ? Optional.of(there) : Optional.empty();
        } finally {
            Memory.free(address);
        }
    }

    @Test
    void whatIsNotNullIsHandedOnWithItsRow() {
        int ofThisForm = 0;
        try (BufferAllocator allocator = new RootAllocator()) {
            for (int run = 0; run < 300; run++) {
                int rows = run < 130 ? run + 1 : 1 + random.nextInt(run % 10 == 0 ? 32_768 : 3000);
                List<Object> values =
                        values(rows, List.of(50, 1000, 3, 1_000_000).get(run % 4));
                Map<Integer, String> expected = new TreeMap<>();
                for (int row = 0; row < rows; row++) {
                    if (values.get(row) != null) {
                        expected.put(row, (String) values.get(row));
                    }
                }
                byte[] bytes = HostileColumnTest.encode(DataType.TEXT, values, allocator);
                Optional<Map<Integer, String>> there = read(bytes, bytes.length, rows);
                there.ifPresent(of -> assertEquals(expected, of));
                ofThisForm += there.isPresent() ? 1 : 0;
            }
        }
        assertTrue(ofThisForm > 150, ofThisForm + " columns had few values that are there");
    }

    @Test
    void changedBytesAreRefusedOrOtherValues() {
        int refused = 0;
        int read = 0;
        try (BufferAllocator allocator = new RootAllocator()) {
            for (int run = 0; run < 60; run++) {
                int rows = 200 + random.nextInt(2000);
                byte[] bytes = HostileColumnTest.encode(DataType.TEXT, values(rows, 50), allocator);
                for (int change = 0; change < 200; change++) {
                    byte[] changed = bytes.clone();
                    int length = change % 6 == 0 ? random.nextInt(bytes.length) : bytes.length;
                    int most = change % 2 == 0 ? bytes.length : Math.min(bytes.length, rows / 8 + 200);
                    changed[random.nextInt(most)] = (byte) random.nextInt();
                    try {
                        read(changed, length, rows);
                        read++;
                    } catch (EncodingException e) {
                        refused++;
                    }
                }
            }
        }
        assertTrue(refused > 500 && read > 500, refused + " refused, " + read + " read");
    }
}

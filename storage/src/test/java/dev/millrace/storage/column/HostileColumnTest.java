package dev.millrace.storage.column;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.memory.Memory;
import dev.millrace.storage.RandomRows;
import dev.millrace.testing.memory.MemoryCheckExtension;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Bytes whose checksum somebody made fit: they are refused, or are other values; nothing is read or written beyond its buffer. */
@ExtendWith(MemoryCheckExtension.class)
class HostileColumnTest {
    private static final long SEED = Long.getLong("millrace.column.seed", 1);

    @Test
    void changedBytesAreRefusedOrOtherValues() {
        Random random = new Random(SEED);
        RandomRows generator = new RandomRows(random);
        int refused = 0;
        int read = 0;
        try (BufferAllocator allocator = new RootAllocator(32 << 20)) {
            for (int run = 0; run < 150; run++) {
                DataType type = generator.type(2);
                int rows = 1 + random.nextInt(1500);
                byte[] bytes = encode(type, generator.column(type, rows), allocator);
                for (int change = 0; change < 60; change++) {
                    byte[] changed = bytes.clone();
                    int length = changed.length;
                    if (change % 6 == 0) {
                        length = random.nextInt(length);
                    } else {
                        changed[random.nextInt(change % 2 == 0 ? Math.min(40, length) : length)] = (byte)
                                (random.nextBoolean()
                                        ? random.nextInt()
                                        : List.of(0, 1, -1, 127).get(random.nextInt(4)));
                    }
                    try {
                        decode(type, changed, length, rows, allocator);
                        read++;
                    } catch (EncodingException | OutOfMemoryException e) {
                        refused++;
                    } catch (RuntimeException e) {
                        throw new AssertionError("seed " + SEED + ", run " + run + ", " + type, e);
                    }
                    assertEquals(0, allocator.getAllocatedMemory(), "seed " + SEED + ", run " + run + ", " + type);
                }
            }
        }
        assertTrue(refused > 500 && read > 500, refused + " refused, " + read + " read");
    }

    static byte[] encode(DataType type, List<Object> values, BufferAllocator allocator) {
        Schema schema = Schema.of(new Field("a", type, true));
        List<Row> rows = new ArrayList<>();
        values.forEach(value -> rows.add(Row.of(new Object[] {value})));
        try (Batch batch = TestBatches.of(schema, allocator, rows)) {
            ColumnBuffer buffer = new ColumnBuffer(type);
            buffer.append(batch.column(0), 0, batch.rowCount());
            ByteOutput out = new ByteOutput();
            buffer.encode(out, true);
            return java.util.Arrays.copyOf(out.array(), out.size());
        }
    }

    private static void decode(DataType type, byte[] bytes, int length, int rows, BufferAllocator allocator) {
        Field field = new Field("a", type, true);
        long address = Memory.allocate(length + ByteInput.SLACK);
        try {
            Memory.copyIn(bytes, 0, address, length);
            try (FieldVector vector = ColumnDecoder.read(new ByteInput(address, length), field, rows, allocator)) {
                assertEquals(rows, vector.getValueCount());
            }
        } finally {
            Memory.free(address);
        }
    }
}

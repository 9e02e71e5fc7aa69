package dev.millrace.storage.batch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.Batch;
import dev.millrace.error.MillraceException;
import dev.millrace.storage.RandomRows;
import dev.millrace.testing.memory.MemoryCheckExtension;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Batches of all types come back as they went; damaged ones are refused, or are other rows, and nothing leaks or crashes. */
@ExtendWith(MemoryCheckExtension.class)
final class BatchBytesTest {
    private static final long SEED = Long.getLong("millrace.batch.seed", 1);
    private static final int MOST_BYTES = 64 << 20;
    private static final int MOST_VALUES = 20_000;

    private final BufferAllocator allocator = new RootAllocator(MOST_BYTES);
    private final Random random = new Random(SEED);
    private final RandomRows generator = new RandomRows(random);

    @AfterEach
    void nothingIsLeft() {
        assertEquals(0, allocator.getAllocatedMemory(), "seed " + SEED);
        allocator.close();
    }

    /** How many values its columns have, those within arrays and rows among them. */
    private static long values(Batch batch) {
        return IntStream.range(0, batch.schema().size())
                .mapToLong(column -> values(batch.column(column)))
                .sum();
    }

    private static long values(FieldVector vector) {
        return vector.getValueCount()
                + vector.getChildrenFromFields().stream()
                        .mapToLong(BatchBytesTest::values)
                        .sum();
    }

    private static void assertSame(Batch expected, Batch actual) {
        assertEquals(TestBatches.rows(expected), TestBatches.rows(actual));
        assertEquals(expected.weights().isPresent(), actual.weights().isPresent());
        for (int row = 0; row < expected.rowCount(); row++) {
            assertEquals(TestBatches.weight(expected, row), TestBatches.weight(actual, row));
        }
    }

    @Test
    void whatIsWrittenIsRead() {
        boolean compressed = false;
        for (int run = 0; run < 300; run++) {
            Schema schema = generator.schema();
            int rows = run % 50 == 49 ? 2000 + random.nextInt(3000) : random.nextInt(40);
            try (Batch batch = generator.batch(schema, rows, allocator)) {
                ByteBuffer bytes = BatchBytes.write(batch);
                compressed |= (bytes.get(1) & 2) != 0;
                try (Batch read = BatchBytes.read(bytes, schema, allocator)) {
                    assertSame(batch, read);
                    int from = random.nextInt(rows + 1);
                    int some = random.nextInt(rows - from + 1);
                    try (Batch part = BatchBytes.read(BatchBytes.write(batch, from, some), schema, allocator)) {
                        assertEquals(TestBatches.rows(batch).subList(from, from + some), TestBatches.rows(part));
                        for (int row = 0; row < some; row++) {
                            assertEquals(TestBatches.weight(batch, from + row), TestBatches.weight(part, row));
                        }
                    }
                    assertEquals(bytes.rewind(), BatchBytes.write(read), "the same rows are the same bytes");
                }
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + SEED + ", run " + run + ": " + schema, e);
            }
        }
        assertTrue(compressed);
    }

    /** The bytes come from the middle of others, and need not be of an array. */
    @Test
    void bytesAreReadWhereverTheyAre() {
        Schema schema = generator.schema();
        try (Batch batch = generator.batch(schema, 20, allocator)) {
            ByteBuffer bytes = BatchBytes.write(batch);
            ByteBuffer direct = ByteBuffer.allocateDirect(bytes.remaining() + 7).position(3);
            direct.put(bytes.duplicate()).flip().position(3);
            try (Batch read = BatchBytes.read(direct, schema, allocator);
                    Batch readOnly = BatchBytes.read(bytes.asReadOnlyBuffer(), schema, allocator)) {
                assertSame(batch, read);
                assertSame(batch, readOnly);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 400})
    void damageIsRefusedOrGivesOtherRows(int rows) {
        int refused = 0;
        for (int run = 0; run < 15; run++) {
            Schema schema = generator.schema();
            ByteBuffer bytes;
            try (Batch batch = generator.batch(schema, rows, allocator)) {
                bytes = BatchBytes.write(batch);
            }
            for (int change = 0; change < 300; change++) {
                byte[] damaged = new byte[bytes.remaining()];
                bytes.duplicate().get(damaged);
                ByteBuffer given = ByteBuffer.wrap(damaged);
                if (change % 5 == 0) {
                    given.limit(random.nextInt(damaged.length));
                } else {
                    damaged[random.nextInt(Math.min(damaged.length, change % 2 == 0 ? 40 : damaged.length))] ^=
                            (byte) (1 << random.nextInt(8));
                }
                try (Batch read = BatchBytes.read(given, schema, allocator)) {
                    if (values(read) <= MOST_VALUES) { // of nothing but NULL any number takes no bytes
                        assertEquals(read.rowCount(), TestBatches.rows(read).size());
                    }
                } catch (MillraceException | OutOfMemoryException e) {
                    refused++;
                } catch (RuntimeException e) {
                    throw new AssertionError("seed " + SEED + ", change " + change + " of " + schema, e);
                }
            }
        }
        assertTrue(refused > 100, refused + " refused");
    }

    @Test
    void otherTypesAreRefused() {
        Schema bigint = Schema.of(new Field("a", DataType.BIGINT, true));
        Schema time = Schema.of(new Field("a", DataType.TIMESTAMP, true));
        try (Batch batch = TestBatches.of(bigint, allocator, Row.of(1L))) {
            ByteBuffer bytes = BatchBytes.write(batch);
            assertThrows(MillraceException.class, () -> BatchBytes.read(bytes, time, allocator));
            Schema renamed = Schema.of(new Field("b", DataType.BIGINT, false));
            BatchBytes.read(bytes, renamed, allocator).close();
        }
    }
}

package dev.millrace.batch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.memory.Memory;
import dev.millrace.memory.PooledAllocation;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VarCharVector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BatchTest {
    private static final Field NUMBER = new Field("n", DataType.BIGINT, true);
    private static final Field WORD = new Field("word", DataType.TEXT, true);

    private final BufferAllocator allocator = PooledAllocation.newRoot(64 << 20);

    @AfterEach
    void nothingLeaks() {
        assertEquals(0, allocator.getAllocatedMemory());
        allocator.close();
    }

    private FieldVector numbers(long... values) {
        FieldVector vector = Vectors.allocate(NUMBER, values.length, 0, allocator);
        for (int row = 0; row < values.length; row++) {
            Memory.putLong(vector.getDataBufferAddress() + 8L * row, values[row]);
        }
        Vectors.setAllValid(vector, values.length);
        Vectors.finish(vector, values.length);
        return vector;
    }

    @Test
    void theLastCloseFreesTheVectorsAndNoEarlierOne() {
        Batch batch = Batch.of(Schema.of(NUMBER), new FieldVector[] {numbers(1, 2, 3)}, 3);
        batch.retain();
        batch.close();
        assertTrue(allocator.getAllocatedMemory() > 0);
        assertEquals(2, Memory.getLong(batch.dataAddress(0) + 8));
        batch.close();
    }

    @Test
    void aViewKeepsTheBatchItShowsAlive() {
        Batch batch = Batch.of(Schema.of(NUMBER), new FieldVector[] {numbers(1, 2)}, 2);
        Batch view = Batch.view(
                Schema.of(NUMBER.withName("m")),
                new FieldVector[] {batch.column(0)},
                2,
                Optional.empty(),
                List.of(batch));
        assertEquals("m", view.schema().field(0).name());
        assertEquals(1, Memory.getLong(view.dataAddress(0)));
        view.close();
    }

    @Test
    void closingTooOftenIsNoticed() {
        Batch batch = Batch.of(Schema.of(NUMBER), new FieldVector[] {numbers(1)}, 1);
        batch.close();
        assertThrows(AssertionError.class, batch::close);
    }

    @Test
    void nullsAreSeenAndTheirAddressIsZeroWhenThereAreNone() {
        FieldVector some = numbers(1, 2, 3);
        Memory.clearBit(some.getValidityBufferAddress(), 1);
        try (Batch batch = Batch.of(Schema.of(NUMBER, NUMBER), new FieldVector[] {some, numbers(4, 5, 6)}, 3)) {
            assertTrue(batch.hasNulls(0));
            assertFalse(batch.hasNulls(1));
            assertEquals(0, batch.validityAddress(1));
            assertFalse(Memory.getBit(batch.validityAddress(0), 1));
            assertEquals(0, batch.weightsAddress());
        }
    }

    @Test
    void textWrittenRawIsReadBackByArrowAndSurvivesGrowth() {
        byte[] word = "mühlrad".getBytes(StandardCharsets.UTF_8);
        BaseVariableWidthVector vector = (BaseVariableWidthVector) Vectors.allocate(WORD, 100, 8, allocator);
        int end = 0;
        for (int row = 0; row < 100; row++) {
            Vectors.growData(vector, end, end + word.length);
            Memory.copyIn(word, 0, vector.getDataBufferAddress() + end, word.length);
            end += word.length;
            Memory.putInt(vector.getOffsetBufferAddress() + 4L * (row + 1), end);
        }
        Vectors.setAllValid(vector, 100);
        Vectors.finish(vector, 100);
        try (Batch batch = Batch.of(Schema.of(WORD), new FieldVector[] {vector}, 100)) {
            for (int row = 0; row < 100; row++) {
                assertEquals(
                        "mühlrad",
                        ((VarCharVector) batch.column(0)).getObject(row).toString());
            }
            assertTrue(batch.sizeInBytes() >= 100L * word.length);
        }
    }

    @Test
    void textComparesByUnsignedBytesAndLength() {
        String[] ordered = {"", "a", "aa", "aaaaaaaaa", "aaaaaaaab", "b", "z", "é", "漢"};
        for (int i = 0; i < ordered.length; i++) {
            for (int j = 0; j < ordered.length; j++) {
                assertEquals(Integer.signum(i - j), Integer.signum(compare(ordered[i], ordered[j])), i + " " + j);
            }
        }
    }

    private int compare(String a, String b) {
        byte[] x = a.getBytes(StandardCharsets.UTF_8);
        byte[] y = b.getBytes(StandardCharsets.UTF_8);
        try (var bufferX = allocator.buffer(64);
                var bufferY = allocator.buffer(64)) {
            Memory.copyIn(x, 0, bufferX.memoryAddress(), x.length);
            Memory.copyIn(y, 0, bufferY.memoryAddress(), y.length);
            boolean equal =
                    x.length == y.length && Memory.equal(bufferX.memoryAddress(), bufferY.memoryAddress(), x.length);
            assertEquals(a.equals(b), equal);
            return Memory.compare(bufferX.memoryAddress(), x.length, bufferY.memoryAddress(), y.length);
        }
    }
}

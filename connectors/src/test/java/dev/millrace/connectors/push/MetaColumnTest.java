package dev.millrace.connectors.push;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.Optional;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.FieldVector;
import org.junit.jupiter.api.Test;

class MetaColumnTest {
    /** Memory that was used before has what was there. */
    @Test
    void whatIsFalseIsFalseInMemoryThatWasUsed() {
        MetaColumn column = new MetaColumn(new Field("kept", DataType.BOOLEAN, false), about -> Optional.of(about));
        try (BufferAllocator memory = new RootAllocator()) {
            for (int i = 0; i < 1_000; i++) {
                for (int used = 0; used < 2; used++) {
                    try (ArrowBuf bytes = memory.buffer(8)) {
                        Memory.fill(bytes.memoryAddress(), 8, (byte) -1);
                    }
                }
                try (FieldVector vector = column.vector(3, row -> row == 1, memory)) {
                    BitVector values = (BitVector) vector;
                    assertEquals("010", "" + values.get(0) + values.get(1) + values.get(2));
                }
            }
        }
    }
}

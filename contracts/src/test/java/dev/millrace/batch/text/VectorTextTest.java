package dev.millrace.batch.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.batch.ArrowTypes;
import dev.millrace.batch.Vectors;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.ValueParser;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.complex.ListVector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class VectorTextTest {
    private final RootAllocator allocator = new RootAllocator();
    private final TextBuffer in = new TextBuffer(allocator, 256);
    private final ValueParser parser = new ValueParser();

    @AfterEach
    void close() {
        in.close();
        allocator.close(); // fails when a byte is left
    }

    @Test
    void everyFixedWidthTypeGoesThroughAVectorAndBack() {
        Object[][] cases = {
            {DataType.SMALLINT, "-7"},
            {DataType.INTEGER, "42"},
            {DataType.BIGINT, "9223372036854775807"},
            {DataType.REAL, "0.1"},
            {DataType.DOUBLE, "1e-07"},
            {DataType.numeric(38, 16), "-12345.6789000000000000"},
            {DataType.DATE, "2020-02-29"},
            {DataType.TIME, "23:59:59.999999"},
            {DataType.TIMESTAMP, "1969-12-31 23:59:59.5"},
            {DataType.TIMESTAMPTZ, "2020-01-01 00:00:00.123+00"},
            {DataType.INTERVAL, "1 mon -3 days +02:03:04"},
            {DataType.UUID, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
        };
        for (Object[] pair : cases) {
            DataType type = (DataType) pair[0];
            String text = (String) pair[1];
            try (FieldVector vector = Vectors.allocate(new Field("c", type, true), 2, 0, allocator)) {
                in.clear();
                in.append(text.getBytes(StandardCharsets.UTF_8));
                assertTrue(parser.tryParse(type, in.address(), (int) in.length()), text);
                parser.store(type, vector.getDataBufferAddress() + type.fixedWidth());
                Vectors.setAllValid(vector, 2);
                Vectors.finish(vector, 2);
                assertEquals(Optional.of(text), ValueText.format(type, vector, 1));
            }
        }
    }

    @Test
    void arraysQuoteWhatNeedsIt() {
        DataType type = DataType.array(DataType.TEXT);
        try (ListVector list =
                (ListVector) ArrowTypes.arrowField(new Field("a", type, true)).createVector(allocator)) {
            list.allocateNew();
            String[] elements = {"a", "", "b,c", "null", "q\"x\\", "plain"};
            VarCharVector values = (VarCharVector) list.getDataVector();
            list.startNewValue(0);
            for (int i = 0; i < elements.length; i++) {
                values.setSafe(i, elements[i].getBytes(StandardCharsets.UTF_8));
            }
            values.setNull(elements.length);
            values.setValueCount(elements.length + 1);
            list.endValue(0, elements.length + 1);
            list.setValueCount(1);
            assertEquals(
                    Optional.of("{a,\"\",\"b,c\",\"null\",\"q\\\"x\\\\\",plain,NULL}"),
                    ValueText.format(type, list, 0));
        }
    }
}

package dev.millrace.engine.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.millrace.batch.Batch;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.testing.rows.Row;
import dev.millrace.testing.rows.TestBatches;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.function.Executable;

/** A long array is looked at for stops while it is decoded: then nothing of the vector may stay. */
final class StoppedDecodingTest {
    private static final Schema SCHEMA = Schema.of(new Field("a", DataType.array(DataType.BIGINT), true));
    private static final Row LONG = Row.of(LongStream.range(0, 5_000).boxed().toList());

    @RegisterExtension
    final LeakCheck leaks = new LeakCheck();

    private void assertLeavesNothing(Executable decoding) {
        Interrupt stopped = new Interrupt();
        stopped.stop(MillraceException.user(SqlState.QUERY_CANCELED, "stopped"));
        long before = leaks.allocator().getAllocatedMemory();
        try (Interrupt.Binding binding = stopped.bind()) {
            MillraceException why = assertThrows(MillraceException.class, decoding);
            assertEquals(SqlState.QUERY_CANCELED, why.sqlState());
        }
        assertEquals(before, leaks.allocator().getAllocatedMemory());
    }

    @Test
    void ofRows() {
        try (RowCodec codec = new RowCodec(List.of(SCHEMA.type(0)), false, leaks.allocator());
                Batch batch = TestBatches.of(SCHEMA, leaks.allocator(), LONG)) {
            codec.encode(batch, new int[] {0}, Rows.all(1), 1);
            long[] rows = {codec.address(0)};
            assertLeavesNothing(() -> codec.decode(0, SCHEMA.field(0), rows, 1, leaks.allocator()));
        }
    }

    @Test
    void ofPackedRows() {
        try (StateMemory memory = new StateMemory(leaks.allocator());
                PackedCodec codec = new PackedCodec(SCHEMA, new int[] {0}, new BitSet(), leaks.allocator());
                Batch batch = TestBatches.of(SCHEMA, leaks.allocator(), LONG)) {
            List<Long> kept = new ArrayList<>();
            PackedCodecTest.keep(codec, SCHEMA, List.of(LONG), memory, leaks.allocator(), kept);
            long[] rows = {kept.get(0)};
            assertLeavesNothing(() -> codec.decode(0, SCHEMA.field(0), rows, 1, leaks.allocator()));
        }
    }

    @Test
    void ofKeys() {
        KeyLayout layout = new KeyLayout(SCHEMA, List.of(0));
        try (GroupTable table = new GroupTable(leaks.allocator(), new long[(layout.end() - GroupTable.BODY) / 8])) {
            long[] entries = KeyLayoutTest.insert(layout, table, SCHEMA, List.of(LONG), leaks.allocator());
            assertLeavesNothing(() -> layout.vector(0, SCHEMA.field(0), entries, 1, leaks.allocator()));
        }
    }
}

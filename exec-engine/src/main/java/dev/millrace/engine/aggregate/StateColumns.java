package dev.millrace.engine.aggregate;

import dev.millrace.batch.Closing;
import dev.millrace.batch.Vectors;
import dev.millrace.engine.aggregate.AggregateLayout.StateSlot;
import dev.millrace.engine.state.SlotKind;
import dev.millrace.engine.state.WordValues;
import dev.millrace.memory.Memory;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.node.AggregateState;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** States as the columns of a partial phase's output. */
final class StateColumns {
    private StateColumns() {}

    /** The states of some groups, in the order of {@code AggregateState.of}, as columns from {@code firstState} on. */
    static List<FieldVector> vectors(
            AggregateLayout layout,
            Schema schema,
            int firstState,
            long[] groups,
            int count,
            BufferAllocator allocator) {
        List<FieldVector> vectors = new ArrayList<>();
        try {
            for (StateSlot slot : layout.states()) {
                if (slot.state().distinct()) {
                    continue; // its values are passed on instead
                }
                if (slot.isExtreme()) {
                    Field field = schema.field(firstState + vectors.size());
                    vectors.add(extreme(layout, slot, field, groups, count, allocator));
                    continue;
                }
                if (slot.isBytes()) {
                    Field field = schema.field(firstState + vectors.size());
                    vectors.add(new Results(layout, allocator).bytes(slot.offset(), field, groups, count));
                    continue;
                }
                int word = slot.offset();
                for (int i = StateCode.columns(slot.state().kind()); i > 0; i--) {
                    Field field = schema.field(firstState + vectors.size());
                    vectors.add(words(field, word, groups, count, allocator));
                    word += field.type().fixedWidth();
                }
            }
            return vectors;
        } catch (RuntimeException | Error e) {
            Closing.all(vectors);
            throw e;
        }
    }

    private static FieldVector words(Field field, int offset, long[] groups, int count, BufferAllocator allocator) {
        FieldVector vector = Vectors.allocate(field, count, 0, allocator);
        long data = vector.getDataBufferAddress();
        if (SlotKind.of(field.type()) == SlotKind.WIDE) {
            for (int i = 0; i < count; i++) {
                Memory.putLong(data + 16L * i, Memory.getLong(groups[i] + offset));
                Memory.putLong(data + 16L * i + 8, Memory.getLong(groups[i] + offset + 8));
            }
        } else {
            WordValues.copyOut(field.type(), groups, offset, count, data);
        }
        Vectors.setAllValid(vector, count);
        Vectors.finish(vector, count);
        return vector;
    }

    private static FieldVector extreme(
            AggregateLayout layout, StateSlot slot, Field field, long[] groups, int count, BufferAllocator allocator) {
        DataType type = field.type();
        Function function = slot.state().kind() == AggregateState.Kind.MIN ? Function.MIN : Function.MAX;
        AggregateCall call = new AggregateCall(
                function,
                List.of(slot.state().argument()),
                false,
                slot.state().filter() < 0
                        ? OptionalInt.empty()
                        : OptionalInt.of(slot.state().filter()),
                List.of(),
                List.of(),
                type);
        return new Results(layout, allocator).vector(call, field, groups, count);
    }
}

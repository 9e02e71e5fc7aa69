package dev.millrace.engine.aggregate;

import dev.millrace.batch.Batch;
import dev.millrace.batch.NestedImages;
import dev.millrace.engine.aggregate.AggregateLayout.Collected;
import dev.millrace.engine.state.SlotKind;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** What a call keeps for the groups of one {@link GroupState}, when states of fixed size do not suffice. */
abstract class Collection implements AutoCloseable {
    static Collection of(AggregateLayout layout, Collected collected, BufferAllocator allocator) {
        AggregateCall call = layout.calls().get(collected.call());
        return switch (call.function()) {
            case USER -> new UserCollection(layout, collected, allocator);
            case APPROX_COUNT_DISTINCT -> new SketchCollection(layout, collected, allocator);
            case PERCENTILE_CONT, PERCENTILE_DISC ->
                canKeepWords(layout, call)
                        ? new PercentileCollection(layout, collected, allocator)
                        : new ListCollection(layout, collected, allocator);
            default -> new ListCollection(layout, collected, allocator);
        };
    }

    private static boolean canKeepWords(AggregateLayout layout, AggregateCall call) {
        DataType type = layout.arguments().type(PercentileCollection.valueColumn(call));
        return !layout.retractions()
                && !call.distinct()
                && SlotKind.of(type) == SlotKind.WORD
                && (type.isNumber()
                        || call.function() == Function.PERCENTILE_DISC && type.kind() != DataType.Kind.BOOLEAN);
    }

    /** Adds the values of rows to their groups. */
    abstract void add(Batch batch, NestedImages images, int[] rows, int count, long[] groups);

    /** Adds what groups {@code from} of another collection hold to groups {@code to}. */
    abstract void merge(Collection other, long[] from, long[] to, int count);

    /** The results of some groups. */
    abstract FieldVector results(Field field, long[] groups, int count);

    /** Forgets a group, and frees what it has in {@code memory}. */
    abstract void remove(long group, StateMemory memory);

    /** Forgets all groups. */
    abstract void clear();

    abstract long bytes();

    /** Writes what a group holds. */
    abstract void write(long group, DataOutput out) throws IOException;

    /** Reads it back into a new group. */
    abstract void read(long group, DataInput in) throws IOException;

    @Override
    public abstract void close();
}

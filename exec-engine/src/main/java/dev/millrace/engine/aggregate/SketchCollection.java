package dev.millrace.engine.aggregate;

import dev.millrace.batch.Batch;
import dev.millrace.batch.NestedImages;
import dev.millrace.batch.Vectors;
import dev.millrace.engine.aggregate.AggregateLayout.Collected;
import dev.millrace.engine.aggregate.number.HyperLogLog;
import dev.millrace.engine.state.Hashing;
import dev.millrace.engine.state.SlotKind;
import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/** A {@link HyperLogLog} sketch per group. */
final class SketchCollection extends Collection {
    private final AggregateCall call;
    private final DataType type;
    private final int offset;
    private final BufferAllocator allocator;
    private final StateMemory memory;
    private final HyperLogLog sketches;

    SketchCollection(AggregateLayout layout, Collected collected, BufferAllocator allocator) {
        this.call = layout.calls().get(collected.call());
        this.type = layout.arguments().type(call.arguments().get(0));
        this.offset = collected.offset();
        this.allocator = allocator;
        this.memory = new StateMemory(allocator);
        this.sketches = new HyperLogLog(memory);
    }

    @Override
    void add(Batch batch, NestedImages images, int[] rows, int count, long[] groups) {
        int column = call.arguments().get(0);
        long validity = batch.validityAddress(column);
        SlotKind kind = SlotKind.of(type);
        long offsets = kind == SlotKind.BYTES ? images.offsetsAddress(batch, column) : 0;
        long data = kind == SlotKind.BYTES ? images.dataAddress(batch, column) : batch.dataAddress(column);
        for (int i = 0; i < count; i++) {
            int row = rows[i];
            if (validity != 0 && !Memory.getBit(validity, row) || !CallFilter.passes(call, batch, row)) {
                continue;
            }
            long bits = switch (kind) {
                case WORD -> Hashing.word(type, data, row);
                case WIDE -> Hashing.bytes(data + 16L * row, 16);
                case BYTES -> {
                    int start = Memory.getInt(offsets + 4L * row);
                    yield Hashing.bytes(
                            data + start, SlotKind.keyLength(type, Memory.getInt(offsets + 4L * row + 4) - start));
                }
            };
            sketches.add(groups[i] + offset, HyperLogLog.hash(bits));
        }
    }

    @Override
    void merge(Collection other, long[] from, long[] to, int count) {
        for (int i = 0; i < count; i++) {
            sketches.merge(from[i] + offset, to[i] + offset);
        }
    }

    @Override
    FieldVector results(Field field, long[] groups, int count) {
        FieldVector vector = Vectors.allocate(field, count, 0, allocator);
        long data = vector.getDataBufferAddress();
        for (int i = 0; i < count; i++) {
            Memory.putLong(data + 8L * i, Math.round(HyperLogLog.estimate(groups[i] + offset)));
        }
        Vectors.setAllValid(vector, count);
        Vectors.finish(vector, count);
        return vector;
    }

    @Override
    void remove(long group, StateMemory groupMemory) {
        sketches.remove(group + offset);
    }

    @Override
    void clear() {
        memory.reset();
    }

    @Override
    long bytes() {
        return memory.bytes();
    }

    @Override
    void write(long group, DataOutput out) throws IOException {
        HyperLogLog.write(group + offset, out);
    }

    @Override
    void read(long group, DataInput in) throws IOException {
        Memory.putLong(group + offset, 0);
        sketches.read(group + offset, in);
    }

    @Override
    public void close() {
        memory.close();
    }
}

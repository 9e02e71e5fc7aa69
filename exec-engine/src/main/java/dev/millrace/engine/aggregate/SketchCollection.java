package dev.millrace.engine.aggregate;

import dev.millrace.batch.Batch;
import dev.millrace.batch.NestedImages;
import dev.millrace.batch.Vectors;
import dev.millrace.engine.aggregate.AggregateLayout.Collected;
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
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.datasketches.hll.HllRegisters;
import org.apache.datasketches.hll.HllSketch;
import org.apache.datasketches.hll.TgtHllType;
import org.apache.datasketches.hll.Union;

/**
 * HyperLogLog sketches of 2^12 registers, the one state on the Java heap; a group has the number of its own, 0 for none.
 * The estimate is the one that depends on the registers alone, not on the order in which they were filled, so that it is
 * the same however rows were batched, partitioned and restored.
 */
final class SketchCollection extends Collection {
    private static final int LG_REGISTERS = 12;
    private static final int SKETCH_BYTES = HllSketch.getMaxUpdatableSerializationBytes(LG_REGISTERS, TgtHllType.HLL_8);

    private final AggregateCall call;
    private final DataType type;
    private final int offset;
    private final BufferAllocator allocator;
    private final List<HllSketch> sketches = new ArrayList<>();
    private final Deque<Integer> unused = new ArrayDeque<>();
    private byte[] text = new byte[64];

    SketchCollection(AggregateLayout layout, Collected collected, BufferAllocator allocator) {
        this.call = layout.calls().get(collected.call());
        this.type = layout.arguments().type(call.arguments().get(0));
        this.offset = collected.offset();
        this.allocator = allocator;
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
            HllSketch sketch = sketch(groups[i]);
            switch (kind) {
                case WORD -> sketch.update(Hashing.word(type, data, row));
                case WIDE ->
                    sketch.update(new long[] {Memory.getLong(data + 16L * row), Memory.getLong(data + 16L * row + 8)});
                case BYTES -> {
                    int start = Memory.getInt(offsets + 4L * row);
                    int length = Memory.getInt(offsets + 4L * row + 4) - start;
                    sketch.update(bytes(data + start, length));
                }
            }
        }
    }

    /** A sketch hashes whole arrays, so one of the very length is needed; an empty text is a value, an empty array not. */
    private byte[] bytes(long address, int length) {
        if (text.length != length + 1) {
            text = new byte[length + 1];
        }
        Memory.copyOut(address, text, 0, length);
        return text;
    }

    private HllSketch sketch(long group) {
        int number = (int) Memory.getLong(group + offset);
        return number != 0 ? sketches.get(number - 1) : put(group, new HllSketch(LG_REGISTERS, TgtHllType.HLL_8));
    }

    private HllSketch put(long group, HllSketch sketch) {
        int number = (int) Memory.getLong(group + offset);
        if (number == 0 && !unused.isEmpty()) {
            number = unused.pop();
            sketches.set(number - 1, sketch);
        } else if (number == 0) {
            sketches.add(sketch);
            number = sketches.size();
        } else {
            sketches.set(number - 1, sketch);
        }
        Memory.putLong(group + offset, number);
        return sketch;
    }

    @Override
    void merge(Collection other, long[] from, long[] to, int count) {
        for (int i = 0; i < count; i++) {
            int number = (int) Memory.getLong(from[i] + offset);
            if (number != 0) {
                Union union = new Union(LG_REGISTERS);
                union.update(sketch(to[i]));
                union.update(((SketchCollection) other).sketches.get(number - 1));
                put(to[i], union.getResult(TgtHllType.HLL_8));
            }
        }
    }

    @Override
    FieldVector results(Field field, long[] groups, int count) {
        FieldVector vector = Vectors.allocate(field, count, 0, allocator);
        long data = vector.getDataBufferAddress();
        for (int i = 0; i < count; i++) {
            int number = (int) Memory.getLong(groups[i] + offset);
            long estimate =
                    number == 0 ? 0 : Math.round(sketches.get(number - 1).getCompositeEstimate());
            Memory.putLong(data + 8L * i, estimate);
        }
        Vectors.setAllValid(vector, count);
        Vectors.finish(vector, count);
        return vector;
    }

    @Override
    void remove(long group, StateMemory memory) {
        int number = (int) Memory.getLong(group + offset);
        if (number != 0) {
            sketches.set(number - 1, new HllSketch(LG_REGISTERS, TgtHllType.HLL_8));
            unused.push(number);
        }
    }

    @Override
    void clear() {
        sketches.clear();
        unused.clear();
    }

    @Override
    long bytes() {
        return (long) SKETCH_BYTES * sketches.size();
    }

    @Override
    void write(long group, DataOutput out) throws IOException {
        int number = (int) Memory.getLong(group + offset);
        out.writeBoolean(number != 0);
        if (number != 0) {
            HllRegisters.write(sketches.get(number - 1), out);
        }
    }

    @Override
    void read(long group, DataInput in) throws IOException {
        Memory.putLong(group + offset, 0);
        if (in.readBoolean()) {
            put(group, HllRegisters.read(LG_REGISTERS, in));
        }
    }

    @Override
    public void close() {
        clear();
    }
}

package dev.millrace.server.sketched;

import dev.millrace.batch.Closing;
import dev.millrace.batch.Vectors;
import dev.millrace.memory.Memory;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.materialise.ArrowOutput;
import dev.millrace.sketch.materialise.Materialisation;
import dev.millrace.type.Field;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.jspecify.annotations.Nullable;

/** The columns of a sketch as vectors, each when it is first asked for. For one thread. */
final class SketchVectors implements AutoCloseable {
    private final Sketch sketch;
    private final BufferAllocator allocator;
    private final Map<Integer, FieldVector> features = new HashMap<>(); // TIME for the time
    private @Nullable BitSet chosen;
    private int given; // rows
    private int slot = -1; // among the sources of a block
    private int block = -1;

    static final int TIME = -1;

    SketchVectors(Sketch sketch, BufferAllocator allocator) {
        this.sketch = sketch;
        this.allocator = allocator;
    }

    Sketch sketch() {
        return sketch;
    }

    /** The place of its next row; -1 if there is none. */
    int next() {
        return given < sketch.rows() ? given++ : -1;
    }

    /** Whether all rows were given. */
    boolean isEnded() {
        return given == sketch.rows();
    }

    /** Its place among the sources of a block; -1 if it has none yet. */
    int slotIn(int ofBlock) {
        return block == ofBlock ? slot : -1;
    }

    void place(int ofBlock, int newSlot) {
        block = ofBlock;
        slot = newSlot;
    }

    /** A feature, or {@link #TIME}; not the caller's. @param field of the stream */
    FieldVector column(int feature, Field field) {
        return features.computeIfAbsent(
                feature, f -> f == TIME ? times(field) : ArrowOutput.feature(sketch, f, allocator));
    }

    /** Which of its rows are among those of a materialisation, always the same; computed when it is first asked for. */
    BitSet chosen(Materialisation materialisation) {
        BitSet known = chosen;
        if (known == null) {
            known = materialisation.places(sketch);
            chosen = known;
        }
        return known;
    }

    private FieldVector times(Field field) {
        int rows = sketch.rows();
        FieldVector vector = Vectors.allocate(field, rows, 0, allocator);
        long[] ticks = new long[rows];
        sketch.times().copy(0, ticks);
        long data = vector.getDataBufferAddress();
        for (int row = 0; row < rows; row++) {
            Memory.putLong(data + 8L * row, ticks[row]);
        }
        Vectors.setAllValid(vector, rows);
        Vectors.finish(vector, rows);
        return vector;
    }

    @Override
    public void close() {
        Closing.all(features.values());
        features.clear();
    }
}

package dev.millrace.connectors.system;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Vectors;
import dev.millrace.connector.SourceContext;
import dev.millrace.connector.SourceReader;
import dev.millrace.memory.Memory;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.apache.arrow.vector.FieldVector;

/**
 * Reads a probe once per period, never waiting: a poll before its time comes back empty. Times that were missed are left
 * out, not made up for.
 */
final class SystemReader implements SourceReader {
    private static final int TS = 0;

    private final Probe probe;
    private final Schema schema;
    private final List<Integer> places;
    private final long periodNanos;
    private final SourceContext context;
    private long nextNanoTime;

    SystemReader(Probe probe, Schema schema, List<Integer> places, long periodMicros, SourceContext context) {
        this.probe = probe;
        this.schema = schema;
        this.places = places;
        this.periodNanos = periodMicros * 1000;
        this.context = context;
        long now = context.clock().nanoTime();
        probe.read(now); // what the first rates are taken from
        this.nextNanoTime = now + periodNanos;
    }

    @Override
    public Optional<Batch> poll() {
        long now = context.clock().nanoTime();
        if (now - nextNanoTime < 0) {
            return Optional.empty();
        }
        nextNanoTime += periodNanos;
        if (nextNanoTime - now <= 0) {
            nextNanoTime = now + periodNanos;
        }
        List<Object[]> rows = probe.read(now);
        return rows.isEmpty()
                ? Optional.empty()
                : Optional.of(batch(rows, context.clock().epochMicros()));
    }

    private Batch batch(List<Object[]> rows, long epochMicros) {
        FieldVector[] vectors = new FieldVector[places.size()];
        int made = 0;
        try {
            for (; made < vectors.length; made++) {
                vectors[made] = vector(rows, schema.field(made), places.get(made), epochMicros);
            }
            return Batch.of(schema, vectors, rows.size());
        } catch (RuntimeException | Error e) {
            for (int i = 0; i < made; i++) {
                vectors[i].close();
            }
            throw e;
        }
    }

    private FieldVector vector(List<Object[]> rows, Field field, int place, long epochMicros) {
        byte[][] texts = new byte[rows.size()][];
        long textBytes = 0;
        for (int row = 0; row < rows.size(); row++) {
            boolean text = place != TS && rows.get(row)[place - 1] instanceof String;
            texts[row] = text ? ((String) rows.get(row)[place - 1]).getBytes(StandardCharsets.UTF_8) : new byte[0];
            textBytes += texts[row].length;
        }
        FieldVector vector = Vectors.allocate(field, rows.size(), textBytes, context.allocator());
        Vectors.setAllValid(vector, rows.size());
        long data = vector.getDataBufferAddress();
        int used = 0;
        for (int row = 0; row < rows.size(); row++) {
            Object value = place == TS ? (Object) epochMicros : rows.get(row)[place - 1];
            if (value == Probe.UNKNOWN) {
                Memory.clearBit(vector.getValidityBufferAddress(), row);
                continue;
            }
            switch (field.type().kind()) {
                case DOUBLE -> Memory.putDouble(data + 8L * row, (double) value);
                case INTEGER -> Memory.putInt(data + 4L * row, Math.toIntExact((long) value));
                case TEXT -> {
                    Memory.copyIn(texts[row], 0, data + used, texts[row].length);
                    used += texts[row].length;
                    Memory.putInt(vector.getOffsetBufferAddress() + 4L * row + 4, used);
                }
                default -> Memory.putLong(data + 8L * row, (long) value);
            }
        }
        Vectors.finish(vector, rows.size());
        return vector;
    }

    @Override
    public boolean isFinished() {
        return false;
    }

    @Override
    public long retryAfterMicros() {
        return Math.max(0, (nextNanoTime - context.clock().nanoTime()) / 1000);
    }

    @Override
    public void close() {}
}

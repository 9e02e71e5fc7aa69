package dev.millrace.sketch.stream;

import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.segment.SegmentCodec;
import dev.millrace.sketch.segment.Versions;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.stream.Collector;

/** The last step of a Java stream that makes sketches of its elements (dissertation §6.2.4, the collect operation). */
public final class Collect {
    private Collect() {}

    /**
     * Collects elements in their order into segments, each readable alone. Rows go into the open segment as they come; each
     * thread of a parallel stream closes its own.
     *
     * <pre>{@code
     * List<byte[]> derived = Materialisation.all().stream(sketch)
     *         .filter(row -> row.number(0) > 20)
     *         .collect(Collect.toSegments(schema, EncoderOptions.defaults(),
     *                 (row, to) -> to.row(row.time()).number(0, row.number(0) * 1.8 + 32)));
     * }</pre>
     *
     * @param write begins a row and sets its values; called once per element
     */
    public static <T> Collector<T, ?, List<byte[]>> toSegments(
            SketchSchema schema, EncoderOptions options, BiConsumer<T, RowStart> write) {
        return Collector.of(
                () -> new Segments<T>(schema, options.selfContained(true), write),
                Segments::add,
                Segments::append,
                Segments::finish);
    }

    /** What one thread of a Java stream has collected; what is closed is kept as bytes, and only the open segment as rows. */
    private static final class Segments<T> {
        private final List<byte[]> closed = new ArrayList<>();
        private final StreamEncoder encoder;
        private final BiConsumer<T, RowStart> write;

        Segments(SketchSchema schema, EncoderOptions options, BiConsumer<T, RowStart> write) {
            this.encoder = new StreamEncoder(schema, options, segment -> closed.add(segment.bytes()));
            this.write = write;
        }

        void add(T element) {
            write.accept(element, encoder::row);
        }

        Segments<T> append(Segments<T> next) {
            finish();
            closed.addAll(next.finish());
            return this;
        }

        List<byte[]> finish() {
            encoder.flush();
            return closed;
        }
    }

    /** The same as sketches in memory. */
    public static <T> Collector<T, ?, List<Sketch>> toSketches(
            SketchSchema schema, EncoderOptions options, BiConsumer<T, RowStart> write) {
        return java.util.stream.Collectors.collectingAndThen(
                toSegments(schema, options, write),
                segments -> segments.stream()
                        .map(bytes -> SegmentCodec.read(bytes, new Versions()))
                        .toList());
    }

    /** Begins rows. */
    @FunctionalInterface
    public interface RowStart {
        /** Begins a row at a time in ticks, all of it NULL. */
        Observations row(long time);
    }
}

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
     * Collects elements in their order into segments, each readable alone.
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
                ArrayList<T>::new,
                List::add,
                (left, right) -> {
                    left.addAll(right);
                    return left;
                },
                elements -> {
                    List<byte[]> segments = new ArrayList<>();
                    StreamEncoder encoder =
                            new StreamEncoder(schema, options.selfContained(true), s -> segments.add(s.bytes()));
                    elements.forEach(element -> write.accept(element, encoder::row));
                    encoder.flush();
                    return segments;
                });
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

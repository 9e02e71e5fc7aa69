package dev.millrace.sketch.query;

import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.schema.SketchSchema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A question about the rows of sketches. Immutable; each method gives a new one.
 *
 * <pre>{@code
 * SketchQuery query = SketchQuery.select(Aggregate.count(), Aggregate.avg("temperature"))
 *         .where(Condition.atLeast("temperature", 20))
 *         .groupBy("status")
 *         .tumbling(60_000_000);
 * List<SketchQuery.Row> rows = query.run(sketch);
 * PartialAnswer answer = query.begin();      // of many segments, none of which is kept
 * segments.forEach(bytes -> answer.add(SegmentCodec.read(bytes, versions)));
 * rows = answer.rows();
 * }</pre>
 */
public final class SketchQuery {
    private final List<Aggregate> aggregates;
    private final List<Condition> conditions;
    private final List<String> keys;
    private final Optional<Windows> windows;
    private volatile @Nullable Layout layout; // of the last schema asked; null before; right whoever writes it

    /**
     * One group of one window.
     *
     * @param windowStart in ticks; 0 without windows
     * @param windowEnd in ticks, excluded; 0 without windows
     * @param keys the group's values in the sketch, Double, Long, Boolean or String; empty for NULL
     * @param estimates one per aggregate
     * @param presence whether it is certain that any row is in it
     */
    public record Row(
            long windowStart,
            long windowEnd,
            List<Optional<Object>> keys,
            List<Estimate> estimates,
            Estimate.Presence presence) {}

    private SketchQuery(
            List<Aggregate> aggregates, List<Condition> conditions, List<String> keys, Optional<Windows> windows) {
        this.aggregates = List.copyOf(aggregates);
        this.conditions = List.copyOf(conditions);
        this.keys = List.copyOf(keys);
        this.windows = windows;
    }

    public static SketchQuery select(Aggregate... aggregates) {
        return new SketchQuery(List.of(aggregates), List.of(), List.of(), Optional.empty());
    }

    /** Only rows that meet all of these, and those given before. */
    public SketchQuery where(Condition... more) {
        List<Condition> all = new ArrayList<>(conditions);
        all.addAll(List.of(more));
        return new SketchQuery(aggregates, all, keys, windows);
    }

    /** One answer for each combination of these features' values in the sketch that rows have, or may have. */
    public SketchQuery groupBy(String... features) {
        return new SketchQuery(aggregates, conditions, List.of(features), windows);
    }

    /** One answer for each window from a multiple of {@code ticks} to the next that has rows, or may have. */
    public SketchQuery tumbling(long ticks) {
        return sliding(ticks, ticks);
    }

    /** One answer for each window of {@code size} ticks that begins at a multiple of {@code slide} and has, or may have, rows. */
    public SketchQuery sliding(long size, long slide) {
        return new SketchQuery(aggregates, conditions, keys, Optional.of(new Windows(size, slide)));
    }

    List<Aggregate> aggregates() {
        return aggregates;
    }

    List<Condition> conditions() {
        return conditions;
    }

    List<String> keys() {
        return keys;
    }

    Optional<Windows> windows() {
        return windows;
    }

    /** How the question lies over a schema: of neighbouring sketches it is mostly the same. */
    Layout layout(SketchSchema schema) {
        Layout known = layout;
        if (known == null || !known.isOf(schema)) {
            known = new Layout(this, schema);
            layout = known;
        }
        return known;
    }

    /** An answer without any row yet. */
    public PartialAnswer begin() {
        return new PartialAnswer(this);
    }

    /** The answers of one sketch, by window; groups within one are in the order in which they were met. */
    public List<Row> run(Sketch sketch) {
        return begin().add(sketch).rows();
    }

    /** The answers of some sketches together. */
    public List<Row> run(Iterable<Sketch> sketches) {
        PartialAnswer answer = begin();
        sketches.forEach(answer::add);
        return answer.rows();
    }
}

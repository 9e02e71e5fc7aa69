package dev.millrace.sketch;

import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.time.Times;
import java.util.List;
import java.util.Optional;

/**
 * A segment of a stream in memory: the time of each row, and for each feature its symbols and their sequence. Immutable;
 * any number of threads may read it. Parts of a stored one are decoded when they are first needed.
 */
public final class Sketch {
    private final SketchSchema schema;
    private final Times times;
    private final long timeErrorTicks;
    private final List<Column> columns;
    private final Optional<Joint> joint;

    /**
     * Which combinations of ranks occur, and how often: what a joint form knows beforehand.
     *
     * @param combinations by combination and feature, the rank
     * @param counts how often each combination occurs
     */
    public record Joint(int[][] combinations, int[] counts) {}

    /**
     * Of parts that fit together.
     *
     * @param timeErrorTicks how far any of the times may be off
     */
    public Sketch(SketchSchema schema, Times times, long timeErrorTicks, List<Column> columns, Optional<Joint> joint) {
        assert columns.size() == schema.size() : columns.size() + " columns for " + schema.size() + " features";
        assert columns.stream().allMatch(column -> column.rows() == times.rows());
        this.schema = schema;
        this.times = times;
        this.timeErrorTicks = timeErrorTicks;
        this.columns = List.copyOf(columns);
        this.joint = joint;
    }

    public SketchSchema schema() {
        return schema;
    }

    public int rows() {
        return times.rows();
    }

    public Times times() {
        return times;
    }

    /** How far these times may be off: what holds here, at most what the schema allows. What holds for values, columns say. */
    public long timeErrorTicks() {
        return timeErrorTicks;
    }

    public Column column(int feature) {
        return columns.get(feature);
    }

    public List<Column> columns() {
        return columns;
    }

    /** Which combinations occur, where the segment is stored by combinations. */
    public Optional<Joint> joint() {
        return joint;
    }
}

package dev.millrace.server.sketched;

/**
 * What a column costs in some rows that keep it in one way.
 *
 * @param column its name; what files have beside the stream's columns begins with {@code #}
 * @param form {@code exact}, {@code sketch}, or {@code key}: exactly, once for each series
 * @param bytes in files; of a sketch about its part
 * @param error how far a value may be off at most; of a time in microseconds
 * @param why it has this form
 */
public record ColumnCost(String column, String form, long rows, long bytes, double error, String why) {
    static final String EXACT = "exact";
    static final String SKETCH = "sketch";
    static final String KEY = "key";

    /** Both together, of the same column, form and reason. */
    public ColumnCost plus(ColumnCost other) {
        return new ColumnCost(column, form, rows + other.rows, bytes + other.bytes, Math.max(error, other.error), why);
    }
}

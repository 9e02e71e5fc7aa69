package dev.millrace.sketch.stream;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Rows waiting to become a segment. {@link #row} begins one, with every feature NULL; the setters fill it in. Not
 * thread-safe.
 */
public final class Observations {
    private static final int FIRST_ROWS = 64;

    private final SketchSchema schema;
    private final Column[] columns;
    private long[] ticks = new long[FIRST_ROWS];
    private int rows;

    /** The values of one feature; only the array of its kind is used, and rows that are NULL have a value of no meaning. */
    static final class Column {
        final Feature.Kind kind;
        double[] numbers = {};
        long[] wholes = {};
        boolean[] nulls = new boolean[FIRST_ROWS];
        final Map<String, Integer> ids = new HashMap<>();
        final List<String> texts = new ArrayList<>();

        private Column(Feature.Kind kind) {
            this.kind = kind;
            grow(FIRST_ROWS);
        }

        private void grow(int size) {
            nulls = Arrays.copyOf(nulls, size);
            if (kind == Feature.Kind.NUMBER) {
                numbers = Arrays.copyOf(numbers, size);
            } else {
                wholes = Arrays.copyOf(wholes, size);
            }
        }
    }

    public Observations(SketchSchema schema) {
        this.schema = schema;
        columns = new Column[schema.size()];
        for (int f = 0; f < columns.length; f++) {
            columns[f] = new Column(schema.feature(f).kind());
        }
    }

    public SketchSchema schema() {
        return schema;
    }

    public int rows() {
        return rows;
    }

    /** Begins a row, all of it NULL. */
    public Observations row(long time) {
        if (rows == ticks.length) {
            ticks = Arrays.copyOf(ticks, 2 * rows);
            for (Column column : columns) {
                column.grow(2 * rows);
            }
        }
        ticks[rows] = time;
        for (Column column : columns) {
            column.nulls[rows] = true;
        }
        rows++;
        return this;
    }

    /** Sets a DOUBLE or REAL of the row begun last. */
    public Observations number(int feature, double value) {
        Column column = column(feature, Feature.Kind.NUMBER);
        column.numbers[rows - 1] = value;
        column.nulls[rows - 1] = false;
        return this;
    }

    /** Sets a whole number, date or timestamp. */
    public Observations whole(int feature, long value) {
        Column column = column(feature, Feature.Kind.WHOLE);
        column.wholes[rows - 1] = value;
        column.nulls[rows - 1] = false;
        return this;
    }

    public Observations bool(int feature, boolean value) {
        Column column = column(feature, Feature.Kind.BOOLEAN);
        column.wholes[rows - 1] = value ? 1 : 0;
        column.nulls[rows - 1] = false;
        return this;
    }

    public Observations text(int feature, String value) {
        Column column = column(feature, Feature.Kind.TEXT);
        Integer id = column.ids.get(value);
        if (id == null) {
            id = column.texts.size();
            column.ids.put(value, id);
            column.texts.add(value);
        }
        column.wholes[rows - 1] = id;
        column.nulls[rows - 1] = false;
        return this;
    }

    private Column column(int feature, Feature.Kind kind) {
        Column column = columns[feature];
        if (column.kind != kind || rows == 0) {
            throw MillraceException.user(
                    SqlState.DATATYPE_MISMATCH,
                    rows == 0
                            ? "begin a row before setting values"
                            : schema.feature(feature).name() + " is "
                                    + schema.feature(feature).type() + ", not a "
                                    + kind.name().toLowerCase(java.util.Locale.ROOT));
        }
        return column;
    }

    long[] ticks() {
        return ticks;
    }

    Column column(int feature) {
        return columns[feature];
    }

    /** Forgets all rows; keeps the memory. */
    void clear() {
        rows = 0;
        for (Column column : columns) {
            if (column.kind == Feature.Kind.TEXT) {
                column.ids.clear();
                column.texts.clear();
            }
        }
    }
}

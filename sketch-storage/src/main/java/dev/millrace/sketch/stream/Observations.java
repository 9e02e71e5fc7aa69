package dev.millrace.sketch.stream;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.form.Limits;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Rows waiting to become a segment. {@link #row} begins one, with every feature NULL; the setters fill it in. What a segment
 * cannot hold is refused here, and not when it is read: the row that has it is taken back. Not thread-safe.
 */
public final class Observations {
    private static final int FIRST_ROWS = 64;
    private static final int TEXT_OBJECT_BYTES = 120; // of a distinct text besides its characters, about

    private final SketchSchema schema;
    private final Runnable overflow;
    private final Column[] columns;
    private long[] ticks = new long[FIRST_ROWS];
    private int rows;
    private boolean begun; // whether there is a row to set values of
    private long textBytes; // of all distinct texts
    private long texts; // distinct, likewise

    /** The values of one feature; only the array of its kind is used, and rows that are NULL have a value of no meaning. */
    static final class Column {
        final Feature.Kind kind;
        double[] numbers = {};
        long[] wholes = {};
        boolean[] nulls = new boolean[FIRST_ROWS];
        final Map<String, Integer> ids = new HashMap<>();
        final List<String> texts = new ArrayList<>();
        private int textsBefore; // how many there were before the last row

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

        private void move(int from, int to) {
            nulls[to] = nulls[from];
            if (kind == Feature.Kind.NUMBER) {
                numbers[to] = numbers[from];
            } else {
                wholes[to] = wholes[from];
            }
        }
    }

    /**
     * Without rows.
     *
     * @param overflow called when the texts of the last row and those before it are more than a segment holds: closes the
     *     segment by {@link #withoutLast}
     */
    Observations(SketchSchema schema, Runnable overflow) {
        this.schema = schema;
        this.overflow = overflow;
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
            column.textsBefore = column.texts.size();
        }
        rows++;
        begun = true;
        return this;
    }

    /** Sets a DOUBLE or REAL of the row begun last; a REAL is rounded to one. */
    public Observations number(int feature, double value) {
        Column column = column(feature, Feature.Kind.NUMBER);
        column.numbers[rows - 1] = schema.feature(feature).isReal() ? (float) value : value;
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

    /**
     * Sets a text.
     *
     * @throws MillraceException if the row's texts are more than a segment holds (54000), or the text is no sequence of
     *     Unicode characters (22021): the row is taken back then; or if it is null (22004)
     */
    public Observations text(int feature, String value) {
        Column column = column(feature, Feature.Kind.TEXT);
        if (value == null) {
            throw MillraceException.user(
                            SqlState.NULL_VALUE_NOT_ALLOWED,
                            "the text of " + schema.feature(feature).name() + " must not be null")
                    .withHint("What is not set is NULL.");
        }
        if (!column.nulls[rows - 1]) {
            forget(column, (int) column.wholes[rows - 1]);
            column.nulls[rows - 1] = true;
        }
        Integer id = column.ids.get(value);
        if (id == null) {
            id = add(column, value, feature);
        }
        column.wholes[rows - 1] = id;
        column.nulls[rows - 1] = false;
        return this;
    }

    private int add(Column column, String value, int feature) {
        long bytes = bytes(value);
        if (bytes < 0) {
            takeBack();
            throw MillraceException.user(
                    SqlState.CHARACTER_NOT_IN_REPERTOIRE,
                    "the text of " + schema.feature(feature).name() + " has half of a pair of surrogates");
        }
        if (textBytes + bytes > Limits.TEXT_BYTES && rows > 1) {
            overflow.run();
        }
        if (textBytes + bytes > Limits.TEXT_BYTES) {
            long all = textBytes + bytes;
            takeBack();
            throw MillraceException.user(
                            SqlState.PROGRAM_LIMIT_EXCEEDED,
                            "the texts of a row have " + all + " bytes, and a segment of a sketch has at most "
                                    + Limits.TEXT_BYTES)
                    .withHint("Keep long texts elsewhere, and what finds them in the sketch.");
        }
        int id = column.texts.size();
        column.ids.put(value, id);
        column.texts.add(value);
        textBytes += bytes;
        texts++;
        return id;
    }

    /** Forgets a text that only the last row had. */
    private void forget(Column column, int id) {
        if (id >= column.textsBefore) {
            String text = column.texts.remove(id);
            column.ids.remove(text);
            textBytes -= bytes(text);
            texts--;
        }
    }

    /** The length in UTF-8; -1 where it has none. */
    private static long bytes(String text) {
        long bytes = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (!Character.isSurrogate(c)) {
                bytes += c < 0x80 ? 1 : c < 0x800 ? 2 : 3;
            } else if (Character.isHighSurrogate(c)
                    && i + 1 < text.length()
                    && Character.isLowSurrogate(text.charAt(i + 1))) {
                bytes += 4;
                i++;
            } else {
                return -1;
            }
        }
        return bytes;
    }

    private void takeBack() {
        for (Column column : columns) {
            if (column.kind == Feature.Kind.TEXT && !column.nulls[rows - 1]) {
                forget(column, (int) column.wholes[rows - 1]);
            }
        }
        rows--;
        begun = false;
    }

    /** Takes the last row out, has the others closed, and puts it back as the first of those that wait. */
    void withoutLast(Runnable close) {
        int last = rows - 1;
        long time = ticks[last];
        Map<Integer, String> texts = new HashMap<>();
        for (int f = 0; f < columns.length; f++) {
            Column column = columns[f];
            if (column.kind == Feature.Kind.TEXT && !column.nulls[last]) {
                texts.put(f, column.texts.get((int) column.wholes[last]));
            }
        }
        takeBack();
        close.run();
        row(time);
        for (Column column : columns) {
            column.move(last, 0); // what was closed is forgotten, its arrays are not
        }
        texts.forEach((f, text) -> {
            columns[f].nulls[0] = true;
            text(f, text);
        });
    }

    private Column column(int feature, Feature.Kind kind) {
        Column column = columns[feature];
        if (column.kind != kind || !begun) {
            throw MillraceException.user(
                    SqlState.DATATYPE_MISMATCH,
                    !begun
                            ? "begin a row before setting values"
                            : schema.feature(feature).name() + " is "
                                    + schema.feature(feature).type() + ", not a "
                                    + kind.name().toLowerCase(Locale.ROOT));
        }
        return column;
    }

    /** Bytes of the heap that it has, about; in constant time. */
    long memoryBytes() {
        return ticks.length * (Long.BYTES + columns.length * (Long.BYTES + 1L)) + textBytes + texts * TEXT_OBJECT_BYTES;
    }

    /** Without rows, gives back the memory of those that it had. */
    void release() {
        ticks = new long[FIRST_ROWS];
        for (int f = 0; f < columns.length; f++) {
            columns[f] = new Column(columns[f].kind);
        }
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
        begun = false;
        textBytes = 0;
        texts = 0;
        for (Column column : columns) {
            if (column.kind == Feature.Kind.TEXT) {
                column.ids.clear();
                column.texts.clear();
            }
        }
    }
}

package dev.millrace.server.device;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.batch.Vectors;
import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.sketch.Sketch;
import dev.millrace.sketch.materialise.ArrowOutput;
import dev.millrace.sketch.materialise.Materialisation;
import dev.millrace.sketch.materialise.SketchErrors;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;

/**
 * Rows of segments in the columns that a stream declares, by name. A column that the device does not have is NULL; a type that is not the declared one
 * has to be a narrower one of the same kind, or a timestamp.
 *
 * @param device the column with the device's name, if there is one
 * @param errors columns with how far the values of another one may be off, each by its place: of a time in microseconds
 */
record EdgeColumns(Schema schema, Optional<Integer> device, Map<Integer, Integer> errors) {
    /** What {@link #read} reads. */
    static final List<OptionDescription> OPTIONS = List.of(
            new OptionDescription("include.device", "", "a column of that name with the device's name"),
            new OptionDescription(
                    "include.error.COLUMN", "", "a column of that name with how far the values of another may be off"));

    private static final String ERROR_OF = "include.error.";

    EdgeColumns {
        errors = Map.copyOf(errors);
    }

    /**
     * The columns that are declared and those that options ask for behind them.
     *
     * @param declared some
     */
    static EdgeColumns read(Schema declared, Options options) {
        List<Field> fields = new ArrayList<>(declared.fields());
        Optional<Integer> device = options.text("include.device").map(column -> {
            add(new Field(column, DataType.TEXT, false), fields);
            return fields.size() - 1;
        });
        Map<Integer, Integer> errors = new HashMap<>();
        for (String option : new TreeSet<>(options.names())) {
            if (option.startsWith(ERROR_OF)) {
                int of = subject(declared, option);
                errors.put(fields.size(), of);
                add(new Field(options.required(option), DataType.DOUBLE, false), fields);
            }
        }
        return new EdgeColumns(new Schema(fields), device, errors);
    }

    private static void add(Field field, List<Field> fields) {
        if (fields.stream().anyMatch(other -> other.name().equals(field.name()))) {
            throw MillraceException.user(
                    SqlState.DUPLICATE_COLUMN, "column \"" + field.name() + "\" specified more than once");
        }
        fields.add(field);
    }

    /** The column whose error an option asks for. */
    private static int subject(Schema declared, String option) {
        String name = option.substring(ERROR_OF.length());
        int column = declared.indexOf(name);
        if (column < 0) {
            throw MillraceException.user(
                    SqlState.UNDEFINED_COLUMN, "option \"" + option + "\": column \"" + name + "\" does not exist");
        }
        if (!mayBeOff(declared.type(column))) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "option \"" + option + "\" is about a column of type " + declared.type(column)
                            + ", which devices send exactly");
        }
        return column;
    }

    /** Whether devices send values of a type within a bound, if they are told to. */
    static boolean mayBeOff(DataType type) {
        return switch (type.kind()) {
            case SMALLINT, INTEGER, BIGINT, REAL, DOUBLE, TIMESTAMP, TIMESTAMPTZ -> true;
            default -> false;
        };
    }

    /**
     * A batch of a segment's rows; the caller's.
     *
     * @throws MillraceException 42804 if a column has another type at the device
     */
    Batch batch(Sketch sketch, String deviceName, BufferAllocator allocator) {
        List<AutoCloseable> owned = new ArrayList<>();
        try {
            Batch rows = Materialisation.all().batch(sketch, allocator);
            owned.add(rows);
            FieldVector[] columns = new FieldVector[schema.size()];
            for (int c = 0; c < columns.length; c++) {
                Field field = schema.field(c);
                int at = find(rows.schema(), field.name());
                if (device.equals(Optional.of(c))) {
                    columns[c] = name(field, deviceName, rows.rowCount(), allocator);
                    owned.add(columns[c]);
                } else if (errors.containsKey(c)) {
                    int of = find(rows.schema(), schema.field(errors.get(c)).name());
                    columns[c] = SketchErrors.vector(field, error(sketch, of), rows.rowCount(), allocator);
                    owned.add(columns[c]);
                } else if (at < 0) {
                    columns[c] = Vectors.allocate(field, rows.rowCount(), 0, allocator);
                    owned.add(columns[c]);
                    nulls(columns[c], rows.rowCount());
                } else if (rows.schema().field(at).type().equals(field.type())) {
                    columns[c] = rows.column(at);
                } else {
                    columns[c] = converted(rows.schema().field(at), rows.column(at), field, rows.rowCount(), allocator);
                    owned.add(columns[c]);
                }
            }
            return Batch.view(schema, columns, rows.rowCount(), Optional.empty(), owned);
        } catch (RuntimeException | Error e) {
            Closing.all(owned);
            throw e;
        }
    }

    /** A batch of no rows; the caller's. */
    Batch nothing(BufferAllocator allocator) {
        return nothing(schema, allocator);
    }

    /** The same of another schema. */
    static Batch nothing(Schema schema, BufferAllocator allocator) {
        FieldVector[] none = new FieldVector[schema.size()];
        for (int c = 0; c < none.length; c++) {
            none[c] = Vectors.allocate(schema.field(c), 0, 0, allocator);
            Vectors.finish(none[c], 0);
        }
        return Batch.of(schema, none, 0);
    }

    /** How far any value of a column of {@link ArrowOutput#schema} may be off in this sketch; 0 of one that the device does not have. */
    private static double error(Sketch sketch, int column) {
        double error = column < 0 ? 0 : SketchErrors.of(sketch, column - 1);
        boolean isReal =
                column > 0 && sketch.schema().feature(column - 1).type().kind() == DataType.Kind.REAL;
        if (error == 0 || !isReal) {
            return error;
        }
        double most = 0; // what is shown is rounded to a REAL
        for (double value : sketch.column(column - 1).numbers().values()) {
            most = Double.isNaN(value) ? most : Math.max(most, Math.abs(value));
        }
        return Math.nextUp(error + Math.ulp((float) most));
    }

    private static int find(Schema in, String name) {
        int exact = in.indexOf(name);
        for (int i = 0; exact < 0 && i < in.size(); i++) {
            if (in.field(i).name().equalsIgnoreCase(name)) {
                return i;
            }
        }
        return exact;
    }

    private static FieldVector name(Field field, String device, int rows, BufferAllocator allocator) {
        byte[] bytes = device.getBytes(StandardCharsets.UTF_8);
        FieldVector vector = Vectors.allocate(field, rows, (long) bytes.length * rows, allocator);
        for (int row = 0; row < rows; row++) {
            Memory.copyIn(bytes, 0, vector.getDataBufferAddress() + (long) row * bytes.length, bytes.length);
            Memory.putInt(vector.getOffsetBufferAddress() + 4L * row + 4, (row + 1) * bytes.length);
        }
        Vectors.setAllValid(vector, rows);
        Vectors.finish(vector, rows);
        return vector;
    }

    private static void nulls(FieldVector vector, int rows) {
        if (vector instanceof org.apache.arrow.vector.BaseVariableWidthVector) {
            Memory.fill(vector.getOffsetBufferAddress(), 4 * (rows + 1), (byte) 0);
        }
        Vectors.finish(vector, rows);
    }

    private static FieldVector converted(Field from, FieldVector given, Field to, int rows, BufferAllocator allocator) {
        DataType.Kind wide = to.type().kind();
        DataType.Kind narrow = from.type().kind();
        boolean times = isTimestamp(wide) && isTimestamp(narrow);
        boolean numbers = wide == DataType.Kind.DOUBLE && narrow == DataType.Kind.REAL;
        boolean wholes = (wide == DataType.Kind.BIGINT || wide == DataType.Kind.INTEGER)
                && (narrow == DataType.Kind.SMALLINT
                        || narrow == DataType.Kind.INTEGER && wide == DataType.Kind.BIGINT);
        if (!times && !numbers && !wholes) {
            throw MillraceException.user(
                    SqlState.DATATYPE_MISMATCH,
                    "column \"" + to.name() + "\" is " + to.type() + ", and the device has " + from.type());
        }
        FieldVector vector = Vectors.allocate(to, rows, 0, allocator);
        long data = given.getDataBufferAddress();
        long into = vector.getDataBufferAddress();
        for (int row = 0; row < rows; row++) {
            if (times) {
                Memory.putLong(into + 8L * row, Memory.getLong(data + 8L * row));
            } else if (numbers) {
                double value = Float.intBitsToFloat(Memory.getInt(data + 4L * row));
                Memory.putLong(into + 8L * row, Double.doubleToRawLongBits(value));
            } else {
                long whole = narrow == DataType.Kind.SMALLINT
                        ? Memory.getShort(data + 2L * row)
                        : Memory.getInt(data + 4L * row);
                if (wide == DataType.Kind.BIGINT) {
                    Memory.putLong(into + 8L * row, whole);
                } else {
                    Memory.putInt(into + 4L * row, (int) whole);
                }
            }
        }
        Memory.copy(given.getValidityBufferAddress(), vector.getValidityBufferAddress(), rows + 7 >>> 3);
        Vectors.finish(vector, rows);
        return vector;
    }

    private static boolean isTimestamp(DataType.Kind kind) {
        return kind == DataType.Kind.TIMESTAMP || kind == DataType.Kind.TIMESTAMPTZ;
    }
}

package dev.millrace.sql.bind.type;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.syntax.IntervalFields;
import dev.millrace.sql.syntax.TypeSpec;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.PlainNumeric;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** PostgreSQL's names of types. */
public final class TypeNames {
    private static final int MOST_DIGITS = 1000; // that PostgreSQL has declared, on both sides of the point

    private static final DataType LIMITED_NUMERIC = DataType.numeric(38, 16);

    /** The type of JSON paths, which is TEXT; a cast to it writes a path anew. */
    public static final String JSON_PATH = "jsonpath";

    private static final Map<String, DataType> SIMPLE = new HashMap<>();

    static {
        name(DataType.BOOLEAN, "boolean", "bool", "logical");
        name(DataType.SMALLINT, "smallint", "int2", "short", "int16");
        name(DataType.INTEGER, "integer", "int", "int4", "signed", "int32");
        name(DataType.BIGINT, "bigint", "int8", "long", "int64");
        name(DataType.REAL, "real", "float4");
        // DuckDB's, whose values the next wider type holds.
        name(DataType.SMALLINT, "tinyint", "int1", "utinyint");
        name(DataType.INTEGER, "usmallint");
        name(DataType.BIGINT, "uinteger");
        name(DataType.numeric(20, 0), "ubigint");
        name(DataType.numeric(38, 0), "hugeint", "uhugeint");
        name(DataType.DOUBLE, "float8", "double", "float");
        name(DataType.TEXT, "text", "string", "name", "regclass", "regtype", "regproc");
        name(DataType.BYTEA, "bytea", "blob", "binary", "varbinary", "bytes");
        name(DataType.DATE, "date");
        name(DataType.TIME, "time");
        name(DataType.TIMESTAMP, "timestamp", "datetime", "timestamp_us", "timestamp_ms", "timestamp_s");
        name(DataType.TIMESTAMPTZ, "timestamptz");
        name(DataType.INTERVAL, "interval");
        name(DataType.UUID, "uuid", "guid");
        name(DataType.JSONB, "jsonb", "json");
        name(DataType.TEXT, JSON_PATH);
        name(DataType.INTEGER, "oid");
    }

    private TypeNames() {}

    /** NUMERIC where nothing says how many digits. */
    public static DataType undeclaredNumeric() {
        return PlainNumeric.isUnlimited() ? DataType.BIGNUM : LIMITED_NUMERIC;
    }

    private static void name(DataType type, String... names) {
        for (String name : names) {
            SIMPLE.put(name, type);
        }
    }

    /** Whether the type is NUMERIC without a number of digits, which a cast takes from its operand. */
    public static boolean isUndeclaredNumeric(TypeSpec spec) {
        return spec.arguments().isEmpty() && spec.dimensions() == 0 && isNumeric(spec.name());
    }

    /** The fields of an interval, where the type says which. */
    public static Optional<IntervalFields> fields(TypeSpec spec) {
        return spec.name().equals("interval")
                        && spec.dimensions() == 0
                        && spec.arguments().size() == 2
                ? IntervalFields.ofNumber(spec.arguments().get(1))
                : Optional.empty();
    }

    private static boolean isNumeric(String name) {
        return name.equals("numeric") || name.equals("decimal") || name.equals("dec");
    }

    /** The type that a name means; 42704 when there is none. */
    public static DataType resolve(TypeSpec spec) {
        DataType type = element(spec);
        for (int i = 0; i < spec.dimensions(); i++) {
            type = DataType.array(type);
        }
        return type;
    }

    private static DataType element(TypeSpec spec) {
        String name = spec.name();
        List<Integer> arguments = spec.arguments();
        if (isNumeric(name)) {
            return numeric(spec, arguments);
        }
        switch (name) {
            case "row" -> {
                return row(spec);
            }
            case "varchar" -> {
                return DataType.varchar(length(spec, 0));
            }
            case "char", "character", "bpchar" -> {
                return DataType.character(length(spec, 1));
            }
            case "float" -> {
                return !arguments.isEmpty() && arguments.get(0) <= 24 ? DataType.REAL : DataType.DOUBLE;
            }
            case "timetz" ->
                throw MillraceException.notAvailableYet("the type time with time zone")
                        .at(spec.getParserPos().getColumnNum())
                        .withHint("TIME, or TIMESTAMPTZ, which knows the day that a zone's offset depends on");
            default -> {
                DataType type = SIMPLE.get(name);
                if (type != null) {
                    return type;
                }
                Optional<DataType> array = arguments.isEmpty() ? arrayOf(name) : Optional.empty();
                if (array.isPresent()) {
                    return array.get();
                }
            }
        }
        Optional<String> instead = ForeignTypes.instead(name);
        if (instead.isPresent()) {
            throw MillraceException.notAvailableYet("the type " + name)
                    .at(spec.getParserPos().getColumnNum())
                    .withHint(instead.get());
        }
        List<String> known = new ArrayList<>(SIMPLE.keySet());
        known.addAll(List.of("numeric", "decimal", "varchar", "char"));
        throw Errors.suggest(
                Errors.error(SqlState.UNDEFINED_OBJECT, "type \"" + name + "\" does not exist", spec.getParserPos()),
                name,
                known);
    }

    /** PostgreSQL's catalog names the array of a type by a low line before its name: {@code _int4}. */
    private static Optional<DataType> arrayOf(String name) {
        if (!name.startsWith("_")) {
            return Optional.empty();
        }
        String element = name.substring(1);
        DataType type = switch (element) {
            case "numeric" -> undeclaredNumeric();
            case "varchar" -> DataType.varchar(0);
            default -> SIMPLE.get(element);
        };
        return Optional.ofNullable(type).map(DataType::array);
    }

    private static DataType row(TypeSpec spec) {
        List<Field> fields = new ArrayList<>();
        for (int i = 0; i < spec.fieldNames().size(); i++) {
            String name = spec.fieldNames().get(i).getSimple();
            if (fields.stream().anyMatch(field -> field.name().equals(name))) {
                throw Errors.error(
                        SqlState.DUPLICATE_COLUMN,
                        "field \"" + name + "\" of a row type is given twice",
                        spec.fieldNames().get(i));
            }
            fields.add(new Field(name, resolve(spec.fieldTypes().get(i)), true));
        }
        return DataType.row(fields);
    }

    private static DataType numeric(TypeSpec spec, List<Integer> arguments) {
        if (arguments.isEmpty()) {
            return undeclaredNumeric();
        }
        int precision = arguments.get(0);
        int scale = arguments.size() > 1 ? arguments.get(1) : 0;
        boolean isOrdinary =
                precision >= 1 && precision <= DataType.MAX_NUMERIC_PRECISION && scale >= 0 && scale <= precision;
        if (!isOrdinary && PlainNumeric.isUnlimited()) {
            return bignum(spec, precision, scale);
        }
        if (precision < 1 || precision > DataType.MAX_NUMERIC_PRECISION) {
            throw Errors.error(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "NUMERIC precision " + precision + " must be between 1 and " + DataType.MAX_NUMERIC_PRECISION,
                    spec.getParserPos());
        }
        if (scale < 0 || scale > precision) {
            throw Errors.error(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "NUMERIC scale " + scale + " must be between 0 and precision " + precision,
                    spec.getParserPos());
        }
        return DataType.numeric(precision, scale);
    }

    private static DataType bignum(TypeSpec spec, int precision, int scale) {
        if (precision < 1 || precision > MOST_DIGITS) {
            throw Errors.error(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "NUMERIC precision " + precision + " must be between 1 and " + MOST_DIGITS,
                    spec.getParserPos());
        }
        if (Math.abs((long) scale) > MOST_DIGITS) {
            throw Errors.error(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "NUMERIC scale " + scale + " must be between -" + MOST_DIGITS + " and " + MOST_DIGITS,
                    spec.getParserPos());
        }
        return DataType.bignum(precision, scale);
    }

    private static int length(TypeSpec spec, int ifMissing) {
        if (spec.arguments().isEmpty()) {
            return ifMissing;
        }
        int length = spec.arguments().get(0);
        if (length < 1) {
            throw Errors.error(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "length for type " + spec.name() + " must be at least 1",
                    spec.getParserPos());
        }
        return length;
    }
}

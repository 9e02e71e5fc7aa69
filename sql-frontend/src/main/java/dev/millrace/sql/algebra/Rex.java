package dev.millrace.sql.algebra;

import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.text.CivilDays;
import dev.millrace.text.TimeRange;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.math.BigDecimal;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.apache.calcite.avatica.util.ByteString;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCollation;
import org.apache.calcite.sql.SqlFunction;
import org.apache.calcite.sql.SqlFunctionCategory;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlOperator;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.type.SqlTypeName;
import org.apache.calcite.util.DateString;
import org.apache.calcite.util.NlsString;
import org.apache.calcite.util.TimeString;
import org.apache.calcite.util.TimestampString;

/** Makes row expressions: calls by canonical function name, and constants of our types. Safe on any thread. */
public final class Rex {
    static final String TUMBLE = "TUMBLE";
    static final String HOP = "HOP";
    static final String CUMULATE = "CUMULATE";
    static final String SESSION = "SESSION";

    /** Stands for an INTERVAL constant: months, days, microseconds. */
    static final String INTERVAL_CONSTANT = "interval_constant";

    private static final long MICROS_PER_SECOND = 1_000_000;
    private static final long SECONDS_PER_DAY = 86_400;
    private static final long FIRST_DAY = -719_162; // 0001-01-01
    private static final long LAST_DAY = 2_932_896; // 9999-12-31

    private static final Builder BUILDER = new Builder();

    private static final Map<String, SqlOperator> STANDARD = Map.ofEntries(
            Map.entry("eq", SqlStdOperatorTable.EQUALS),
            Map.entry("ne", SqlStdOperatorTable.NOT_EQUALS),
            Map.entry("lt", SqlStdOperatorTable.LESS_THAN),
            Map.entry("le", SqlStdOperatorTable.LESS_THAN_OR_EQUAL),
            Map.entry("gt", SqlStdOperatorTable.GREATER_THAN),
            Map.entry("ge", SqlStdOperatorTable.GREATER_THAN_OR_EQUAL),
            Map.entry("is_distinct_from", SqlStdOperatorTable.IS_DISTINCT_FROM),
            Map.entry("is_not_distinct_from", SqlStdOperatorTable.IS_NOT_DISTINCT_FROM),
            Map.entry("is_null", SqlStdOperatorTable.IS_NULL),
            Map.entry("is_not_null", SqlStdOperatorTable.IS_NOT_NULL),
            Map.entry("is_true", SqlStdOperatorTable.IS_TRUE),
            Map.entry("is_not_true", SqlStdOperatorTable.IS_NOT_TRUE),
            Map.entry("is_false", SqlStdOperatorTable.IS_FALSE),
            Map.entry("is_not_false", SqlStdOperatorTable.IS_NOT_FALSE),
            Map.entry("and", SqlStdOperatorTable.AND),
            Map.entry("or", SqlStdOperatorTable.OR),
            Map.entry("not", SqlStdOperatorTable.NOT),
            Map.entry("add", SqlStdOperatorTable.PLUS),
            Map.entry("subtract", SqlStdOperatorTable.MINUS),
            Map.entry("multiply", SqlStdOperatorTable.MULTIPLY),
            Map.entry("divide", SqlStdOperatorTable.DIVIDE),
            Map.entry("mod", SqlStdOperatorTable.MOD),
            Map.entry("negate", SqlStdOperatorTable.UNARY_MINUS));

    private static final Map<SqlOperator, String> STANDARD_NAMES =
            STANDARD.entrySet().stream().collect(Collectors.toMap(Map.Entry::getValue, Map.Entry::getKey));

    private static final Map<String, SqlOperator> FUNCTIONS = new ConcurrentHashMap<>();

    private Rex() {}

    /** The one builder. */
    public static RexBuilder builder() {
        return BUILDER;
    }

    /** A call of the function with this canonical name; arguments must be of the types that it takes. */
    public static RexNode call(String function, List<RexNode> arguments, DataType type, boolean nullable) {
        return BUILDER.makeCall(TypeMapper.relType(type, nullable), operator(function), arguments);
    }

    /** The operator of a canonical name. */
    static SqlOperator operator(String function) {
        SqlOperator standard = STANDARD.get(function);
        return standard != null ? standard : FUNCTIONS.computeIfAbsent(function, Function::new);
    }

    /** The canonical name of an operator. */
    static String name(SqlOperator operator) {
        String standard = STANDARD_NAMES.get(operator);
        return standard != null ? standard : operator.getName();
    }

    public static RexNode cast(RexNode node, DataType type) {
        boolean nullable = node.getType().isNullable()
                || TypeMapper.dataType(node.getType()).mayBecomeNullAs(type);
        return BUILDER.makeAbstractCast(TypeMapper.relType(type, nullable), node, false);
    }

    public static RexLiteral nullOf(DataType type) {
        return BUILDER.makeNullLiteral(TypeMapper.relType(type, true));
    }

    /** A constant whose type is not decided yet: a quoted text, before its context gives it one. */
    public static RexLiteral unknown(String text) {
        return BUILDER.literal(characters(text), TypeMapper.unknownType(), SqlTypeName.CHAR);
    }

    private static NlsString characters(String text) {
        return new NlsString(text, "UTF-8", SqlCollation.COERCIBLE);
    }

    /** A constant. */
    public static RexNode literal(Literal literal) {
        DataType type = literal.type();
        RelDataType relType = TypeMapper.relType(type, false);
        Object value = literal.value();
        return switch (type.kind()) {
            case BOOLEAN -> BUILDER.makeLiteral((Boolean) value);
            case SMALLINT, INTEGER, BIGINT ->
                BUILDER.literal(BigDecimal.valueOf((Long) value), relType, SqlTypeName.DECIMAL);
            case NUMERIC -> BUILDER.literal((BigDecimal) value, relType, SqlTypeName.DECIMAL);
            case REAL, DOUBLE -> {
                double number = (Double) value;
                yield Double.isFinite(number)
                        ? BUILDER.literal((Double) value, relType, SqlTypeName.DOUBLE)
                        : BUILDER.makeAbstractCast(relType, text(Double.toString(number)), false);
            }
            case TEXT, VARCHAR, CHAR -> BUILDER.literal(characters((String) value), relType, SqlTypeName.CHAR);
            case JSONB, BIGNUM -> BUILDER.makeAbstractCast(relType, text(value.toString()), false);
            case BYTEA -> BUILDER.literal(byteString((List<?>) value), relType, SqlTypeName.BINARY);
            case DATE ->
                !TimeRange.isDay((Long) value)
                        ? infinite(type, (Long) value)
                        : isFar((Long) value)
                                ? BUILDER.makeAbstractCast(relType, text(farDate((Long) value, "")), false)
                                : BUILDER.literal(
                                        DateString.fromDaysSinceEpoch(((Long) value).intValue()),
                                        relType,
                                        SqlTypeName.DATE);
            case TIME ->
                (Long) value == 86_400 * MICROS_PER_SECOND // which Calcite has no constant of
                        ? BUILDER.makeAbstractCast(relType, text("24:00:00"), false)
                        : BUILDER.literal(time((Long) value), relType, SqlTypeName.TIME);
            case TIMESTAMP, TIMESTAMPTZ ->
                !TimeRange.isFinite((Long) value)
                        ? infinite(type, (Long) value)
                        : type.kind() == Kind.TIMESTAMP
                                ? timestamp((Long) value, relType, SqlTypeName.TIMESTAMP, "")
                                : timestamp((Long) value, relType, SqlTypeName.TIMESTAMP_WITH_LOCAL_TIME_ZONE, "+00");
            case INTERVAL -> {
                IntervalValue interval = (IntervalValue) value;
                yield call(
                        INTERVAL_CONSTANT,
                        List.of(bigint(interval.months()), bigint(interval.days()), bigint(interval.micros())),
                        DataType.INTERVAL,
                        false);
            }
            case UUID -> BUILDER.makeUuidLiteral((UUID) value);
            case ARRAY ->
                BUILDER.makeCall(
                        relType,
                        SqlStdOperatorTable.ARRAY_VALUE_CONSTRUCTOR,
                        ((List<?>) value)
                                .stream()
                                        .map(element -> element instanceof Optional<?>
                                                ? nullOf(type.element())
                                                : literal(new Literal(element, type.element())))
                                        .toList());
            case ROW -> {
                List<RexNode> fields = new ArrayList<>();
                for (int i = 0; i < type.fields().size(); i++) {
                    DataType field = type.fields().get(i).type();
                    Object item = ((List<?>) value).get(i);
                    fields.add(item instanceof Optional<?> ? nullOf(field) : literal(new Literal(item, field)));
                }
                yield call("make_row", fields, type, false);
            }
            case NULL -> throw new IllegalArgumentException("no constant of type " + type);
        };
    }

    /** A TEXT constant. */
    public static RexNode text(String text) {
        return literal(new Literal(text, DataType.TEXT));
    }

    /** A BIGINT constant. */
    public static RexNode bigint(long value) {
        return literal(new Literal(value, DataType.BIGINT));
    }

    private static ByteString byteString(List<?> bytes) {
        byte[] array = new byte[bytes.size()];
        for (int i = 0; i < array.length; i++) {
            array[i] = (Byte) bytes.get(i);
        }
        return new ByteString(array);
    }

    private static TimeString time(long micros) {
        TimeString time = TimeString.fromMillisOfDay((int) (micros / MICROS_PER_SECOND) * 1000);
        return time.withNanos((int) (micros % MICROS_PER_SECOND) * 1000);
    }

    /** A constant that may be NULL as far as types know, so that what has no value for it, as extract(day ..), gives NULL. */
    private static RexNode infinite(DataType type, long value) {
        RexNode text = text(value > 0 ? "infinity" : "-infinity");
        return BUILDER.makeAbstractCast(TypeMapper.relType(type, true), text, false);
    }

    private static RexNode timestamp(long micros, RelDataType relType, SqlTypeName typeName, String zone) {
        long seconds = Math.floorDiv(micros, MICROS_PER_SECOND);
        int nanos = (int) Math.floorMod(micros, MICROS_PER_SECOND) * 1000;
        long day = Math.floorDiv(seconds, SECONDS_PER_DAY);
        if (isFar(day)) {
            String time = " "
                    + LocalTime.ofSecondOfDay(seconds - day * SECONDS_PER_DAY)
                            .withNano(nanos)
                            .format(DateTimeFormatter.ISO_LOCAL_TIME);
            return BUILDER.makeAbstractCast(relType, text(farDate(day, time + zone)), false);
        }
        return BUILDER.literal(
                TimestampString.fromMillisSinceEpoch(seconds * 1000).withNanos(nanos), relType, typeName);
    }

    /** Whether Calcite has no constant of it. */
    private static boolean isFar(long day) {
        return day < FIRST_DAY || day > LAST_DAY;
    }

    private static String farDate(long day, String time) {
        long packed = CivilDays.packed(day);
        long year = packed >> 9;
        return "%04d-%02d-%02d%s%s"
                .formatted(year < 1 ? 1 - year : year, packed >> 5 & 15, packed & 31, time, year < 1 ? " BC" : "");
    }

    /** The builder, with literals of any type. */
    private static final class Builder extends RexBuilder {
        Builder() {
            super(TypeMapper.factory());
        }

        RexLiteral literal(Comparable<?> value, RelDataType type, SqlTypeName typeName) {
            return makeLiteral(value, type, typeName);
        }
    }

    /** A function of the catalog; its types are decided where it is bound. */
    private static final class Function extends SqlFunction {
        private static final long serialVersionUID = 1L;

        Function(String name) {
            super(
                    name,
                    SqlKind.OTHER_FUNCTION,
                    binding -> {
                        throw new UnsupportedOperationException("the type of " + name + " is decided when it is bound");
                    },
                    null,
                    null,
                    SqlFunctionCategory.USER_DEFINED_FUNCTION);
        }

        @Override
        public boolean isDeterministic() {
            return !Set.of("proctime", "now", "clock_timestamp", "random", "random_uuid", "sleep_seconds")
                            .contains(getName())
                    && !getName().contains(Expression.EACH_TIME);
        }
    }

    /** What is true where a condition is false. */
    public static RexNode not(RexNode condition) {
        return call(
                "not", List.of(condition), DataType.BOOLEAN, condition.getType().isNullable());
    }

    /** Conditions as one. @param name {@code and} or {@code or} */
    public static RexNode combine(String name, List<RexNode> parts) {
        return parts.size() == 1
                ? parts.get(0)
                : call(
                        name,
                        parts,
                        DataType.BOOLEAN,
                        parts.stream().anyMatch(part -> part.getType().isNullable()));
    }
}

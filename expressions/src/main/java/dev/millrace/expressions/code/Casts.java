package dev.millrace.expressions.code;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.Conversions;
import dev.millrace.expressions.function.Texts;
import dev.millrace.expressions.function.nested.JsonFunctions;
import dev.millrace.expressions.function.number.Bignums;
import dev.millrace.expressions.function.number.Decimals;
import dev.millrace.expressions.function.number.Numbers;
import dev.millrace.expressions.function.time.Timestamps;
import dev.millrace.text.TimeRange;
import dev.millrace.text.ValueParser;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.util.List;

/** Casts between all types, as PostgreSQL's explicit ones. */
final class Casts {
    private static final String DAY_MICROS = "86400000000L";

    private final ExpressionCompiler compiler;
    private String parser = "";

    Casts(ExpressionCompiler compiler) {
        this.compiler = compiler;
    }

    Value cast(Value value, DataType type) {
        DataType from = value.type();
        if (from.equals(type)) {
            return value;
        }
        if (value.isNull().equals(Value.ALWAYS)) {
            return Value.nullOf(type);
        }
        if (from.isNested() || type.isNested()) {
            require(from.isNested() ? type.isNested() || type.isText() : from.isText(), from, type);
            Value cast = compiler.nested().cast(value, type.isText() ? DataType.TEXT : type);
            return type.isText() ? cast(cast, type) : cast;
        }
        if (type.kind() == Kind.JSONB || from.kind() == Kind.JSONB) {
            return json(value, type);
        }
        return switch (type.kind()) {
            case TEXT, JSONB -> toText(value, type);
            case VARCHAR, CHAR -> truncated(toText(value, DataType.TEXT), type);
            case BOOLEAN, SMALLINT, INTEGER, BIGINT, REAL, DOUBLE -> toPrimitive(value, type);
            case NUMERIC -> toNumeric(value, type);
            case BIGNUM -> limited(toBignum(value), type);
            case DATE, TIME, TIMESTAMP, TIMESTAMPTZ -> toTime(value, type);
            case INTERVAL, UUID, BYTEA -> toOther(value, type);
            case ARRAY, ROW, NULL -> throw cannot(from, type);
        };
    }

    private Value json(Value value, DataType type) {
        if (type.kind() == Kind.JSONB) {
            require(value.type().isText(), value.type(), type);
            return compiler.strictCall(
                    type, List.of(value), compiler.nested().json() + ".parse(" + value.arguments(), false);
        }
        String functions = compiler.kernel().use(JsonFunctions.class) + ".";
        if (type.isText()) {
            return truncated(value.as(DataType.TEXT), type.kind() == Kind.TEXT ? DataType.varchar(0) : type)
                    .as(type);
        }
        if (type.kind() == Kind.BOOLEAN) {
            String json = "(" + value.arguments() + ")";
            return compiler.strict(
                    type,
                    List.of(value),
                    List.of(functions + "isBoolean" + json),
                    List.of(functions + "toBoolean" + json),
                    true);
        }
        require(type.isNumber(), value.type(), type);
        String name = type.isExact() ? "numeric" : type.toString();
        String text = functions + "number(" + value.arguments() + ", \"" + name + "\"";
        Value number = compiler.strictCall(DataType.TEXT, List.of(value), text, true);
        return type.isInteger() ? cast(cast(number, DataType.numeric(38, 6)), type) : cast(number, type);
    }

    private static MillraceException cannot(DataType from, DataType to) {
        return MillraceException.user(SqlState.CANNOT_COERCE, "cannot cast type " + from + " to " + to);
    }

    private String conversions(String method) {
        return compiler.kernel().use(Conversions.class) + "." + method + "(";
    }

    private Value strict(DataType type, Value value, String code) {
        return compiler.strict(type, List.of(value), code);
    }

    private Value total(DataType type, Value value, String... code) {
        return compiler.total(type, List.of(value), code);
    }

    /** The kernel's parser of texts. */
    String parser() {
        if (parser.isEmpty()) {
            parser = compiler.kernel().field(compiler.kernel().use(ValueParser.class), "p", "new ValueParser()");
        }
        return parser;
    }

    private Value parsed(DataType type, Value value, String method) {
        return strict(type, value, parser() + "." + method + "(" + value.arguments() + ")");
    }

    private Value toText(Value value, DataType type) {
        DataType from = value.type();
        String method = switch (from.kind()) {
            case TEXT, VARCHAR, CHAR, JSONB -> "";
            case BOOLEAN -> "ofBoolean";
            case SMALLINT, INTEGER, BIGINT -> "ofInteger";
            case REAL -> "ofReal";
            case DOUBLE -> "ofDouble";
            case NUMERIC -> "ofNumeric";
            case BIGNUM -> "ofBignum";
            case BYTEA -> "ofBytea";
            case DATE -> "ofDate";
            case TIME -> "ofTime";
            case TIMESTAMP -> "ofTimestamp";
            case TIMESTAMPTZ -> "ofTimestamptz";
            case INTERVAL -> "ofInterval";
            case UUID -> "ofUuid";
            case ARRAY, ROW, NULL -> throw cannot(from, type);
        };
        if (method.isEmpty()) {
            return value.as(type);
        }
        String arguments = from.kind() == Kind.NUMERIC ? Numerics.wide(value) + ", " + from.scale() : value.arguments();
        return compiler.strictCall(type, List.of(value), conversions(method) + arguments, false);
    }

    private Value truncated(Value value, DataType type) {
        boolean unlimited = type.kind() == Kind.VARCHAR && type.precision() == 0;
        if (unlimited) {
            return value.as(type);
        }
        String method = type.kind() == Kind.CHAR ? "character" : "truncate";
        String call =
                compiler.kernel().use(Texts.class) + "." + method + "(" + value.arguments() + ", " + type.precision();
        return compiler.strictCall(type, List.of(value), call, false);
    }

    private Value toPrimitive(Value value, DataType type) {
        DataType from = value.type();
        String method = switch (type.kind()) {
            case BOOLEAN -> "bool";
            case REAL -> "real";
            case DOUBLE -> "float8";
            default -> type.kind().name().toLowerCase(java.util.Locale.ROOT);
        };
        if (from.isText()) {
            return parsed(type, value, method);
        }
        if (from.kind() == Kind.BOOLEAN && type.isInteger()) {
            return total(type, value, value.code() + " ? 1 : 0");
        }
        if (from.isInteger() && type.kind() == Kind.BOOLEAN) {
            return total(type, value, value.code() + " != 0");
        }
        if (!from.isNumber() || type.kind() == Kind.BOOLEAN) {
            throw cannot(from, type);
        }
        String numbers = compiler.kernel().use(Numbers.class) + ".";
        boolean toFloat = type.kind() == Kind.REAL || type.kind() == Kind.DOUBLE;
        if (from.kind() == Kind.BIGNUM) {
            String name = type.kind() == Kind.DOUBLE ? "Double" : capitalised(method);
            return strict(type, value, bignums("to" + name) + value.arguments() + ")");
        }
        if (from.kind() == Kind.NUMERIC) {
            String wide = Numerics.wide(value) + ", " + from.scale() + ")";
            String decimals = compiler.kernel().use(Decimals.class) + ".";
            return switch (type.kind()) {
                case DOUBLE -> total(type, value, decimals + "toDouble(" + wide);
                case REAL -> total(type, value, "(float) " + decimals + "toDouble(" + wide);
                case BIGINT -> strict(type, value, decimals + "toBigint(" + wide);
                case INTEGER -> strict(type, value, decimals + "toInteger(" + wide);
                default -> strict(type, value, decimals + "toSmallint(" + wide);
            };
        }
        if (from.isInteger() && toFloat) {
            return total(type, value, "(" + Repr.of(type).javaTypes().get(0) + ") " + value.code());
        }
        if (from.kind() == Kind.REAL && type.kind() == Kind.DOUBLE) {
            return total(type, value, "(double) " + value.code());
        }
        boolean widening = from.isInteger() && from.kind().compareTo(type.kind()) < 0;
        if (widening) {
            return total(type, value, "(" + Repr.of(type).javaTypes().get(0) + ") " + value.code());
        }
        return strict(type, value, numbers + "to" + capitalised(method) + "(" + value.code() + ")");
    }

    private static String capitalised(String name) {
        return Character.toUpperCase(name.charAt(0)) + name.substring(1);
    }

    private String bignums(String method) {
        return compiler.kernel().use(Bignums.class) + "." + method + "(";
    }

    /** A number with the digits that a type has. */
    private Value limited(Value number, DataType type) {
        if (type.precision() == 0) {
            return number.as(type);
        }
        String call = bignums("limit") + number.arguments() + ", " + type.precision() + ", " + type.scale();
        return compiler.strictCall(type, List.of(number), call, false);
    }

    private Value toBignum(Value value) {
        DataType from = value.type();
        if (from.kind() == Kind.BIGNUM) {
            return value;
        }
        String call = switch (from.kind()) {
            case TEXT, VARCHAR, CHAR -> conversions("bignum") + parser() + ", " + value.arguments();
            case SMALLINT, INTEGER, BIGINT -> bignums("ofLong") + value.code();
            case NUMERIC -> bignums("ofNumeric") + Numerics.wide(value) + ", " + from.scale();
            case REAL -> bignums("ofReal") + value.code();
            case DOUBLE -> bignums("ofDouble") + value.code();
            default -> throw cannot(from, DataType.BIGNUM);
        };
        return compiler.strictCall(DataType.BIGNUM, List.of(value), call, false);
    }

    private Value toNumeric(Value value, DataType type) {
        DataType from = value.type();
        String decimals = compiler.kernel().use(Decimals.class) + ".";
        String target = ", " + type.precision() + ", " + type.scale();
        if (from.isText()) {
            String call = conversions("numeric") + parser() + ", " + value.arguments() + target;
            return compiler.strictCall(type, List.of(value), call, false);
        }
        return switch (from.kind()) {
            case SMALLINT, INTEGER, BIGINT -> integerToNumeric(value, type);
            case REAL, DOUBLE -> {
                String method = from.kind() == Kind.REAL ? "fromReal(" : "fromDouble(";
                yield compiler.strictCall(type, List.of(value), decimals + method + value.code() + target, false);
            }
            case NUMERIC -> numericToNumeric(value, type);
            case BIGNUM ->
                compiler.strictCall(type, List.of(value), bignums("toNumeric") + value.arguments() + target, false);
            default -> throw cannot(from, type);
        };
    }

    private Value integerToNumeric(Value value, DataType type) {
        int digits = value.type().kind() == Kind.BIGINT ? 19 : value.type().kind() == Kind.INTEGER ? 10 : 5;
        int scale = type.scale();
        if (digits + scale > type.precision() || scale > Repr.NARROW_PRECISION) {
            String call = compiler.kernel().use(Decimals.class) + ".fromLong(" + value.code() + ", " + type.precision()
                    + ", " + scale;
            return compiler.strictCall(type, List.of(value), call, false);
        }
        String wide = "(long) " + value.code();
        String factor = Numerics.powerOfTen(scale);
        if (scale == 0) {
            // Fits 64 bits whatever the declared precision, which keeps products cheap.
            return new Value(
                    type, Repr.NARROW, value.isNull(), List.of(compiler.body().local("long", "v", wide)));
        }
        return Repr.of(type) == Repr.NARROW
                ? total(type, value, wide + " * " + factor)
                : total(type, value, "Math.multiplyHigh(" + wide + ", " + factor + ")", wide + " * " + factor);
    }

    private Value numericToNumeric(Value value, DataType type) {
        DataType from = value.type();
        boolean widens =
                type.scale() >= from.scale() && type.precision() - type.scale() >= from.precision() - from.scale();
        if (widens && value.repr() == Repr.NARROW && Repr.of(type) == Repr.NARROW) {
            int more = type.scale() - from.scale();
            return more == 0 ? value.as(type) : total(type, value, value.code() + " * " + Numerics.powerOfTen(more));
        }
        if (widens && type.scale() == from.scale()) {
            return new Value(type, Repr.WIDE, value.isNull(), List.of(value.high(), value.low()));
        }
        String call = compiler.kernel().use(Decimals.class) + ".rescale(" + Numerics.wide(value) + ", "
                + (type.scale() - from.scale()) + ", " + type.precision();
        return compiler.strictCall(type, List.of(value), call, false);
    }

    private Value toTime(Value value, DataType type) {
        DataType from = value.type();
        if (from.isText()) {
            return parsed(type, value, type.kind().name().toLowerCase(java.util.Locale.ROOT));
        }
        String code = value.parts().isEmpty() ? "" : value.part(0);
        String timestamps = compiler.kernel().use(Timestamps.class) + ".";
        return switch (type.kind()) {
            case DATE -> {
                require(from.isTimestamp(), from, type);
                yield total(type, value, compiler.kernel().use(TimeRange.class) + ".dayOf(" + code + ")");
            }
            case TIME -> {
                if (from.kind() == Kind.INTERVAL) {
                    yield total(type, value, "Math.floorMod(" + value.part(2) + ", " + DAY_MICROS + ")");
                }
                require(from.isTimestamp(), from, type);
                yield strict(type, value, timestamps + "timeOfDay(" + code + ")");
            }
            default -> {
                if (from.isTimestamp()) {
                    yield value.as(type); // the session's zone is UTC
                }
                require(from.kind() == Kind.DATE, from, type);
                yield strict(type, value, timestamps + "ofDate(" + code + ")");
            }
        };
    }

    private static void require(boolean possible, DataType from, DataType to) {
        if (!possible) {
            throw cannot(from, to);
        }
    }

    private Value toOther(Value value, DataType type) {
        DataType from = value.type();
        if (type.kind() == Kind.INTERVAL && from.kind() == Kind.TIME) {
            return total(type, value, "0", "0", value.code());
        }
        require(from.isText(), from, type);
        return switch (type.kind()) {
            case INTERVAL ->
                compiler.strict(
                        type,
                        List.of(value),
                        List.of(conversions("interval") + parser() + ", " + value.arguments() + ")"),
                        List.of(parser() + ".months()", parser() + ".days()", parser() + ".value()"),
                        false);
            case UUID ->
                compiler.strict(
                        type,
                        List.of(value),
                        List.of(conversions("uuid") + parser() + ", " + value.arguments() + ")"),
                        List.of(parser() + ".high()", parser() + ".value()"),
                        false);
            default ->
                compiler.strictCall(
                        type, List.of(value), conversions("bytea") + parser() + ", " + value.arguments(), false);
        };
    }
}

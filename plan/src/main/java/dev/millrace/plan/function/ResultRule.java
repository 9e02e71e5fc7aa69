package dev.millrace.plan.function;

import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import dev.millrace.type.Field;
import dev.millrace.type.PlainNumeric;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * How a function's result type follows from its arguments' types. NUMERIC has 38 digits here where PostgreSQL has no
 * limit: when a rule asks for more the result is BIGNUM, and always that of a division. A product of fractions may be NUMERIC that
 * would need a few digits more if all factors were as large as they may be, as prices with discounts and taxes are: a value that does
 * not fit is an error (22003), never wrong.
 *
 * <p>Where numeric is {@link PlainNumeric#LIMITED}, digits after the point are given up instead, down to {@link #LEAST_DIVISION_SCALE} or
 * the larger scale of the arguments.
 */
public final class ResultRule {
    /** Digits after the point that a quotient or average has at least: PostgreSQL shows about as many. */
    public static final int LEAST_DIVISION_SCALE = 16;

    /** Digits of a product that is NUMERIC, of which this has 38, with this many after the point at most: 30 are left before it. */
    private static final int MOST_FITTING = 48;

    private static final int MOST_FITTING_SCALE = 8;

    private final String text;
    private final BiFunction<List<DataType>, DataType, DataType> rule;

    private ResultRule(String text, BiFunction<List<DataType>, DataType, DataType> rule) {
        this.text = text;
        this.rule = rule;
    }

    /** @param common what {@code T} stands for */
    DataType apply(List<DataType> arguments, DataType common) {
        return rule.apply(arguments, common);
    }

    /** NUMERIC with so many digits before and after the point, cut to 38 in all. */
    private static DataType numeric(int integerDigits, int scale) {
        int fittingScale = Math.min(scale, DataType.MAX_NUMERIC_PRECISION);
        int precision = Math.min(DataType.MAX_NUMERIC_PRECISION, Math.max(1, integerDigits + fittingScale));
        return DataType.numeric(precision, fittingScale);
    }

    /** As {@link #numeric}, but where there is no limit BIGNUM if it would be cut. */
    private static DataType exact(int integerDigits, int scale) {
        boolean fits = integerDigits + scale <= DataType.MAX_NUMERIC_PRECISION;
        return fits || !PlainNumeric.isUnlimited() ? numeric(integerDigits, scale) : DataType.BIGNUM;
    }

    private static DataType multiply(DataType a, DataType b) {
        int whole = integerDigits(a) + integerDigits(b);
        int scale = a.scale() + b.scale();
        boolean mostFit = scale > 0 && scale <= MOST_FITTING_SCALE && whole + scale <= MOST_FITTING;
        return mostFit ? numeric(whole, scale) : exact(whole, scale);
    }

    private static int integerDigits(DataType type) {
        return type.precision() - type.scale();
    }

    private static DataType add(DataType a, DataType b) {
        return exact(Math.max(integerDigits(a), integerDigits(b)) + 1, Math.max(a.scale(), b.scale()));
    }

    private static DataType divide(DataType a, DataType b) {
        if (PlainNumeric.isUnlimited()) {
            return DataType.BIGNUM;
        }
        int scale = Math.max(LEAST_DIVISION_SCALE, Math.max(a.scale(), b.scale()));
        return numeric(integerDigits(a) + b.scale(), scale);
    }

    /**
     * EXTRACT gives NUMERIC: whole but for seconds and the epoch; the field is a literal, which is the front end's to
     * see: it asks {@link #extract} instead.
     */
    public static DataType extract(String field) {
        return switch (field.toLowerCase(Locale.ROOT)) {
            case "epoch", "second", "seconds", "julian", "jd" -> DataType.numeric(18, 6);
            case "millisecond", "milliseconds" -> DataType.numeric(18, 3);
            default -> DataType.numeric(18, 0);
        };
    }

    static ResultRule parse(String text) {
        if (text.equals("T")) {
            return new ResultRule(text, (types, common) -> common);
        }
        if (text.equals("T[]")) {
            return new ResultRule(text, (types, common) -> DataType.array(common));
        }
        if (text.endsWith("[]")) {
            DataType array = DataType.array(fixed(text.substring(0, text.length() - 2)));
            return new ResultRule(text, (types, common) -> array);
        }
        Function<List<DataType>, DataType> rule = ofArguments(text);
        return new ResultRule(text, (types, common) -> rule.apply(types));
    }

    private static DataType fixed(String name) {
        return new DataType(Kind.valueOf(name.toUpperCase(Locale.ROOT)), 0, 0, List.of());
    }

    private static DataType entries(DataType value) {
        return DataType.array(
                DataType.row(List.of(new Field("key", DataType.TEXT, true), new Field("value", value, true))));
    }

    /** The anonymous row type of ROW(...): its fields are f1, f2 and so on. */
    private static DataType record(List<DataType> types) {
        List<Field> fields = new ArrayList<>();
        for (int i = 0; i < types.size(); i++) {
            fields.add(new Field("f" + (i + 1), types.get(i), true));
        }
        return DataType.row(fields);
    }

    private static Function<List<DataType>, DataType> ofArguments(String text) {
        return switch (text) {
            case "=1" -> types -> types.get(0);
            case "numeric_add" -> types -> add(types.get(0), types.get(1));
            case "numeric_multiply" -> types -> multiply(types.get(0), types.get(1));
            case "numeric_divide" -> types -> divide(types.get(0), types.get(1));
            case "numeric_mod" ->
                types -> numeric(
                        Math.min(integerDigits(types.get(0)), integerDigits(types.get(1))),
                        Math.max(types.get(0).scale(), types.get(1).scale()));
            case "numeric_div" ->
                types -> numeric(integerDigits(types.get(0)) + types.get(1).scale(), 0);
            case "numeric_integral" -> types -> numeric(integerDigits(types.get(0)) + 1, 0);
            case "numeric_rounded" ->
                types -> numeric(integerDigits(types.get(0)) + 1, types.get(0).scale());
            case "extract" -> types -> DataType.numeric(18, 6);
            case "factorial" -> types -> PlainNumeric.isUnlimited() ? DataType.BIGNUM : DataType.numeric(38, 0);
            case "numeric_whole" -> types -> DataType.numeric(38, 0);
            case "numeric" -> types -> DataType.numeric(38, 16);
            case "record" -> ResultRule::record;
            case "json_entries" -> types -> entries(DataType.JSONB);
            case "text_entries" -> types -> entries(DataType.TEXT);
            case "texts" -> types -> DataType.array(DataType.array(DataType.TEXT));
            default -> {
                DataType fixed = fixed(text);
                yield types -> fixed;
            }
        };
    }

    @Override
    public String toString() {
        return text;
    }
}

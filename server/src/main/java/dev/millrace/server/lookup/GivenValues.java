package dev.millrace.server.lookup;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.constant.ConstantFolder;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.Expression.Null;
import dev.millrace.plan.expression.ParameterPlace;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.sql.algebra.GivenParameters;
import dev.millrace.sql.algebra.Literals;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.statement.Query;
import dev.millrace.text.TimeStyle;
import dev.millrace.type.DataType;
import java.util.List;
import java.util.Optional;

/** The values of a statement's parameters as literals of the types that its plan has in their places. */
public final class GivenValues {
    private static final GivenValues NONE = new GivenValues(Parameters.none());

    private final List<Optional<String>> texts;
    private final Expression[] values; // by number, what was asked for last
    private final DataType[] types;
    private final TimeStyle style; // of dates and times

    public GivenValues(Parameters parameters) {
        this.texts = parameters.values().orElseThrow();
        this.style = parameters.style();
        this.values = new Expression[texts.size()];
        this.types = new DataType[texts.size()];
    }

    public static GivenValues none() {
        return NONE;
    }

    /**
     * The value of a parameter, a literal or NULL.
     *
     * @throws dev.millrace.error.MillraceException if its text is none of the type's
     */
    Expression value(int number, DataType type) {
        if (values[number] == null || !type.equals(types[number])) {
            values[number] = compute(texts.get(number), type);
            types[number] = type;
        }
        return values[number];
    }

    private Expression compute(Optional<String> text, DataType type) {
        if (text.isEmpty()) {
            return new Null(type);
        }
        if (type.kind() == DataType.Kind.BIGINT || type.kind() == DataType.Kind.INTEGER) {
            Optional<Literal> quick = integer(text.get(), type);
            if (quick.isPresent()) {
                return quick.get();
            }
        }
        if (hasLength(type) && text.get().codePointCount(0, text.get().length()) > type.precision()) {
            throw MillraceException.user(
                    SqlState.STRING_DATA_RIGHT_TRUNCATION,
                    "value too long for type " + type); // a cast would cut it off
        }
        if (isRounded(text.get(), type)) {
            throw MillraceException.user(
                    SqlState.NUMERIC_VALUE_OUT_OF_RANGE,
                    "value has too many digits for type " + type); // a comparison is with all of them
        }
        boolean isTime = type.isTimestamp() || type.kind() == DataType.Kind.DATE || type.isNested();
        if (isTime && !style.readsPlainly()) {
            return Literals.parse(type, text.get(), style);
        }
        return ConstantFolder.evaluate(new Cast(new Literal(text.get(), DataType.TEXT), type));
    }

    /** Whether a number, or one of an array's, has digits that the type has no room for. */
    private static boolean isRounded(String text, DataType type) {
        if (type.kind() == DataType.Kind.NUMERIC) {
            return hasPoint(text)
                    && Literals.digits(text)
                            .filter(digits -> digits.scale() <= type.scale())
                            .isEmpty();
        }
        return type.kind() == DataType.Kind.ARRAY && type.element().kind() == DataType.Kind.NUMERIC && hasPoint(text);
    }

    /** Whether there may be digits behind a point. */
    private static boolean hasPoint(String number) {
        return number.indexOf('.') >= 0 || number.indexOf('e') >= 0 || number.indexOf('E') >= 0;
    }

    private static boolean hasLength(DataType type) {
        return (type.kind() == DataType.Kind.VARCHAR || type.kind() == DataType.Kind.CHAR) && type.precision() > 0;
    }

    /**
     * Whether all values are of the types of their places. If not, the statement's analysis with its values tells what is
     * wrong, and where, or takes them in another way.
     */
    public boolean fit(List<PreparedLookupRows.Place> places) {
        try {
            places.forEach(place -> value(place.number(), place.type()));
            return true;
        } catch (MillraceException e) {
            return false;
        }
    }

    /** A number of few digits. */
    private static Optional<Literal> integer(String text, DataType type) {
        int begin = text.startsWith("-") ? 1 : 0;
        int most = type.kind() == DataType.Kind.INTEGER ? 9 : 18;
        if (text.length() == begin || text.length() - begin > most) {
            return Optional.empty();
        }
        long value = 0;
        for (int at = begin; at < text.length(); at++) {
            int digit = text.charAt(at) - '0';
            if (digit < 0 || digit > 9) {
                return Optional.empty();
            }
            value = 10 * value + digit;
        }
        return Optional.of(new Literal(begin == 1 ? -value : value, type));
    }

    /**
     * A query with the values in the places of its parameters, where that is all that they are for.
     *
     * @param count of the statement's parameters
     * @return empty if not all of them have a place in it, or the value of one is not of its type
     */
    public Optional<Query> in(Query query, int count) {
        try {
            return GivenParameters.in(query.rel(), count, this::value).map(query::withRel);
        } catch (MillraceException e) {
            Interrupt.checkCurrent();
            return Optional.empty();
        }
    }

    /** An expression with the values in the places of the parameters. */
    Expression in(Expression expression) {
        return texts.isEmpty()
                ? expression
                : Expressions.transform(
                        expression,
                        part -> ParameterPlace.number(part)
                                .map(number -> value(number, part.type()))
                                .orElse(part));
    }
}

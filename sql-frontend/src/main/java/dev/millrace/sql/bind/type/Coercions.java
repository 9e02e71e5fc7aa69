package dev.millrace.sql.bind.type;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.number.Bignum;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.sql.algebra.Literals;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import dev.millrace.type.PlainNumeric;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexDynamicParam;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.util.NlsString;

/**
 * PostgreSQL's conversions between types (chapter 10 of its manual). A quoted constant, NULL or a parameter without type
 * is <i>unknown</i> until its context gives it a type.
 */
public final class Coercions {
    /** How readily a conversion is made. */
    public enum Strength {
        /** In any expression. */
        IMPLICIT,
        /** Into a column. */
        ASSIGNMENT,
        /** By CAST. */
        EXPLICIT
    }

    private final ParameterTypes parameters;

    public Coercions(ParameterTypes parameters) {
        this.parameters = parameters;
    }

    public static DataType type(RexNode node) {
        return isUnknown(node) ? DataType.NULL : TypeMapper.dataType(node.getType());
    }

    /** Whether the type is still open. */
    public static boolean isUnknown(RexNode node) {
        return TypeMapper.isUnknown(node.getType());
    }

    /** As {@code format_type} writes a type in messages: NUMERIC without its digits. */
    public static String name(DataType type) {
        return type.isExact() ? "numeric" : type.toString();
    }

    // ---- one node --------------------------------------------------------------------------------------------------

    /** The node as a value of the type; the caller has checked that {@link #allowed}. */
    public RexNode convert(RexNode node, DataType target) {
        if (node instanceof RexDynamicParam parameter && isUnknown(node)) {
            RexNode typed = parameters.decide(parameter, target);
            return type(typed).equals(target) ? typed : convert(typed, target);
        }
        if (isUnknown(node)) {
            RexLiteral literal = (RexLiteral) node;
            return literal.isNull()
                    ? Rex.nullOf(target)
                    : SaidTimes.of(text(literal), target, this)
                            .orElseGet(() -> Rex.literal(Literals.parse(target, text(literal), parameters.style())));
        }
        DataType type = type(node);
        if (type.equals(target)) {
            return node;
        }
        Optional<List<RexNode>> fields = fieldsOf(node, target);
        if (fields.isPresent()) {
            List<RexNode> converted = new ArrayList<>();
            for (int i = 0; i < fields.get().size(); i++) {
                converted.add(
                        convert(fields.get().get(i), target.fields().get(i).type()));
            }
            return Rex.call("make_row", converted, target, false);
        }
        if (node instanceof RexLiteral literal && type.isNumber() && !literal.isNull()) {
            Optional<RexNode> folded = foldNumber(literal, target);
            if (folded.isPresent()) {
                return folded.get();
            }
        }
        return times().flatMap(times -> times.convert(node, type, target)).orElseGet(() -> Rex.cast(node, target));
    }

    /** How dates and times are converted; empty where that is plain. */
    public Optional<SessionTimes> times() {
        return parameters.times();
    }

    /** Converts with the strength at hand, or fails at the place with 42804 or, by CAST, 42846. */
    public RexNode convert(RexNode node, DataType target, Strength strength, SqlNode where) {
        try {
            Optional<String> text = unknownText(node);
            if (strength == Strength.EXPLICIT && text.isPresent() && isCharacter(target)) {
                return Rex.literal(Literals.cut(target, text.get()));
            }
            Optional<List<RexNode>> fields = fieldsOf(node, target);
            if (fields.isPresent()) {
                for (int i = 0; i < fields.get().size(); i++) {
                    convert(fields.get().get(i), target.fields().get(i).type(), strength, where); // or it fails
                }
                return convert(node, target);
            }
            if (isUnknown(node) || allowed(type(node), target, strength)) {
                return convert(node, target);
            }
        } catch (MillraceException e) {
            throw Errors.at(e, where);
        }
        if (strength == Strength.ASSIGNMENT) {
            throw Errors.error(
                    SqlState.DATATYPE_MISMATCH,
                    "an expression of type " + name(type(node)) + " cannot become type " + name(target),
                    where);
        }
        throw Errors.error(
                SqlState.CANNOT_COERCE, "cannot cast type " + name(type(node)) + " to " + name(target), where);
    }

    /** The fields of ROW(...) where as many are wanted; quoted constants among them are of no type yet. */
    private static Optional<List<RexNode>> fieldsOf(RexNode node, DataType target) {
        if (target.kind() != Kind.ROW
                || !(node instanceof RexCall call)
                || !call.getOperator().getName().equals("make_row")
                || call.getOperands().size() != target.fields().size()) {
            return Optional.empty();
        }
        return Optional.of(call.getOperands().stream().map(Coercions::undecided).toList());
    }

    private static RexNode undecided(RexNode field) {
        if (!(field instanceof RexLiteral literal) || !isCharacter(type(field))) {
            return field;
        }
        return literal.isNull() ? Rex.nullOf(DataType.NULL) : Rex.unknown(text(literal));
    }

    /** A condition: BOOLEAN, or 42804 that says which clause wanted it. */
    public RexNode condition(RexNode node, String clause, SqlNode where) {
        if (!isUnknown(node) && type(node).kind() != Kind.BOOLEAN) {
            throw Errors.error(
                    SqlState.DATATYPE_MISMATCH,
                    "argument of " + clause + " must be type boolean, not type " + name(type(node)),
                    where);
        }
        try {
            return convert(node, DataType.BOOLEAN);
        } catch (MillraceException e) {
            throw Errors.at(e, where);
        }
    }

    /** An unknown node as TEXT, any other as it is. */
    public RexNode decided(RexNode node) {
        return isUnknown(node) ? convert(node, DataType.TEXT) : node;
    }

    /** The text of an unknown constant that is not NULL. */
    public static Optional<String> unknownText(RexNode node) {
        return isUnknown(node) && node instanceof RexLiteral literal && !literal.isNull()
                ? Optional.of(text(literal))
                : Optional.empty();
    }

    private static String text(RexLiteral literal) {
        return literal.getValueAs(NlsString.class).getValue();
    }

    private static Optional<RexNode> foldNumber(RexLiteral literal, DataType target) {
        Number value = literal.getValueAs(Comparable.class) instanceof Number number ? number : null;
        if (!(value instanceof BigDecimal exact)) {
            return Optional.empty();
        }
        boolean whole = Bignum.leastScale(exact) == 0;
        return switch (target.kind()) {
            case SMALLINT ->
                whole && fits(exact, Short.MIN_VALUE, Short.MAX_VALUE)
                        ? Optional.of(Rex.literal(new Literal(exact.longValue(), target)))
                        : Optional.empty();
            case INTEGER ->
                whole && fits(exact, Integer.MIN_VALUE, Integer.MAX_VALUE)
                        ? Optional.of(Rex.literal(new Literal(exact.longValue(), target)))
                        : Optional.empty();
            case BIGINT ->
                whole && fits(exact, Long.MIN_VALUE, Long.MAX_VALUE)
                        ? Optional.of(Rex.literal(new Literal(exact.longValue(), target)))
                        : Optional.empty();
            case DOUBLE -> Optional.of(Rex.literal(new Literal(exact.doubleValue(), target)));
            case REAL -> Optional.of(Rex.literal(new Literal((double) exact.floatValue(), target)));
            case BIGNUM -> {
                int scale = Math.max(0, type(literal).scale());
                yield Optional.of(Rex.literal(Literals.parse(
                        target, exact.setScale(scale, RoundingMode.HALF_UP).toPlainString())));
            }
            case NUMERIC -> {
                BigDecimal scaled = exact.setScale(target.scale(), RoundingMode.HALF_UP);
                yield scaled.precision() <= target.precision()
                        ? Optional.of(Rex.literal(new Literal(scaled, target)))
                        : Optional.empty();
            }
            default -> Optional.empty();
        };
    }

    private static boolean fits(BigDecimal value, long least, long most) {
        return value.compareTo(BigDecimal.valueOf(least)) >= 0 && value.compareTo(BigDecimal.valueOf(most)) <= 0;
    }

    // ---- types -----------------------------------------------------------------------------------------------------

    /** The NUMERIC that holds every value of a number type exactly; as it is for NUMERIC and BIGNUM, that without digits for floats. */
    public static DataType asNumeric(DataType type) {
        return switch (type.kind()) {
            case SMALLINT -> DataType.numeric(5, 0);
            case INTEGER -> DataType.numeric(10, 0);
            case BIGINT -> DataType.numeric(19, 0);
            case NUMERIC, BIGNUM -> type;
            default -> TypeNames.undeclaredNumeric();
        };
    }

    /** As {@link #asNumeric(DataType)}, but a constant asks for its own digits only. */
    public static DataType asNumeric(RexNode node) {
        if (node instanceof RexLiteral literal
                && !literal.isNull()
                && literal.getValueAs(Comparable.class) instanceof BigDecimal exact) {
            return Literals.number(exact).type();
        }
        return asNumeric(type(node));
    }

    private static int rank(Kind kind) {
        return switch (kind) {
            case SMALLINT -> 1;
            case INTEGER -> 2;
            case BIGINT -> 3;
            case NUMERIC -> 4;
            case BIGNUM -> 5;
            case REAL -> 6;
            case DOUBLE -> 7;
            default -> 0;
        };
    }

    /** Whether a value of one type can become one of the other. */
    public static boolean allowed(DataType from, DataType to, Strength strength) {
        if (from.equals(to) || from.kind() == Kind.NULL) {
            return true;
        }
        if (from.isNumber() && to.isNumber()) {
            return strength != Strength.IMPLICIT || rank(from.kind()) <= rank(to.kind());
        }
        if (isCharacter(from) && isCharacter(to)) {
            return true;
        }
        if (to.kind() == Kind.ARRAY && from.kind() == Kind.ARRAY) {
            return allowed(from.element(), to.element(), strength);
        }
        if (to.kind() == Kind.ROW && from.kind() == Kind.ROW) {
            return allowedFields(from, to, strength);
        }
        boolean implicit = switch (from.kind()) {
            case DATE -> to.isTimestamp();
            case TIMESTAMP -> to.kind() == Kind.TIMESTAMPTZ;
            case TIME -> to.kind() == Kind.INTERVAL;
            default -> false;
        };
        if (implicit || strength == Strength.IMPLICIT) {
            return implicit;
        }
        boolean assignment = switch (from.kind()) {
            case TIMESTAMP -> to.kind() == Kind.DATE || to.kind() == Kind.TIME;
            case TIMESTAMPTZ -> to.kind() == Kind.DATE || to.kind() == Kind.TIME || to.kind() == Kind.TIMESTAMP;
            case INTERVAL -> to.kind() == Kind.TIME;
            default -> false;
        };
        if (assignment || isCharacter(to)) {
            return true;
        }
        return strength == Strength.EXPLICIT
                && (isCharacter(from)
                        || from.kind() == Kind.BOOLEAN && to.kind() == Kind.INTEGER
                        || from.kind() == Kind.INTEGER && to.kind() == Kind.BOOLEAN
                        || from.kind() == Kind.JSONB && (to.isNumber() || to.kind() == Kind.BOOLEAN));
    }

    /** Rows convert field by field; an anonymous ROW(...) takes on the names of what it becomes. */
    private static boolean allowedFields(DataType from, DataType to, Strength strength) {
        if (from.fields().size() != to.fields().size()) {
            return false;
        }
        for (int i = 0; i < from.fields().size(); i++) {
            if (!allowed(from.fields().get(i).type(), to.fields().get(i).type(), strength)) {
                return false;
            }
        }
        return true;
    }

    /** TEXT, VARCHAR or CHAR. */
    public static boolean isCharacter(DataType type) {
        return type.kind() == Kind.TEXT || type.kind() == Kind.VARCHAR || type.kind() == Kind.CHAR;
    }

    /**
     * The type that all the nodes can become (UNION, CASE and comparisons, section 10.5), TEXT if all are unknown; empty
     * when there is none.
     */
    public static Optional<DataType> common(List<RexNode> nodes) {
        DataType common = DataType.NULL;
        int seen = 0;
        for (RexNode node : nodes) {
            Interrupt.checkSometimes(++seen);
            DataType type = type(node);
            if (type.kind() == Kind.NULL) {
                continue;
            }
            // A constant adds no more digits than it has.
            DataType exact = common.kind() == Kind.NUMERIC && type.isInteger() ? asNumeric(node) : type;
            Optional<DataType> both = common(common, exact);
            if (both.isEmpty()) {
                return both;
            }
            common = both.get();
        }
        if (common.kind() == Kind.NUMERIC) {
            for (RexNode node : nodes) {
                if (type(node).isInteger()) {
                    common = common(common, asNumeric(node)).orElse(common);
                }
            }
        }
        return Optional.of(common.kind() == Kind.NULL ? DataType.TEXT : longEnough(common, nodes));
    }

    /**
     * The common type of the elements of an array of constants, each of which keeps its own digits behind the point: no scale is
     * theirs. Elements that are computed have that of most digits, as they had in definitions from before.
     */
    public static DataType keepingDigits(DataType common, List<RexNode> elements) {
        if (common.kind() == Kind.ARRAY) {
            List<RexNode> inner = elements.stream()
                    .map(Coercions::type)
                    .filter(type -> type.kind() == Kind.ARRAY)
                    .map(type -> (RexNode) Rex.nullOf(type.element()))
                    .toList();
            return DataType.array(keepingDigits(common.element(), inner));
        }
        boolean differ = elements.stream()
                .map(Coercions::type)
                .anyMatch(type -> type.isNumber() && type.scale() != common.scale());
        return differ && common.kind() == Kind.NUMERIC && PlainNumeric.isUnlimited() ? DataType.BIGNUM : common;
    }

    /** VARCHAR, CHAR and NUMERIC get the length that quoted constants next to them need: only an explicit cast cuts or rounds. */
    private static DataType longEnough(DataType common, List<RexNode> nodes) {
        if (common.kind() == Kind.NUMERIC) {
            DataType exact = common;
            for (RexNode node : nodes) {
                Optional<String> text = unknownText(node);
                Optional<DataType> digits = text.flatMap(Literals::digits);
                if (text.isPresent() && digits.isEmpty() && PlainNumeric.isUnlimited()) {
                    return DataType.BIGNUM; // of more digits, NaN, or it says what is wrong
                }
                exact = digits.isPresent() && exact.kind() == Kind.NUMERIC ? widest(exact, digits.get()) : exact;
            }
            return exact;
        }
        if (common.precision() == 0 || common.kind() != Kind.VARCHAR && common.kind() != Kind.CHAR) {
            return common;
        }
        int length = common.precision();
        for (RexNode node : nodes) {
            length = Math.max(length, unknownText(node).map(Literals::length).orElse(0));
        }
        return new DataType(common.kind(), length, 0, List.of());
    }

    /** The type of a quoted array's elements, which are compared with a value: that one's, with the digits that they have. */
    public static DataType ofElements(RexNode value, RexNode array) {
        DataType element = type(value);
        Optional<String> text = unknownText(array);
        if (element.kind() == Kind.NUMERIC && text.isPresent()) {
            for (DataType digits : Literals.digitsOfElements(text.get())) {
                element = element.kind() == Kind.NUMERIC ? widest(element, digits) : element;
            }
        }
        return element;
    }

    /** The common type of two; empty when there is none. */
    public static Optional<DataType> common(DataType a, DataType b) {
        if (a.equals(b) || b.kind() == Kind.NULL) {
            return Optional.of(a);
        }
        if (a.kind() == Kind.NULL) {
            return Optional.of(b);
        }
        if (a.isNumber() && b.isNumber()) {
            if (rank(a.kind()) > rank(Kind.BIGNUM) || rank(b.kind()) > rank(Kind.BIGNUM)) {
                // REAL with anything else is DOUBLE, as PostgreSQL's operators prefer.
                return Optional.of(DataType.DOUBLE);
            }
            if (a.kind() == Kind.BIGNUM || b.kind() == Kind.BIGNUM) {
                return Optional.of(DataType.BIGNUM);
            }
            if (a.kind() == Kind.NUMERIC || b.kind() == Kind.NUMERIC) {
                return Optional.of(widest(asNumeric(a), asNumeric(b)));
            }
            return Optional.of(rank(a.kind()) > rank(b.kind()) ? a : b);
        }
        if (isCharacter(a) && isCharacter(b)) {
            return Optional.of(DataType.TEXT);
        }
        if (a.kind() == Kind.ARRAY && b.kind() == Kind.ARRAY) {
            return common(a.element(), b.element()).map(DataType::array);
        }
        boolean anonymous = b.kind() == Kind.ROW && b.fields().get(0).name().equals("f1");
        if (a.kind() == Kind.ROW && anonymous && allowed(b, a, Strength.IMPLICIT)) {
            return Optional.of(a);
        }
        if (allowed(a, b, Strength.IMPLICIT)) {
            return Optional.of(b);
        }
        return allowed(b, a, Strength.IMPLICIT) ? Optional.of(a) : Optional.empty();
    }

    private static DataType widest(DataType a, DataType b) {
        int scale = Math.max(a.scale(), b.scale());
        int whole = Math.max(a.precision() - a.scale(), b.precision() - b.scale());
        if (whole + scale > DataType.MAX_NUMERIC_PRECISION && PlainNumeric.isUnlimited()) {
            return DataType.BIGNUM;
        }
        int precision = Math.min(DataType.MAX_NUMERIC_PRECISION, Math.max(1, whole + scale));
        return DataType.numeric(precision, Math.min(scale, precision));
    }
}

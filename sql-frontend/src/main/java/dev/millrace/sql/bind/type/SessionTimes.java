package dev.millrace.sql.bind.type;

import dev.millrace.error.MillraceException;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.sql.algebra.Literals;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.text.DateStyle;
import dev.millrace.text.TimeStyle;
import dev.millrace.text.TimeStyle.IntervalStyle;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexNode;

/**
 * The time zone and the style of a statement where they are not the plain ones: in the zone PostgreSQL's conversions between TIMESTAMPTZ and what clocks show are
 * made, and what it computes by the calendar; in the style dates, times and intervals become texts, and texts become them. The engine computes in UTC alone and
 * knows one style: all becomes calls of functions that are told.
 */
public record SessionTimes(TimeStyle style) {
    /** Functions of a TIMESTAMPTZ that ask what clocks show, and have a form for TIMESTAMP. */
    private static final Set<String> OF_LOCAL_TIME = Set.of("date_trunc", "date_part", "extract", "strftime", "age");

    private static final Set<String> OF_FIELDS = Set.of("date_part", "extract");

    /** Functions that write values of any type. */
    private static final Set<String> WRITING = Set.of("concat", "concat_ws", "format");

    static Optional<SessionTimes> of(Parameters parameters) {
        return Optional.of(parameters.style())
                .filter(style -> !style.equals(TimeStyle.PLAIN))
                .map(SessionTimes::new);
    }

    private boolean isZoned() {
        return style.zone().isPresent();
    }

    private boolean isInOrder() {
        return style.dates().order() == DateStyle.Order.MDY;
    }

    private RexNode call(String function, RexNode operand, DataType type) {
        RexNode zone = Rex.text(style.zone().orElseThrow());
        List<RexNode> operands = function.equals("timezone") ? List.of(zone, operand) : List.of(operand, zone);
        return Rex.call(function, operands, type, operand.getType().isNullable());
    }

    private RexNode styled(String function, RexNode operand, DataType type) {
        return Rex.call(
                function,
                List.of(operand, Rex.text(style.text())),
                type,
                operand.getType().isNullable());
    }

    /** What clocks show at an instant. */
    private RexNode local(RexNode instant) {
        return call("timezone", instant, DataType.TIMESTAMP);
    }

    /** The instant when clocks show this. */
    private RexNode instant(RexNode local) {
        return call("timezone", local, DataType.TIMESTAMPTZ);
    }

    /** A conversion that depends on the zone or the style; empty for one that does not. */
    Optional<RexNode> convert(RexNode node, DataType type, DataType target) {
        if (Coercions.isCharacter(target)) {
            return written(node, type).map(text -> target.kind() == Kind.TEXT ? text : Rex.cast(text, target));
        } else if (Coercions.isCharacter(type)) {
            return read(node, target);
        }
        return isZoned() ? zoned(node, type, target) : Optional.empty();
    }

    /** A value as a text, where that depends on the style. */
    private Optional<RexNode> written(RexNode node, DataType type) {
        boolean isIso = style.dates().form() == DateStyle.Form.ISO;
        return switch (type.kind()) {
            case TIMESTAMPTZ ->
                isZoned() || !isIso ? Optional.of(styled("zoned_text", node, DataType.TEXT)) : Optional.empty();
            case DATE, TIMESTAMP -> isIso ? Optional.empty() : Optional.of(styled("styled_text", node, DataType.TEXT));
            case INTERVAL ->
                style.intervals() == IntervalStyle.POSTGRES
                        ? Optional.empty()
                        : Optional.of(styled("styled_text", node, DataType.TEXT));
            case BYTEA ->
                style.outputs().escapesBytes()
                        ? Optional.of(written("encode", node, Rex.text("escape")))
                        : Optional.empty();
            case REAL, DOUBLE -> {
                long digits = style.outputs().floatDigits();
                yield digits < 1
                        ? Optional.of(written("rounded_text", node, Rex.literal(new Literal(digits, DataType.INTEGER))))
                        : Optional.empty();
            }
            default -> Optional.empty();
        };
    }

    private static RexNode written(String function, RexNode node, RexNode how) {
        return Rex.call(
                function, List.of(node, how), DataType.TEXT, node.getType().isNullable());
    }

    /** What a text says, where that depends on the style. */
    private Optional<RexNode> read(RexNode text, DataType target) {
        if (style.readsPlainly()) {
            return Optional.empty();
        }
        return switch (target.kind()) {
            case DATE -> isInOrder() ? Optional.empty() : Optional.of(styled("styled_date", text, target));
            case TIMESTAMP -> isInOrder() ? Optional.empty() : Optional.of(styled("styled_timestamp", text, target));
            case TIMESTAMPTZ -> Optional.of(styled("zoned_timestamptz", text, target));
            default -> Optional.empty();
        };
    }

    private Optional<RexNode> zoned(RexNode node, DataType type, DataType target) {
        if (type.kind() == Kind.TIMESTAMPTZ) {
            return switch (target.kind()) {
                case TIMESTAMP -> Optional.of(local(node));
                case DATE, TIME -> Optional.of(Rex.cast(local(node), target));
                default -> Optional.empty();
            };
        }
        if (target.kind() != Kind.TIMESTAMPTZ) {
            return Optional.empty();
        }
        return switch (type.kind()) {
            case TIMESTAMP -> Optional.of(instant(node));
            case DATE -> Optional.of(instant(Rex.cast(node, DataType.TIMESTAMP)));
            default -> Optional.empty();
        };
    }

    /** An argument of a function that writes values of any type; others take it as it is. */
    public RexNode written(String function, RexNode argument) {
        return WRITING.contains(function)
                ? written(argument, Coercions.type(argument)).orElse(argument)
                : argument;
    }

    private static boolean isInstant(RexNode node) {
        return Coercions.type(node).kind() == Kind.TIMESTAMPTZ;
    }

    /**
     * What a function gives in the zone.
     *
     * @param arguments of the types that the function takes
     * @param again calls the function with others
     * @return empty where it is the same as everywhere
     */
    public Optional<RexNode> call(String function, List<RexNode> arguments, Function<List<RexNode>, RexNode> again) {
        if (!isZoned()) {
            return Optional.empty();
        }
        if (arguments.isEmpty() || arguments.stream().noneMatch(SessionTimes::isInstant)) {
            return isReadingText(function, arguments)
                    ? Optional.of(inZone("zoned_to_timestamp", arguments, DataType.TIMESTAMPTZ))
                    : Optional.empty();
        }
        if (function.equals("to_char")) {
            return Optional.of(inZone("zoned_to_char", arguments, DataType.TEXT));
        }
        if (function.equals("add") || function.equals("subtract")) {
            return Coercions.type(arguments.get(1)).kind() == Kind.INTERVAL
                    ? Optional.of(Rex.call(
                            function.equals("add") ? "zoned_add" : "zoned_subtract",
                            List.of(
                                    arguments.get(0),
                                    arguments.get(1),
                                    Rex.text(style.zone().orElseThrow())),
                            DataType.TIMESTAMPTZ,
                            arguments.stream().anyMatch(node -> node.getType().isNullable())))
                    : Optional.empty();
        }
        if (!OF_LOCAL_TIME.contains(function)) {
            return Optional.empty();
        }
        if (OF_FIELDS.contains(function)) {
            Optional<String> field =
                    Literals.textOf(arguments.get(0)).map(text -> text.strip().toLowerCase(Locale.ROOT));
            if (field.isEmpty()) {
                throw MillraceException.notAvailableYet(function + " of a field that is no constant, in a time zone");
            }
            if (field.get().equals("epoch")) {
                return Optional.empty();
            }
            if (field.get().startsWith("timezone")) {
                return Optional.of(offset(
                        field.get(), arguments.get(1), again.apply(arguments).getType()));
            }
        }
        RexNode result = again.apply(arguments.stream()
                .map(node -> isInstant(node) ? local(node) : node)
                .toList());
        return Optional.of(function.equals("date_trunc") ? instant(result) : result);
    }

    private RexNode inZone(String function, List<RexNode> arguments, DataType type) {
        List<RexNode> operands = new ArrayList<>(arguments);
        operands.add(Rex.text(style.zone().orElseThrow()));
        return Rex.call(
                function,
                operands,
                type,
                arguments.stream().anyMatch(node -> node.getType().isNullable()));
    }

    private static boolean isReadingText(String function, List<RexNode> arguments) {
        return function.equals("to_timestamp") && arguments.size() == 2;
    }

    /** How far clocks are from UTC. */
    private RexNode offset(String field, RexNode instant, RelDataType type) {
        RexNode seconds = call("zone_seconds", instant, DataType.INTEGER);
        RexNode wanted = switch (field) {
            case "timezone_hour" -> of("divide", seconds, 3600);
            case "timezone_minute" -> of("mod", of("divide", seconds, 60), 60);
            default -> seconds;
        };
        return Rex.cast(wanted, TypeMapper.dataType(type));
    }

    private static RexNode of(String operator, RexNode number, long by) {
        return Rex.call(
                operator,
                List.of(number, Rex.literal(new Literal(by, DataType.INTEGER))),
                DataType.INTEGER,
                number.getType().isNullable());
    }
}

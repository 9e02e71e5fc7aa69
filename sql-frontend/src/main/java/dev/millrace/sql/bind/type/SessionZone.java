package dev.millrace.sql.bind.type;

import dev.millrace.error.MillraceException;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.sql.algebra.Literals;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.text.TimeZones;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.time.ZoneId;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexNode;

/**
 * The time zone of a statement that is not in UTC, in which PostgreSQL's conversions between TIMESTAMPTZ and what clocks show are made, and what it computes by the
 * calendar. The engine computes in UTC alone: all becomes calls of functions that are told the zone.
 *
 * @param name as {@link TimeZones} knows it
 * @param id the same
 */
public record SessionZone(String name, ZoneId id) {
    /** Functions of a TIMESTAMPTZ that ask what clocks show, and have a form for TIMESTAMP. */
    private static final Set<String> OF_LOCAL_TIME =
            Set.of("date_trunc", "date_part", "extract", "to_char", "strftime", "age");

    private static final Set<String> OF_FIELDS = Set.of("date_part", "extract");

    /** Functions that write values of any type. */
    private static final Set<String> WRITING = Set.of("concat", "concat_ws", "format");

    static Optional<SessionZone> of(Parameters parameters) {
        return parameters
                .timeZone()
                .map(name -> new SessionZone(name, TimeZones.find(name).orElseThrow()));
    }

    private RexNode call(String function, RexNode operand, DataType type) {
        boolean zoneLast = !function.equals("timezone");
        List<RexNode> operands = zoneLast ? List.of(operand, Rex.text(name)) : List.of(Rex.text(name), operand);
        return Rex.call(function, operands, type, operand.getType().isNullable());
    }

    /** What clocks show at an instant. */
    private RexNode local(RexNode instant) {
        return call("timezone", instant, DataType.TIMESTAMP);
    }

    /** The instant when clocks show this. */
    private RexNode instant(RexNode local) {
        return call("timezone", local, DataType.TIMESTAMPTZ);
    }

    /** A conversion that depends on the zone; empty for one that does not. */
    Optional<RexNode> convert(RexNode node, DataType type, DataType target) {
        if (type.kind() == Kind.TIMESTAMPTZ) {
            if (Coercions.isCharacter(target)) {
                RexNode text = call("zoned_text", node, DataType.TEXT);
                return Optional.of(target.kind() == Kind.TEXT ? text : Rex.cast(text, target));
            }
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
            case TEXT, VARCHAR, CHAR -> Optional.of(call("zoned_timestamptz", node, DataType.TIMESTAMPTZ));
            default -> Optional.empty();
        };
    }

    /** An argument of a function that writes values of any type; others take it as it is. */
    public RexNode written(String function, RexNode argument) {
        return WRITING.contains(function) && isInstant(argument)
                ? call("zoned_text", argument, DataType.TEXT)
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
        if (arguments.isEmpty() || arguments.stream().noneMatch(SessionZone::isInstant)) {
            return isReadingText(function, arguments)
                    ? Optional.of(instant(Rex.call(
                            "timezone",
                            List.of(Rex.text("UTC"), Rex.call(function, arguments, DataType.TIMESTAMPTZ, true)),
                            DataType.TIMESTAMP,
                            true)))
                    : Optional.empty();
        }
        if (function.equals("add") || function.equals("subtract")) {
            return Coercions.type(arguments.get(1)).kind() == Kind.INTERVAL
                    ? Optional.of(Rex.call(
                            function.equals("add") ? "zoned_add" : "zoned_subtract",
                            List.of(arguments.get(0), arguments.get(1), Rex.text(name)),
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

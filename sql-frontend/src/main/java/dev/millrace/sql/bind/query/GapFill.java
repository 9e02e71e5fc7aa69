package dev.millrace.sql.bind.query;

import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.sql.bind.expression.FunctionNames;
import dev.millrace.sql.bind.gap.Placing;
import dev.millrace.sql.bind.scope.From;
import dev.millrace.sql.bind.scope.Scope.Column;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.parser.StatementParser;
import dev.millrace.sql.text.Identifiers;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;

/**
 * RisingWave's {@code GAP_FILL(rows, time, step, ..)} in FROM: between a row and the next one, of its partition, a row for each step. It
 * is a query over the rows with the next time and the next values beside them:
 *
 * <pre>
 * GAP_FILL(t, ts, INTERVAL '1 minute', LOCF(a), INTERPOLATE(b), PARTITION_BY(p))
 * is
 * SELECT p, at AS ts, a, CASE WHEN at = ts THEN b ELSE b + (next_b - b) * (at - ts) / (next_ts - ts) END AS b,
 *        CASE WHEN at = ts THEN c END AS c
 * FROM (SELECT *, lead(ts) OVER w AS next_ts, lead(b) OVER w AS next_b FROM t WINDOW w AS (PARTITION BY p ORDER BY ts))
 *      LEFT JOIN generate_series(ts, greatest(ts, next_ts - INTERVAL '1 microsecond'), INTERVAL '1 minute') AS at ON TRUE
 * </pre>
 *
 * Columns that no strategy names are NULL in the rows that are made, as with KEEPNULL. Rows without a time stay as they are.
 */
final class GapFill {
    private static final String INPUT = "millrace_gaps";
    private static final String STEP = "millrace_step";
    private static final String ROW = "millrace_row";
    private static final String AT = "millrace_at";
    private static final String NEXT = "millrace next ";

    private enum Fill {
        KEEPNULL,
        LOCF,
        INTERPOLATE,
        PARTITION_BY
    }

    private final SqlCall call;
    private final List<SqlNode> arguments;
    private final FromBinder relations;

    GapFill(SqlCall call, List<SqlNode> arguments, FromBinder relations) {
        this.call = call;
        this.arguments = arguments;
        this.relations = relations;
    }

    /**
     * @param rows binds the first argument, or what is to be bound in its place
     * @param step the value of the third, a constant
     */
    From bind(From rows, Column time, IntervalValue step, SqlNode input) {
        if (step.months() < 0 || step.days() < 0 || step.micros() < 0 || step.comparableMicros() == 0) {
            throw Errors.error(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "the step of GAP_FILL must be longer than nothing",
                    arguments.get(2));
        }
        List<Column> columns =
                rows.columns().stream().filter(column -> !column.hidden()).toList();
        Map<String, Fill> fills = fills(columns);
        if (fills.put(time.name(), Fill.PARTITION_BY) != null) {
            throw Errors.error(SqlState.SYNTAX_ERROR, "the time of GAP_FILL is filled by the steps", call);
        }
        String ofTime = Identifiers.quote(time.name());
        List<String> keys = fills.entrySet().stream()
                .filter(each ->
                        each.getValue() == Fill.PARTITION_BY && !each.getKey().equals(time.name()))
                .map(each -> Identifiers.quote(each.getKey()))
                .toList();
        String window = " OVER (" + (keys.isEmpty() ? "" : "PARTITION BY " + String.join(", ", keys)) + " ORDER BY "
                + ofTime + ")";
        Function<Column, String> lead = column -> "lead(" + Identifiers.quote(column.name()) + ")" + window + " AS "
                + Identifiers.quote(NEXT + column.name());
        List<String> inner = new ArrayList<>(List.of("*", lead.apply(time)));
        List<String> outer = new ArrayList<>();
        for (Column column : columns) {
            Fill fill = fills.getOrDefault(column.name(), Fill.KEEPNULL);
            if (fill == Fill.INTERPOLATE) {
                inner.add(lead.apply(column));
            }
            boolean isTime = column.name().equals(time.name());
            outer.add((isTime ? AT : value(fill, column, time)) + " AS " + Identifiers.quote(column.name()));
        }
        String next = Identifiers.quote(NEXT + time.name());
        String text = "SELECT " + String.join(", ", outer) + " FROM (SELECT " + String.join(", ", inner) + " FROM "
                + INPUT
                + ") AS " + ROW + " LEFT JOIN LATERAL generate_series(" + ROW + "." + ofTime + ", greatest(" + ROW + "."
                + ofTime + ", "
                + ROW + "." + next + " - INTERVAL '1 microsecond'), " + STEP + ") AS millrace_series(" + AT
                + ") ON TRUE";
        From filled = relations.bind(
                StatementParser.parseQuery(text).accept(new Placing(Map.of(INPUT, input, STEP, arguments.get(2)))));
        String qualifier = columns.get(0).qualifier();
        return From.of(
                filled.rel(), qualifier, columns.stream().map(Column::name).collect(Collectors.toList()));
    }

    /** What is said of columns. */
    private Map<String, Fill> fills(List<Column> columns) {
        Map<String, Fill> fills = new HashMap<>();
        for (SqlNode argument : arguments.subList(3, arguments.size())) {
            Optional<Fill> fill = argument instanceof SqlCall given
                    ? FunctionNames.of(given).flatMap(GapFill::named)
                    : Optional.empty();
            if (fill.isEmpty()) {
                throw Errors.error(SqlState.SYNTAX_ERROR, "what GAP_FILL does with a column is expected here", argument)
                        .withHint("LOCF(column), INTERPOLATE(column), KEEPNULL(column) or PARTITION_BY(columns)");
            }
            for (SqlNode operand : ((SqlCall) argument).getOperandList()) {
                Column column = column(operand, columns);
                if (fills.put(column.name(), fill.get()) != null) {
                    throw Errors.error(
                            SqlState.DUPLICATE_COLUMN,
                            "column \"" + column.name() + "\" specified more than once",
                            operand);
                }
                DataType type = TypeMapper.dataType(column.type());
                if (fill.get() == Fill.INTERPOLATE && !type.isNumber()) {
                    throw Errors.error(
                            SqlState.DATATYPE_MISMATCH,
                            "INTERPOLATE is for numbers, but \"" + column.name() + "\" is " + Coercions.name(type),
                            operand);
                }
            }
        }
        return fills;
    }

    private static Optional<Fill> named(String function) {
        for (Fill fill : Fill.values()) {
            if (fill.name().equalsIgnoreCase(function)) {
                return Optional.of(fill);
            }
        }
        return Optional.empty();
    }

    private static Column column(SqlNode node, List<Column> columns) {
        if (!(node instanceof SqlIdentifier name)) {
            throw Errors.error(SqlState.SYNTAX_ERROR, "a column is expected here", node);
        }
        String last = name.names.get(name.names.size() - 1);
        return columns.stream()
                .filter(column -> column.name().equals(last))
                .findFirst()
                .orElseThrow(
                        () -> Errors.error(SqlState.UNDEFINED_COLUMN, "column \"" + last + "\" does not exist", node));
    }

    private static String value(Fill fill, Column column, Column time) {
        String here = ROW + "." + Identifiers.quote(column.name());
        if (fill == Fill.LOCF || fill == Fill.PARTITION_BY) {
            return here;
        }
        String from = ROW + "." + Identifiers.quote(time.name());
        String isThere = "CASE WHEN " + AT + " = " + from + " OR " + from + " IS NULL THEN " + here;
        if (fill == Fill.KEEPNULL) {
            return isThere + " END";
        }
        DataType type = TypeMapper.dataType(column.type());
        boolean exact = type.isExact() || type.isInteger();
        Function<String, String> number =
                value -> "CAST(" + value + " AS " + (exact ? "numeric" : "double precision") + ")";
        Function<String, String> since = until -> number.apply("extract(epoch FROM (" + until + " - " + from + "))");
        String next = ROW + "." + Identifiers.quote(NEXT + column.name());
        String end = ROW + "." + Identifiers.quote(NEXT + time.name());
        return isThere + " ELSE CAST(" + number.apply(here) + " + (" + number.apply(next) + " - " + number.apply(here)
                + ") * " + since.apply(AT) + " / " + since.apply(end) + " AS " + type + ") END";
    }
}

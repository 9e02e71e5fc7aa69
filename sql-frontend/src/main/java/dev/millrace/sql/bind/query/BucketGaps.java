package dev.millrace.sql.bind.query;

import dev.millrace.error.SqlState;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.sql.bind.expression.FunctionNames;
import dev.millrace.sql.bind.gap.GapBounds;
import dev.millrace.sql.bind.gap.GapKeys;
import dev.millrace.sql.bind.gap.Placing;
import dev.millrace.sql.bind.scope.BoundQuery;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.parser.StatementParser;
import dev.millrace.sql.syntax.FromClauses;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import org.apache.calcite.rel.type.RelDataTypeField;
import org.apache.calcite.sql.SqlBasicCall;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlSelect;
import org.apache.calcite.sql.SqlSelectKeyword;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.apache.calcite.sql.util.SqlShuttle;
import org.apache.calcite.util.Litmus;

/**
 * TimescaleDB's {@code GROUP BY time_bucket_gapfill(width, time [, start, finish])}: groups by {@code time_bucket}, and a row for each
 * bucket between two of a series, which is the rows of the same other keys. It is a query over the groups:
 *
 * <pre>
 * SELECT time_bucket_gapfill(w, t) AS b, k, locf(avg(x)) AS x FROM r GROUP BY b, k
 * is
 * SELECT at AS b, k, CASE WHEN at &lt; here THEN before_x ELSE x END AS x
 * FROM (SELECT *, lag(here) OVER o AS before, lag(x) OVER o AS before_x
 *       FROM (SELECT time_bucket(w, t) AS here, k, avg(x) AS x FROM r GROUP BY 1, 2) WINDOW o AS (PARTITION BY k ORDER BY here))
 *      LEFT JOIN generate_series(least(here, before + w), here, w) AS at ON TRUE
 * </pre>
 *
 * A group has the buckets before it, not those behind: so groups of windows that have closed are told once, with what was missing, and
 * of a series its last group is all that is kept. Start and finish, given or by WHERE, add the buckets from the one to the first group
 * and, which takes looking at the next group, those behind the last.
 */
final class BucketGaps {
    private static final String GROUPS = "millrace_groups";
    private static final String AT = "millrace_at";
    private static final String HERE = "millrace_here";
    private static final String STEP = "millrace_step";
    private static final String START = "millrace_start";
    private static final String FINISH = "millrace_finish";
    private static final String LAST = "millrace_last";
    private static final String KEY = "millrace_key_";
    private static final String VALUE = "millrace_value_";

    private final SqlSelect select;
    private final GapKeys keys;
    private final List<SqlNode> values = new ArrayList<>(); // what is read of a group
    private final TreeSet<Integer> befores = new TreeSet<>(); // of these the value of the group before
    private final TreeSet<Integer> knowns = new TreeSet<>(); // of these the last one before that is not NULL
    private final SqlCall bucket;
    private final GapBounds bounds;
    private List<DataType> types = List.of(); // of the groups' columns, when they are bound
    private DataType time = DataType.TIMESTAMP;

    private BucketGaps(SqlSelect select, QueryContext context) {
        this.select = select;
        this.keys = new GapKeys(select, context);
        this.bucket = keys.bucket();
        this.bounds = GapBounds.of(bucket, Optional.ofNullable(select.getWhere()));
    }

    /** The query that one with {@code time_bucket_gapfill} is; empty for any other. */
    static Optional<Rewritten> rewrite(SqlSelect select, OrderLimit order, QueryBinder queries, QueryContext context) {
        return GapKeys.isIn(select)
                ? Optional.of(new BucketGaps(select, context).rewrite(order, queries))
                : Optional.empty();
    }

    /** @param queries knows the groups by their name */
    record Rewritten(SqlSelect select, OrderLimit order, QueryBinder queries) {}

    // ---- the queries -----------------------------------------------------------------------------------------------

    private Rewritten rewrite(OrderLimit order, QueryBinder queries) {
        rows(); // finds what is read of a group
        ordered(order);
        BoundQuery groups = queries.bind(groups(), List.of());
        types = groups.rel().getRowType().getFieldList().stream()
                .map(RelDataTypeField::getType)
                .map(TypeMapper::dataType)
                .toList();
        time = types.get(keys.all().indexOf(bucket));
        return new Rewritten(rows(), ordered(order), queries.naming(GROUPS, groups));
    }

    /** The groups there are: the keys, what is read of them, and the last instant of a window. */
    private SqlSelect groups() {
        SqlParserPos position = select.getParserPosition();
        List<SqlNode> items = new ArrayList<>();
        List<SqlNode> grouped = new ArrayList<>();
        for (int i = 0; i < keys.all().size(); i++) {
            SqlNode key = keys.all().get(i);
            if (key == bucket) {
                Map<String, SqlNode> places = Map.of(STEP, bucket.operand(0), AT, bucket.operand(1));
                key = placed("time_bucket(CAST(" + STEP + " AS interval), " + AT + ")", places);
            }
            items.add(named(key, KEY + i));
            grouped.add(keys.isWindowed() && keys.all().get(i) == bucket ? bucket.operand(1) : key);
        }
        for (int i = 0; i < values.size(); i++) {
            items.add(named(values.get(i), VALUE + i));
        }
        if (keys.isWindowed()) {
            SqlNode end = keys.all().stream()
                    .filter(key -> keys.isEnd(keys.all().indexOf(key)))
                    .findFirst()
                    .orElseThrow();
            items.add(named(placed(AT + " - INTERVAL '1 microsecond'", Map.of(AT, end)), LAST));
        }
        return new SqlSelect(
                position,
                null,
                new SqlNodeList(items, position),
                select.getFrom(),
                select.getWhere(),
                new SqlNodeList(grouped, position),
                select.getHaving(),
                null,
                null,
                null,
                null,
                null,
                null);
    }

    private static SqlNode named(SqlNode value, String name) {
        SqlParserPos position = value.getParserPosition();
        return SqlStdOperatorTable.AS.createCall(position, value, new SqlIdentifier(name, position));
    }

    private static SqlNode placed(String text, Map<String, SqlNode> places) {
        return Objects.requireNonNull(StatementParser.parseExpression(text).accept(new Placing(places)));
    }

    /** The query as it was written, over the rows of all buckets. */
    private SqlSelect rows() {
        Rows rows = new Rows(List.of());
        Rows named = new Rows(outputs());
        List<SqlNode> items = new ArrayList<>();
        for (SqlNode item : select.getSelectList()) {
            boolean isList =
                    item instanceof SqlCall call && FunctionNames.of(call).equals(Optional.of("distinct on"));
            SqlNode over = Objects.requireNonNull(GapKeys.value(item).accept(rows));
            items.add(isList ? over : named(over, OutputNames.of(item)));
        }
        SqlNodeList windows = select.getWindowList();
        SqlNode qualify = select.getQualify();
        boolean known = !types.isEmpty();
        return new SqlSelect(
                select.getParserPosition(),
                keywords(),
                new SqlNodeList(items, select.getSelectList().getParserPosition()),
                known ? from() : select.getFrom(),
                null,
                null,
                null,
                windows == null ? null : (SqlNodeList) windows.accept(rows),
                qualify == null ? null : qualify.accept(named),
                null,
                null,
                null,
                null);
    }

    private SqlNodeList keywords() {
        List<SqlNode> keywords = new ArrayList<>();
        if (select.isDistinct()) {
            keywords.add(SqlSelectKeyword.DISTINCT.symbol(select.getParserPosition()));
        }
        return new SqlNodeList(keywords, select.getParserPosition());
    }

    private List<String> outputs() {
        return select.getSelectList().stream().map(OutputNames::of).toList();
    }

    private OrderLimit ordered(OrderLimit order) {
        Rows rows = new Rows(outputs());
        List<SqlNode> keysOfOrder = order.order().stream()
                .map(item -> SelectList.isAllColumns(item) ? item : Objects.requireNonNull(item.accept(rows)))
                .toList();
        return new OrderLimit(keysOfOrder, order.offset(), order.fetch(), order.withTies());
    }

    private SqlNode from() {
        String partition = "";
        for (int i = 0; i < keys.all().size(); i++) {
            if (keys.all().get(i) != bucket && !keys.isEnd(i)) {
                partition += (partition.isEmpty() ? "PARTITION BY " : ", ") + KEY + i;
            }
        }
        String window = " OVER (" + partition + " ORDER BY " + (keys.isWindowed() ? LAST : HERE) + ")";
        StringBuilder inner = new StringBuilder("SELECT *, lag(" + HERE + ")" + window + " AS millrace_before");
        if (bounds.finish().isPresent()) {
            inner.append(", lead(" + HERE + ")" + window + " AS millrace_next");
        }
        befores.forEach(
                value -> inner.append(", lag(" + VALUE + value + ")" + window + " AS millrace_before_" + value));
        knowns.forEach(value ->
                inner.append(", lag(" + VALUE + value + ") IGNORE NULLS" + window + " AS millrace_known_" + value));
        String key = KEY + keys.all().indexOf(bucket);
        inner.append(
                " FROM (SELECT *, " + withoutZone(key) + " AS " + HERE + " FROM " + GROUPS + ") AS millrace_group");
        String step = "CAST(" + STEP + " AS interval)";
        String first = "least(" + HERE + ", millrace_before + " + step + ")";
        if (bounds.start().isPresent()) {
            String start = bounds.firstInstant(like(key, START));
            first = "CASE WHEN millrace_before IS NULL THEN least(" + HERE + ", "
                    + withoutZone("time_bucket(" + step + ", " + start + ")") + ") ELSE " + first + " END";
        }
        String last = HERE;
        if (bounds.finish().isPresent()) {
            last = "CASE WHEN " + HERE + " IS NULL OR millrace_next IS NOT NULL THEN " + HERE + " ELSE greatest(" + HERE
                    + ", " + withoutZone(bounds.lastInstant(like(key, FINISH))) + ") END";
        }
        String text = "SELECT 1 FROM (" + inner + ") AS millrace_row LEFT JOIN LATERAL generate_series(" + first + ", "
                + last + ", " + step + ") AS millrace_series(" + AT + ") ON TRUE";
        Map<String, SqlNode> places = new HashMap<>();
        places.put(STEP, bucket.operand(0));
        bounds.start().ifPresent(start -> places.put(START, start));
        bounds.finish().ifPresent(finish -> places.put(FINISH, finish));
        SqlSelect parsed = (SqlSelect) StatementParser.parseQuery(text).accept(new Placing(places));
        return Objects.requireNonNull(Objects.requireNonNull(parsed).getFrom());
    }

    /** A constant as a value of the bucket's type. */
    private static String like(String key, String constant) {
        return "CASE WHEN " + key + " IS NULL THEN " + key + " ELSE " + constant + " END";
    }

    /** A time by which steps are counted: buckets are those of UTC. */
    private String withoutZone(String value) {
        return switch (time.kind()) {
            case TIMESTAMPTZ -> "timezone('UTC', " + value + ")";
            case DATE -> "CAST(" + value + " AS timestamp)";
            default -> value;
        };
    }

    /** The same as a value of the bucket's type. */
    private String withZone(String value) {
        return switch (time.kind()) {
            case TIMESTAMPTZ -> "timezone('UTC', " + value + ")";
            case DATE -> "CAST(" + value + " AS date)";
            default -> value;
        };
    }

    // ---- expressions -----------------------------------------------------------------------------------------------

    /** Expressions over groups as expressions over the rows of all buckets. */
    private final class Rows extends SqlShuttle {
        private final List<String> outputs;

        /** @param outputs names that stand for output columns */
        Rows(List<String> outputs) {
            this.outputs = outputs;
        }

        @Override
        public SqlNode visit(SqlIdentifier name) {
            if (name.isStar()
                    || name.isSimple() && outputs.contains(name.getSimple())
                    || name.names.equals(List.of(FromClauses.GROUPS_FRAME))) {
                return name;
            }
            int key = keys.placeOf(name);
            return key < 0 ? plain(place(name), name) : keyed(key);
        }

        @Override
        public SqlNode visit(SqlCall call) {
            if (call.isA(SqlKind.QUERY)) {
                return call;
            }
            int key = keys.placeOf(call);
            if (key >= 0) {
                return keyed(key);
            }
            if (GapKeys.isBucket(call)) {
                throw Errors.error(SqlState.GROUPING_ERROR, GapKeys.NAME + " is not the one in GROUP BY", call);
            }
            if (GapKeys.isFill(call)) {
                return fill(call);
            }
            if (call.getKind() == SqlKind.OVER && call.operand(0) instanceof SqlCall called) {
                SqlNode over = inside(called);
                return new SqlBasicCall(
                        call.getOperator(),
                        List.of(over, Objects.requireNonNull(call.operand(1).accept(this))),
                        call.getParserPosition());
            }
            if (keys.isAggregate(call)) {
                return plain(place(call), call);
            }
            if (call.getKind() == SqlKind.AS) {
                List<SqlNode> all = new ArrayList<>(call.getOperandList());
                all.set(0, Objects.requireNonNull(all.get(0).accept(this)));
                return call.getOperator().createCall(call.getParserPosition(), all);
            }
            return super.visit(call);
        }

        /** A window function's arguments, without taking itself for an aggregate of the group. */
        private SqlNode inside(SqlCall called) {
            List<SqlNode> operands = new ArrayList<>();
            for (SqlNode operand : called.getOperandList()) {
                boolean isFunction = operand instanceof SqlCall
                        && (called.getKind() == SqlKind.FILTER
                                || called.getKind() == SqlKind.IGNORE_NULLS
                                || called.getKind() == SqlKind.RESPECT_NULLS)
                        && operand == called.operand(0);
                operands.add(operand == null ? null : isFunction ? inside((SqlCall) operand) : operand.accept(this));
            }
            return called.getOperator()
                    .createCall(
                            called.getFunctionQuantifier(),
                            called.getParserPosition(),
                            operands.toArray(SqlNode[]::new));
        }

        private SqlNode keyed(int key) {
            if (keys.all().get(key) == bucket) {
                return over(withZone(AT));
            }
            return keys.isEnd(key)
                    ? over("CASE WHEN " + AT + " = " + HERE + " THEN " + KEY + key + " ELSE "
                            + withZone(AT + " + CAST(" + STEP + " AS interval)") + " END")
                    : new SqlIdentifier(KEY + key, keys.all().get(key).getParserPosition());
        }

        private int place(SqlNode value) {
            for (int i = 0; i < values.size(); i++) {
                if (values.get(i).equalsDeep(value, Litmus.IGNORE)) {
                    return i;
                }
            }
            values.add(value);
            return values.size() - 1;
        }

        private SqlNode over(String text) {
            return placed(text, Map.of(STEP, bucket.operand(0)));
        }

        private SqlNode plain(int value, SqlNode where) {
            return over("CASE WHEN " + AT + " = " + HERE + " OR " + HERE + " IS NULL THEN " + VALUE + value + " END")
                    .clone(where.getParserPosition());
        }

        private SqlNode fill(SqlCall call) {
            List<SqlNode> operands = call.getOperandList();
            boolean locf = FunctionNames.of(call).equals(Optional.of("locf"));
            boolean overNulls = locf && operands.size() == 2 && isTrue(operands.get(1));
            if (operands.isEmpty() || operands.size() > 1 && !overNulls) {
                throw Errors.error(
                                SqlState.UNDEFINED_FUNCTION,
                                (locf ? "locf" : "interpolate") + " with these arguments does not exist",
                                call)
                        .withHint(
                                locf
                                        ? "locf(value) or locf(value, treat_null_as_missing => true)"
                                        : "interpolate(value)");
            }
            int value = place(operands.get(0));
            String here = VALUE + value;
            String before = "millrace_before_" + value;
            if (overNulls) {
                knowns.add(value);
                String known = "millrace_known_" + value;
                return over("CASE WHEN " + AT + " < " + HERE + " THEN " + known + " ELSE coalesce(" + here + ", "
                        + known + ") END");
            }
            befores.add(value);
            return over(
                    locf
                            ? "CASE WHEN " + AT + " < " + HERE + " THEN " + before + " ELSE " + here + " END"
                            : interpolated(value, here, before, call));
        }

        private String interpolated(int value, String here, String before, SqlCall where) {
            DataType type =
                    types.isEmpty() ? DataType.DOUBLE : types.get(keys.all().size() + value);
            if (!type.isNumber()) {
                throw Errors.error(
                        SqlState.DATATYPE_MISMATCH,
                        "interpolate is for numbers, not for " + Coercions.name(type),
                        where);
            }
            String number = type.isExact() || type.isInteger() ? "numeric" : "double precision";
            String from = "CAST(" + before + " AS " + number + ")";
            String since = "CAST(extract(epoch FROM (%s - millrace_before)) AS " + number + ")";
            return "CASE WHEN " + AT + " = " + HERE + " OR " + HERE + " IS NULL THEN " + here + " WHEN " + AT + " < "
                    + HERE
                    + " THEN CAST(" + from + " + (CAST(" + here + " AS " + number + ") - " + from + ") * "
                    + since.formatted(AT) + " / " + since.formatted(HERE) + " AS " + type + ") END";
        }

        private static boolean isTrue(SqlNode argument) {
            SqlNode given =
                    argument.getKind() == SqlKind.ARGUMENT_ASSIGNMENT ? ((SqlCall) argument).operand(0) : argument;
            boolean named = argument.getKind() == SqlKind.ARGUMENT_ASSIGNMENT
                    && GapKeys.isNamed(((SqlCall) argument).operand(1), "treat_null_as_missing");
            return named && given instanceof SqlLiteral literal && Boolean.TRUE.equals(literal.getValue());
        }
    }
}

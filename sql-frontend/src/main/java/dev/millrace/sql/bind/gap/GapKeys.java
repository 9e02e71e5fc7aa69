package dev.millrace.sql.bind.gap;

import dev.millrace.error.SqlState;
import dev.millrace.sql.bind.expression.FunctionNames;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.syntax.FromClauses;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlNumericLiteral;
import org.apache.calcite.sql.SqlSelect;
import org.apache.calcite.util.Litmus;
import org.jspecify.annotations.Nullable;

/** What a query with {@code time_bucket_gapfill} groups by, as it is written: names and numbers of SELECT are what they stand for. */
public final class GapKeys {
    public static final String NAME = "time_bucket_gapfill";

    private final SqlSelect select;
    private final QueryContext context;
    private final List<SqlNode> keys = new ArrayList<>();
    private final SqlCall bucket;
    private final boolean windowed;

    /** 42803 unless one of the keys is such a bucket. */
    public GapKeys(SqlSelect select, QueryContext context) {
        this.select = select;
        this.context = context;
        group();
        List<SqlNode> buckets = keys.stream().filter(GapKeys::isBucket).toList();
        if (buckets.size() != 1) {
            throw Errors.error(
                            SqlState.GROUPING_ERROR,
                            NAME + " is an expression of GROUP BY, by itself and once",
                            buckets.isEmpty() ? select : buckets.get(1))
                    .withHint("SELECT " + NAME + "('1 minute', ts) AS minute, locf(avg(x)) FROM s GROUP BY minute");
        }
        this.bucket = (SqlCall) buckets.get(0);
        this.windowed = bucket.operandCount() > 1
                && isNamed(bucket.operand(1), "window_start")
                && keys.stream().anyMatch(key -> isNamed(key, "window_end"));
    }

    /** Whether a query is one with such buckets. */
    public static boolean isIn(SqlSelect select) {
        return calls(select.getSelectList()) || select.getGroup() != null && calls(select.getGroup());
    }

    private static boolean calls(SqlNode node) {
        if (node instanceof SqlNodeList list) {
            return list.stream().anyMatch(GapKeys::calls);
        }
        return node instanceof SqlCall call
                && !node.isA(SqlKind.QUERY)
                && (isBucket(node)
                        || call.getOperandList().stream().anyMatch(operand -> operand != null && calls(operand)));
    }

    /** The keys in their order, the bucket among them. */
    public List<SqlNode> all() {
        return keys;
    }

    public SqlCall bucket() {
        return bucket;
    }

    /** Whether the groups are of windows, whose ends are a key, too. */
    public boolean isWindowed() {
        return windowed;
    }

    /** Whether a key is the end of the windows. */
    public boolean isEnd(int key) {
        return windowed && isNamed(keys.get(key), "window_end");
    }

    public static boolean isBucket(SqlNode node) {
        return node instanceof SqlCall call && FunctionNames.of(call).equals(Optional.of(NAME));
    }

    /** Whether a node is a column of this name, qualified or not. */
    public static boolean isNamed(SqlNode node, String name) {
        return node instanceof SqlIdentifier identifier
                && identifier.names.get(identifier.names.size() - 1).equals(name);
    }

    private static List<SqlNode> items(@Nullable SqlNodeList list) {
        return list == null ? List.of() : list.getList();
    }

    private static boolean isAllColumns(SqlNode node) {
        return node instanceof SqlIdentifier name && name.names.equals(List.of(FromClauses.ALL_COLUMNS));
    }

    private void group() {
        for (SqlNode item : items(select.getGroup())) {
            switch (item.getKind()) {
                case GROUPING_SETS, ROLLUP, CUBE, ROW ->
                    throw Errors.notAvailableYet(NAME + " with grouping sets", item)
                            .withHint("UNION ALL of a query for each set");
                default -> {}
            }
            if (isAllColumns(item)) {
                select.getSelectList().stream()
                        .map(GapKeys::value)
                        .filter(value -> !readsGroup(value))
                        .forEach(keys::add);
            } else {
                keys.add(meant(item));
            }
        }
    }

    /** An item of SELECT without its name. */
    public static SqlNode value(SqlNode item) {
        return item.getKind() == SqlKind.AS ? ((SqlCall) item).operand(0) : item;
    }

    /** What an item of GROUP BY is: a number's column, and what a name that SELECT gives stands for, unless that reads a column called so. */
    private SqlNode meant(SqlNode item) {
        List<SqlNode> list = select.getSelectList().getList();
        if (item instanceof SqlNumericLiteral number && number.isInteger()) {
            int place = number.intValue(true);
            if (place < 1 || place > list.size()) {
                throw Errors.error(
                        SqlState.INVALID_COLUMN_REFERENCE,
                        "GROUP BY position " + place + " is not in select list",
                        item);
            }
            return value(list.get(place - 1));
        }
        if (!(item instanceof SqlIdentifier name) || !name.isSimple()) {
            return item;
        }
        return list.stream()
                .filter(each -> each.getKind() == SqlKind.AS && isNamed(((SqlCall) each).operand(1), name.getSimple()))
                .map(GapKeys::value)
                .filter(each -> isBucket(each) || !reads(each, name.getSimple()))
                .findFirst()
                .orElse(item);
    }

    private static boolean reads(SqlNode node, String name) {
        return isNamed(node, name)
                || node instanceof SqlCall call
                        && call.getOperandList().stream().anyMatch(operand -> operand != null && reads(operand, name));
    }

    /** Whether an expression has an aggregate, or what fills one, in it. */
    private boolean readsGroup(SqlNode node) {
        return node instanceof SqlCall call
                && (isFill(call)
                        || isAggregate(call)
                        || call.getOperandList().stream().anyMatch(operand -> operand != null && readsGroup(operand)));
    }

    /** Whether a call is of an aggregate, perhaps with FILTER or WITHIN GROUP. */
    public boolean isAggregate(SqlCall call) {
        SqlCall called = call;
        while ((called.getKind() == SqlKind.FILTER || called.getKind() == SqlKind.WITHIN_GROUP)
                && called.operand(0) instanceof SqlCall inner) {
            called = inner;
        }
        return called.getKind() == SqlKind.WITHIN_GROUP
                || FunctionNames.of(called)
                        .filter(name -> FunctionNames.isAggregate(name, context))
                        .isPresent();
    }

    /** Whether a call says what is in buckets without rows. */
    public static boolean isFill(SqlCall call) {
        return FunctionNames.of(call)
                .filter(name -> name.equals("locf") || name.equals("interpolate"))
                .isPresent();
    }

    /** The place of the key that an expression is; -1 for any other. */
    public int placeOf(SqlNode node) {
        for (int i = 0; i < keys.size(); i++) {
            if (keys.get(i).equalsDeep(node, Litmus.IGNORE)
                    || node instanceof SqlIdentifier name
                            && keys.get(i) instanceof SqlIdentifier key
                            && (name.isSimple() || key.isSimple())
                            && isNamed(key, name.names.get(name.names.size() - 1))) {
                return i;
            }
        }
        return -1;
    }
}

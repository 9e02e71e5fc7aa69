package dev.millrace.sql.bind.query;

import com.google.common.collect.ImmutableList;
import dev.millrace.error.SqlState;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.algebra.TimedJoin;
import dev.millrace.sql.bind.expression.ExpressionBinder;
import dev.millrace.sql.bind.expression.FunctionNames;
import dev.millrace.sql.bind.query.FromBinder.On;
import dev.millrace.sql.bind.relation.RelNodes;
import dev.millrace.sql.bind.scope.Clause;
import dev.millrace.sql.bind.scope.From;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.RelationLookUp;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.scope.Scope.Column;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.catalog.Relation;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import org.apache.calcite.plan.Convention;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.hint.RelHint;
import org.apache.calcite.rel.logical.LogicalAsofJoin;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.JoinConditionType;
import org.apache.calcite.sql.JoinType;
import org.apache.calcite.sql.SqlAsofJoin;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlJoin;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlSnapshot;
import org.apache.calcite.util.ImmutableBitSet;

/**
 * Joins in which time chooses the right row: ASOF, and FOR SYSTEM_TIME AS OF.
 *
 * <pre>
 * a ASOF JOIN b ON a.k = b.k AND a.ts >= b.ts                    DuckDB; the one inequality chooses
 * a ASOF JOIN b MATCH_CONDITION (a.ts >= b.ts) ON a.k = b.k      Snowflake, Calcite
 * a ASOF JOIN b USING (k, ts)                                    DuckDB; the last column chooses
 * a JOIN t FOR SYSTEM_TIME AS OF a.ts ON a.k = t.k               a table's row when a's row came; that of a stream, or of a
 *                                                                table with a watermark, as of a.ts
 * a JOIN t FOR SYSTEM_TIME AS OF proctime() ON a.k = t.k         the table's row when a's row came
 * </pre>
 */
final class TimedJoinBinder {
    private static final Set<SqlKind> INEQUALITIES =
            Set.of(SqlKind.GREATER_THAN, SqlKind.GREATER_THAN_OR_EQUAL, SqlKind.LESS_THAN, SqlKind.LESS_THAN_OR_EQUAL);
    private static final Set<String> NOW = Set.of("proctime", "now", "current_timestamp", "localtimestamp");

    private final QueryContext context;
    private final From left;
    private final From right;
    private final SqlJoin join;
    private final int width;

    TimedJoinBinder(QueryContext context, From left, From right, SqlJoin join) {
        this.context = context;
        this.left = left;
        this.right = right;
        this.join = join;
        this.width = left.rel().getRowType().getFieldCount();
    }

    /** The snapshot that a FROM item reads, under an alias or not. */
    static Optional<SqlSnapshot> snapshot(SqlNode node) {
        SqlNode inner = node.getKind() == SqlKind.AS ? ((SqlCall) node).operand(0) : node;
        return inner instanceof SqlSnapshot snapshot ? Optional.of(snapshot) : Optional.empty();
    }

    // ---- ASOF ------------------------------------------------------------------------------------------------------

    From asof(BiFunction<SqlNode, From, On> onCondition) {
        JoinRelType type = join.getJoinType() == JoinType.ASOF ? JoinRelType.ASOF : JoinRelType.LEFT_ASOF;
        if (join.getConditionType() == JoinConditionType.USING) {
            return using(type);
        }
        if (join.getConditionType() != JoinConditionType.ON) {
            throw Errors.error(SqlState.SYNTAX_ERROR, "an ASOF JOIN needs ON or USING", join);
        }
        List<RexNode> equalities = new ArrayList<>();
        List<RexNode> matches = new ArrayList<>();
        SqlNode match = join instanceof SqlAsofJoin asof ? asof.getMatchCondition() : join.getCondition();
        boolean within =
                RexUtil.SubQueryFinder.find(split(join.getCondition(), onCondition, equalities, matches)) != null;
        if (match.getKind() != SqlKind.LITERAL && match != join.getCondition()) {
            equalities.addAll(matches);
            matches.clear();
            split(match, onCondition, matches, matches);
        }
        boolean isOne = matches.size() == 1 && matches.get(0).isA(INEQUALITIES) && isAcross(matches.get(0));
        boolean areEqual = equalities.stream().allMatch(node -> node.isA(SqlKind.EQUALS) && isAcross(node));
        if (within || !isOne || !areEqual) {
            throw Errors.error(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "the condition of an ASOF JOIN is equalities of both sides and one of >=, >, <=, < between them",
                            join)
                    .withHint("put other conditions in WHERE, behind the join, or on a sub-query of one side");
        }
        return beside(asofJoin(equalities, matches.get(0), type, List.of()));
    }

    private RexNode split(
            SqlNode node, BiFunction<SqlNode, From, On> onCondition, List<RexNode> equalities, List<RexNode> others) {
        RexNode condition = onCondition.apply(node, both()).condition();
        for (RexNode conjunct : RelOptUtil.conjunctions(condition)) {
            (conjunct.isA(INEQUALITIES) ? others : equalities).add(conjunct);
        }
        return condition;
    }

    /** Whether a comparison has one side of the left rows and one of the right. */
    private boolean isAcross(RexNode comparison) {
        List<RexNode> operands = ((RexCall) comparison).getOperands();
        return isOf(operands.get(0), true) && isOf(operands.get(1), false)
                || isOf(operands.get(0), false) && isOf(operands.get(1), true);
    }

    private boolean isOf(RexNode node, boolean ofLeft) {
        ImmutableBitSet columns = RelOptUtil.InputFinder.bits(node);
        return !columns.isEmpty() && (ofLeft ? columns.length() <= width : columns.nth(0) >= width);
    }

    private From using(JoinRelType type) {
        List<RexNode> equalities = new ArrayList<>();
        From both = both();
        List<Integer> hidden = new ArrayList<>();
        SqlNodeList names = (SqlNodeList) join.getCondition();
        for (SqlNode node : names) {
            String name = ((SqlIdentifier) node).getSimple();
            Column a = column(both.columns().subList(0, left.columns().size()), name, node);
            Column b = column(
                    both.columns().subList(left.columns().size(), both.columns().size()), name, node);
            String operator = equalities.size() == names.size() - 1 ? "ge" : "eq";
            equalities.add(context.functions().operator(operator, List.of(reference(a), reference(b)), node));
            hidden.add(b.index());
        }
        RexNode match = equalities.remove(equalities.size() - 1);
        From joined = beside(asofJoin(equalities, match, type, List.of()));
        List<Column> columns = joined.columns().stream()
                .map(column -> hidden.contains(column.index()) ? column.hidden(true) : column)
                .toList();
        return new From(joined.rel(), columns);
    }

    private static Column column(List<Column> columns, String name, SqlNode where) {
        return columns.stream()
                .filter(column -> !column.hidden() && column.name().equals(name))
                .findFirst()
                .orElseThrow(() -> Errors.error(
                        SqlState.UNDEFINED_COLUMN,
                        "column \"" + name + "\" specified in USING clause does not exist in both tables",
                        where));
    }

    private static RexNode reference(Column column) {
        return new RexInputRef(column.index(), column.type());
    }

    // ---- FOR SYSTEM_TIME AS OF -------------------------------------------------------------------------------------

    /** @param isCommon whether the right side is of WITH */
    From temporal(SqlSnapshot snapshot, boolean isCommon, Scope leftScope, BiFunction<SqlNode, From, On> onCondition) {
        JoinRelType type = switch (join.getJoinType()) {
            case INNER, COMMA, CROSS -> JoinRelType.ASOF;
            case LEFT -> JoinRelType.LEFT_ASOF;
            default ->
                throw Errors.error(
                                SqlState.FEATURE_NOT_SUPPORTED,
                                "a join with FOR SYSTEM_TIME AS OF is an inner or a LEFT one",
                                join)
                        .withHint("put the table whose rows are looked up on the right");
        };
        boolean isCross = join.getJoinType() == JoinType.CROSS || join.getJoinType() == JoinType.COMMA;
        if (!isCross && join.getConditionType() != JoinConditionType.ON) {
            throw Errors.error(SqlState.SYNTAX_ERROR, "a join with FOR SYSTEM_TIME AS OF needs ON", join);
        }
        RexNode condition = isCross
                ? Rex.builder().makeLiteral(true)
                : onCondition.apply(join.getCondition(), both()).condition();
        if (RexUtil.SubQueryFinder.find(condition) != null) {
            throw Errors.notAvailableYet("a sub-query in the ON of a join with FOR SYSTEM_TIME AS OF", join)
                    .withHint("put the condition in WHERE, behind the join");
        }
        Optional<Relation> relation = isCommon || !(snapshot.getTableRef() instanceof SqlIdentifier name)
                ? Optional.empty()
                : Optional.of(RelationLookUp.of(context, name));
        Optional<Relation> stream = relation.filter(TimedJoinBinder::keepsNoRows);
        if (isNow(snapshot.getPeriod())) {
            if (stream.isPresent()) {
                throw noRows(stream.get(), snapshot);
            }
            return beside(asofJoin(
                    RelOptUtil.conjunctions(condition),
                    Rex.builder().makeLiteral(true),
                    type,
                    List.of(TimedJoin.ONCE)));
        }
        RexNode time = new ExpressionBinder(context, leftScope, Clause.plain("FOR SYSTEM_TIME AS OF"))
                .bind(snapshot.getPeriod());
        if (!(time instanceof RexInputRef)) {
            throw Errors.error(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "FOR SYSTEM_TIME AS OF takes a time column of the left side, or proctime()",
                            snapshot.getPeriod())
                    .withHint("compute the time in a sub-query on the left, and name its column");
        }
        Optional<Relation> versioned = relation.filter(table ->
                table.kind() == Relation.Kind.TABLE && table.eventTime().isPresent());
        if (versioned.filter(table -> table.primaryKey().isEmpty()).isPresent()) {
            throw Errors.error(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "rows of \"" + versioned.get().name() + "\" are versions of nothing: it has no primary key",
                            snapshot)
                    .withHint("ASOF JOIN finds the row that is nearest in time");
        }
        if (versioned.isPresent()) {
            return versions(versioned.get(), time, RelOptUtil.conjunctions(condition), type, snapshot);
        }
        if (stream.isEmpty()) {
            return beside(asofJoin(
                    RelOptUtil.conjunctions(condition),
                    Rex.builder().makeLiteral(true),
                    type,
                    List.of(TimedJoin.ONCE)));
        }
        int rightTime = stream.get()
                .eventTime()
                .orElseThrow(() -> noRows(stream.get(), snapshot))
                .column();
        RexNode match = notAfter(rightTime, time, snapshot);
        List<RexNode> equalities = RelOptUtil.conjunctions(condition);
        if (!equalities.stream().allMatch(node -> node.isA(SqlKind.EQUALS) && isAcross(node))) {
            throw Errors.error(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "the condition of a join with a stream FOR SYSTEM_TIME AS OF is equalities of both sides",
                            join)
                    .withHint("put other conditions in WHERE, behind the join");
        }
        return beside(asofJoin(equalities, match, type, List.of(TimedJoin.ONCE)));
    }

    private RexNode notAfter(int rightTime, RexNode time, SqlSnapshot snapshot) {
        RexNode version = Rex.builder().makeInputRef(both().rel(), width + rightTime);
        return context.functions().operator("ge", List.of(time, version), snapshot.getPeriod());
    }

    /** Versions are of keys: what they are joined by is the key, and what else is asked is asked of the version found. */
    private From versions(
            Relation table, RexNode time, List<RexNode> conjuncts, JoinRelType type, SqlSnapshot snapshot) {
        for (int key : table.primaryKey()) {
            if (conjuncts.stream().noneMatch(node -> isEqualTo(node, width + key))) {
                throw Errors.error(
                                SqlState.FEATURE_NOT_SUPPORTED,
                                "a join with versions of \"" + table.name()
                                        + "\" is by its primary key, but nothing is said to equal \""
                                        + table.schema().field(key).name() + "\"",
                                join)
                        .withHint("join ON the whole key; FOR SYSTEM_TIME AS OF proctime() sees current rows, by any"
                                + " condition");
            }
        }
        RexNode match = notAfter(table.eventTime().orElseThrow().column(), time, snapshot);
        return beside(asofJoin(conjuncts, match, type, List.of(TimedJoin.ONCE, TimedJoin.VERSIONS)));
    }

    /** Whether a condition says that a right column, maybe as another type, equals something of the left side. */
    private boolean isEqualTo(RexNode node, int column) {
        if (!node.isA(SqlKind.EQUALS) || !isAcross(node)) {
            return false;
        }
        return ((RexCall) node)
                .getOperands().stream()
                        .map(operand -> operand.isA(SqlKind.CAST)
                                ? ((RexCall) operand).getOperands().get(0)
                                : operand)
                        .anyMatch(operand -> operand instanceof RexInputRef ref && ref.getIndex() == column);
    }

    private static boolean keepsNoRows(Relation relation) {
        return relation.kind() == Relation.Kind.STREAM || relation.kind() == Relation.Kind.CONTINUOUS_QUERY;
    }

    private static RuntimeException noRows(Relation stream, SqlNode where) {
        return Errors.error(
                        SqlState.FEATURE_NOT_SUPPORTED,
                        "\"" + stream.name() + "\" has no current rows, nor rows of a time that a watermark speaks of",
                        where)
                .withHint(
                        "join with a table or a materialized view, or with a stream that has a watermark as of a column");
    }

    private static boolean isNow(SqlNode period) {
        return period instanceof SqlCall call
                        && FunctionNames.of(call).filter(NOW::contains).isPresent()
                || period instanceof SqlIdentifier name && name.isSimple() && NOW.contains(name.getSimple());
    }

    // ---- making it -------------------------------------------------------------------------------------------------

    private From both() {
        return FromBinder.beside(
                left,
                right,
                RelNodes.join(left.rel(), right.rel(), Rex.builder().makeLiteral(true), JoinRelType.INNER));
    }

    private From beside(RelNode rel) {
        return FromBinder.beside(left, right, rel);
    }

    private RelNode asofJoin(List<RexNode> conjuncts, RexNode match, JoinRelType type, List<RelHint> hints) {
        RexNode condition = conjuncts.isEmpty() ? Rex.builder().makeLiteral(true) : Rex.combine("and", conjuncts);
        if (match.isAlwaysTrue()) {
            context.foundLookup();
        }
        return new LogicalAsofJoin(
                left.rel().getCluster(),
                left.rel().getCluster().traitSetOf(Convention.NONE),
                hints,
                left.rel(),
                right.rel(),
                condition,
                match,
                type,
                ImmutableList.of());
    }
}

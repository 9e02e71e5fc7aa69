package dev.millrace.sql.bind.change;

import dev.millrace.error.SqlState;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.sql.bind.expression.ExpressionBinder;
import dev.millrace.sql.bind.expression.FunctionNames;
import dev.millrace.sql.bind.query.FromBinder;
import dev.millrace.sql.bind.query.QueryBinder;
import dev.millrace.sql.bind.relation.RelNodes;
import dev.millrace.sql.bind.scope.Clause;
import dev.millrace.sql.bind.scope.From;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.catalog.ColumnRule;
import dev.millrace.sql.statement.Emit;
import dev.millrace.sql.statement.Merge;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.syntax.MergeClause;
import dev.millrace.sql.syntax.MergeClause.Match;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlOperator;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.apache.calcite.sql.util.SqlShuttle;

/**
 * Binds MERGE: one query says of each row of the source and of the table which action is its, and what the row becomes.
 *
 * <pre>
 *   project(columns of the table, CASE action WHEN 0 THEN new columns of the first .. END, action, columns of the source)
 *    \- filter(action IS NOT NULL)
 *        \- project(*, CASE WHEN matched AND condition THEN 0 .. END AS action)
 *            \- source, row is there [LEFT | RIGHT | FULL] JOIN table, row is there ON condition
 * </pre>
 */
final class MergeBinder {
    private static final String ACTION = "merge_action";
    private static final String HIDDEN = "merge";
    private static final Schema ACTION_COLUMN = Schema.of(new Field(ACTION, DataType.TEXT, false));

    private final QueryContext context;
    private final Syntax.Merge merge;
    private final ChangeTarget target;
    private final QueryBinder queries;
    private final From source;
    private final From own;
    private final String name;
    private final int width; // of the source, with what says that the row is there
    private final List<Merge.Action> actions = new ArrayList<>();
    private final List<MergeClause> acting = new ArrayList<>();

    MergeBinder(QueryContext context, Syntax.Merge merge) {
        this.context = context;
        this.merge = merge;
        this.target = ChangeTarget.table(context, merge.relation(), "MERGE INTO");
        this.queries = new QueryBinder(context, Optional.empty()).with(merge.with());
        // a name of WITH does not stand for what is changed
        From found = new FromBinder(context, new QueryBinder(context, Optional.empty()), Optional.empty())
                .bind(merge.relation());
        SqlIdentifier called = merge.alias().orElse(merge.relation());
        this.name = called.names.get(called.names.size() - 1);
        this.own = thatSaysItIsThere(From.of(
                found.rel(),
                name,
                target.relation().schema().names(),
                merge.alias().isPresent()
                        ? ""
                        : context.catalog().schemaOf(target.relation().name())));
        this.source = thatSaysItIsThere(new FromBinder(context, queries, Optional.empty()).bind(merge.source()));
        this.width = source.rel().getRowType().getFieldCount();
        FromBinder.requireDistinctQualifiers(own, source, merge.source());
        requireReachable();
    }

    /** With one more column, which is NULL where an outer join made the row. */
    private static From thatSaysItIsThere(From from) {
        List<RexNode> columns = new ArrayList<>(RelNodes.references(from.rel()));
        columns.add(Rex.builder().makeLiteral(true));
        List<String> names = new ArrayList<>(from.rel().getRowType().getFieldNames());
        names.add("is there");
        return new From(RelNodes.project(from.rel(), columns, names), from.columns());
    }

    private void requireReachable() {
        Set<Match> all = EnumSet.noneOf(Match.class);
        for (MergeClause clause : merge.clauses()) {
            if (all.contains(clause.match())) {
                throw Errors.error(
                        SqlState.SYNTAX_ERROR,
                        "unreachable WHEN clause specified after unconditional WHEN clause",
                        new SqlParserPos(1, clause.position(), 1, clause.position()));
            }
            if (clause.condition().isEmpty()) {
                all.add(clause.match());
            }
        }
    }

    Statement bind() {
        From joined = joined();
        Scope conditions = scope(joined, joined.rel());
        List<RexNode> chosen = new ArrayList<>(RelNodes.references(joined.rel()));
        chosen.add(action(conditions));
        List<String> names = new ArrayList<>(joined.rel().getRowType().getFieldNames());
        names.add("action");
        RelNode acted = RelNodes.project(joined.rel(), chosen, names, correlation(chosen, conditions));
        RexNode action = RelNodes.references(acted).get(chosen.size() - 1);
        RelNode rows = RelNodes.filter(acted, call(SqlStdOperatorTable.IS_NOT_NULL, action), Optional.empty());
        Query changes = changes(joined, rows, action);
        return new Merge(target.relation().name(), changes, actions, returning());
    }

    private static RexNode call(SqlOperator operator, RexNode operand) {
        return Rex.builder().makeCall(operator, operand);
    }

    // ---- which rows ------------------------------------------------------------------------------------------------

    private From joined() {
        RexNode always = Rex.builder().makeLiteral(true);
        From both = FromBinder.beside(source, own, RelNodes.join(source.rel(), own.rel(), always, JoinRelType.INNER));
        RexNode condition = new ExpressionBinder(context, scope(both, both.rel()), Clause.plain("MERGE ON"))
                .bindCondition(merge.condition());
        if (RexUtil.SubQueryFinder.find(condition) != null) {
            throw Errors.notAvailableYet("a sub-query in the ON of a MERGE", merge.condition())
                    .withHint("USING (SELECT .. ) AS s can hold it, and so can WHEN MATCHED AND ..");
        }
        boolean ofSource = has(Match.NOT_MATCHED);
        boolean ofTarget = has(Match.NOT_MATCHED_BY_SOURCE);
        JoinRelType type = ofSource && ofTarget
                ? JoinRelType.FULL
                : ofSource ? JoinRelType.LEFT : ofTarget ? JoinRelType.RIGHT : JoinRelType.INNER;
        return FromBinder.beside(source, own, RelNodes.join(source.rel(), own.rel(), condition, type));
    }

    private boolean has(Match match) {
        return merge.clauses().stream().anyMatch(clause -> clause.match() == match);
    }

    private Scope scope(From from, RelNode rel) {
        return new Scope(Optional.empty(), from.columns(), rel.getRowType(), context, queries.commonTables());
    }

    private static Optional<CorrelationId> correlation(List<RexNode> values, Scope scope) {
        boolean asks = values.stream().anyMatch(value -> RexUtil.SubQueryFinder.find(value) != null);
        return asks ? scope.correlation() : Optional.empty();
    }

    /** What the clause's expressions can name: rows that are not there have no columns. */
    private Scope seen(Scope all, Match match) {
        return all.seeing(all.columns().stream()
                .filter(column -> switch (match) {
                    case MATCHED -> true;
                    case NOT_MATCHED -> column.index() < width;
                    case NOT_MATCHED_BY_SOURCE -> column.index() >= width;
                })
                .toList());
    }

    /** The number of the first action whose clause holds; NULL for nothing. */
    private RexNode action(Scope scope) {
        List<RexNode> operands = new ArrayList<>();
        RexNode nothing = Rex.nullOf(DataType.BIGINT);
        for (MergeClause clause : merge.clauses()) {
            List<RexNode> conditions = new ArrayList<>();
            conditions.add(isThere(scope, width - 1, clause.match() != Match.NOT_MATCHED_BY_SOURCE));
            conditions.add(isThere(scope, width + target.size(), clause.match() != Match.NOT_MATCHED));
            clause.condition()
                    .ifPresent(condition -> conditions.add(
                            new ExpressionBinder(context, seen(scope, clause.match()), Clause.plain("MERGE WHEN"))
                                    .bindCondition(condition)));
            operands.add(Rex.combine("and", conditions));
            if (clause.action() instanceof MergeClause.Nothing) {
                operands.add(nothing);
            } else {
                operands.add(Rex.bigint(acting.size()));
                acting.add(clause);
            }
        }
        operands.add(nothing);
        return Rex.builder().makeCall(TypeMapper.relType(DataType.BIGINT, true), SqlStdOperatorTable.CASE, operands);
    }

    private static RexNode isThere(Scope scope, int column, boolean is) {
        return call(is ? SqlStdOperatorTable.IS_NOT_NULL : SqlStdOperatorTable.IS_NULL, scope.reference(column));
    }

    // ---- what they become ------------------------------------------------------------------------------------------

    private Query changes(From joined, RelNode rows, RexNode action) {
        Scope scope = scope(joined, rows);
        List<RexNode> all = RelNodes.references(rows);
        List<RexNode> there = all.subList(width, width + target.size());
        List<List<RexNode>> became = new ArrayList<>();
        for (MergeClause clause : acting) {
            became.add(row(clause, seen(scope, clause.match()), there));
        }
        List<RexNode> values = new ArrayList<>(there);
        List<String> names = new ArrayList<>(target.relation().schema().names());
        for (int column = 0; column < target.size(); column++) {
            values.add(ofAction(action, became, column));
            names.add(target.field(column).name());
        }
        values.add(action);
        names.add("action");
        if (!merge.returning().isEmpty()) {
            for (Scope.Column column : sourceColumns()) {
                values.add(all.get(column.index()));
                names.add(column.name());
            }
        }
        RelNode project = RelNodes.project(rows, values, names, correlation(values, scope));
        return QueryBinder.query(context, project, names, new Emit.Unspecified());
    }

    private RexNode ofAction(RexNode action, List<List<RexNode>> became, int column) {
        DataType type = target.field(column).type();
        List<RexNode> operands = new ArrayList<>();
        for (int number = 0; number < became.size(); number++) {
            operands.add(Rex.builder().makeCall(SqlStdOperatorTable.EQUALS, action, Rex.bigint(number)));
            operands.add(became.get(number).get(column));
        }
        operands.add(Rex.nullOf(type));
        return operands.size() == 1
                ? operands.get(0)
                : Rex.builder().makeCall(TypeMapper.relType(type, true), SqlStdOperatorTable.CASE, operands);
    }

    private List<RexNode> row(MergeClause clause, Scope scope, List<RexNode> there) {
        if (clause.action() instanceof MergeClause.Update update) {
            List<RexNode> changed = new ArrayList<>(there);
            new AssignmentBinder(context, target, scope).bind(update.assignments(), changed);
            actions.add(new Merge.Action(Merge.Kind.UPDATE, List.of()));
            return changed;
        }
        if (clause.action() instanceof MergeClause.Insert insert) {
            return inserted(insert, scope, clause);
        }
        actions.add(new Merge.Action(Merge.Kind.DELETE, List.of()));
        return new ArrayList<>(there);
    }

    private List<RexNode> inserted(MergeClause.Insert insert, Scope scope, MergeClause clause) {
        SqlParserPos where = new SqlParserPos(1, clause.position(), 1, clause.position());
        List<Integer> columns = target.columns(insert.columns());
        int given = insert.values().size();
        if (given > columns.size()
                || given < columns.size() && given > 0 && !insert.columns().isEmpty()) {
            throw Errors.error(
                    SqlState.SYNTAX_ERROR,
                    given > columns.size()
                            ? "INSERT has more expressions than target columns"
                            : "INSERT has more target columns than expressions",
                    where);
        }
        List<RexNode> row = new ArrayList<>();
        for (int column = 0; column < target.size(); column++) {
            row.add(Rex.nullOf(target.field(column).type()));
        }
        ExpressionBinder expressions = new ExpressionBinder(context, scope, Clause.plain("MERGE INSERT"));
        List<Integer> used = new ArrayList<>();
        for (int i = 0; i < given; i++) {
            SqlNode value = insert.values().get(i);
            int column = columns.get(i);
            boolean ignored = insert.overriding() == Syntax.Overriding.USER_VALUE
                    && target.rule(column).filter(ColumnRule::isIdentity).isPresent();
            if (!ignored && !Defaults.isDefault(value)) {
                target.requireGivable(column, insert.overriding(), value);
                row.set(column, target.assign(context, expressions.bind(value), column, value));
                used.add(column);
            }
        }
        Defaults defaults = new Defaults(target);
        for (int column : defaults.expressed(used)) {
            row.set(column, defaults.value(context, column));
            used.add(column);
        }
        actions.add(new Merge.Action(Merge.Kind.INSERT, used));
        return row;
    }

    // ---- RETURNING -------------------------------------------------------------------------------------------------

    private List<Scope.Column> sourceColumns() {
        return source.columns().stream().filter(column -> !column.hidden()).toList();
    }

    /** Over the source's columns, the table's, and the name of what was done: a star is the former two in this order. */
    private Optional<Statement.Returning> returning() {
        List<RowsAtHand.Part> parts = new ArrayList<>();
        for (Scope.Column column : sourceColumns()) {
            Field field = new Field(column.name(), TypeMapper.dataType(column.type()), true);
            parts.add(new RowsAtHand.Part(column.qualifier(), Schema.of(field)));
        }
        parts.add(RowsAtHand.Part.of(
                context, target.relation(), name, merge.alias().isPresent()));
        parts.add(new RowsAtHand.Part(HIDDEN, ACTION_COLUMN, true, ""));
        List<SqlNode> items = merge.returning().stream()
                .map(item -> item.accept(new SqlShuttle() {
                    @Override
                    public SqlNode visit(SqlCall call) {
                        boolean asks = FunctionNames.of(call).equals(Optional.of(ACTION));
                        return asks
                                ? new SqlIdentifier(List.of(HIDDEN, ACTION), call.getParserPosition())
                                : super.visit(call);
                    }
                }))
                .toList();
        return ReturningBinder.bind(context, items, parts, merge.with());
    }
}

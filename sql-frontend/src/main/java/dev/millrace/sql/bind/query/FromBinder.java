package dev.millrace.sql.bind.query;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.algebra.RelationTable;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.bind.expression.ExpressionBinder;
import dev.millrace.sql.bind.expression.FunctionNames;
import dev.millrace.sql.bind.file.FileBinder;
import dev.millrace.sql.bind.match.MatchBinder;
import dev.millrace.sql.bind.relation.RelNodes;
import dev.millrace.sql.bind.scope.BoundQuery;
import dev.millrace.sql.bind.scope.Clause;
import dev.millrace.sql.bind.scope.From;
import dev.millrace.sql.bind.scope.InlinedFunction;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.RelationLookUp;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.scope.Scope.Column;
import dev.millrace.sql.bind.type.Coercions.Strength;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.calcite.plan.Convention;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.logical.LogicalTableScan;
import org.apache.calcite.rel.logical.LogicalValues;
import org.apache.calcite.rel.type.RelDataTypeField;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.JoinConditionType;
import org.apache.calcite.sql.JoinType;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlJoin;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlMatchRecognize;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlSnapshot;

/**
 * Binds FROM: relations, sub-queries, joins, window functions.
 */
public final class FromBinder {
    private final QueryContext context;
    private final QueryBinder queries;
    private final Optional<Scope> outer;
    private final Set<String> wholeRows;
    private boolean besideSnapshot; // whether the right side of a temporal join is being bound

    public FromBinder(QueryContext context, QueryBinder queries, Optional<Scope> outer) {
        this(context, queries, outer, Set.of());
    }

    /** @param wholeRows the names of relations that expressions may read as rows */
    public FromBinder(QueryContext context, QueryBinder queries, Optional<Scope> outer, Set<String> wholeRows) {
        this.wholeRows = wholeRows;
        this.context = context;
        this.queries = queries;
        this.outer = outer;
    }

    public From bind(SqlNode node) {
        if (node instanceof SqlIdentifier name) {
            return relation(name);
        }
        if (node instanceof SqlJoin join) {
            return join(join);
        }
        if (node.isA(SqlKind.QUERY)) {
            return query(node);
        }
        Optional<From> files = new FileBinder(context).bind(node); // as an argument of a window
        if (files.isPresent()) {
            return files.get();
        }
        if (!(node instanceof SqlCall call)) {
            throw Errors.error(SqlState.SYNTAX_ERROR, "a relation is expected here", node);
        }
        return switch (call.getKind()) {
            case AS -> {
                Optional<SqlCall> function = ExpandBinder.function(call, context);
                yield function.isPresent() && !isConstantSeries(function.get())
                        ? expanded(function.get(), call)
                        : alias(call);
            }
            case COLLECTION_TABLE -> tableFunction(call);
            case LATERAL -> bind(call.operand(0));
            case SNAPSHOT -> {
                if (!besideSnapshot) {
                    throw Errors.notAvailableYet("FOR SYSTEM_TIME AS OF anywhere but on the right of a join", call)
                            .withHint("a SELECT sees what is there now; a continuous query keeps what was");
                }
                yield bind(((SqlSnapshot) call).getTableRef());
            }
            case UNNEST -> expanded(call, call);
            case MATCH_RECOGNIZE -> match((SqlMatchRecognize) call);
            default -> throw Errors.error(SqlState.SYNTAX_ERROR, "syntax error in FROM", call);
        };
    }

    public From relation(SqlIdentifier written) {
        SqlIdentifier identifier = RelationLookUp.inDatabase(context, written);
        String name = RelationNames.of(identifier.names);
        String qualifier = identifier.names.get(identifier.names.size() - 1);
        if (context.atHand().isPresent() && name.equals(Relation.AT_HAND)) {
            return context.atHand().get();
        }
        Optional<BoundQuery> common = identifier.isSimple() ? queries.commonTable(name) : Optional.empty();
        if (common.isPresent()) {
            return From.of(common.get().rel(), qualifier, common.get().names());
        }
        if (identifier.isSimple() && context.isChangeWithoutRows(name)) {
            throw Errors.error(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "WITH query \"" + name + "\" does not have a RETURNING clause",
                            identifier)
                    .withHint("RETURNING * gives the rows that it changes");
        }
        Optional<Relation> changed = context.changedRows(name);
        if (changed.isPresent()) {
            RelNode rows = new LogicalTableScan(
                    context.cluster(),
                    context.cluster().traitSetOf(Convention.NONE),
                    List.of(),
                    new RelationTable(changed.get()));
            return From.of(rows, qualifier, changed.get().schema().names());
        }
        Optional<UserFunction> view = context.catalog().view(name);
        if (view.isPresent()) {
            return inlined(view.get(), List.of(), identifier);
        }
        Relation relation = RelationLookUp.of(context, identifier);
        if (relation.kind() == Relation.Kind.VIEW) {
            return new ViewBinder(context).bind(relation, identifier);
        }
        context.reads(relation);
        RelNode scan = new LogicalTableScan(
                context.cluster(),
                context.cluster().traitSetOf(Convention.NONE),
                List.of(),
                new RelationTable(relation));
        From from = From.of(
                scan, qualifier, relation.schema().names(), context.catalog().schemaOf(relation.name()));
        return relation.kind() == Relation.Kind.SYSTEM_VIEW ? withSystemColumns(from) : from;
    }

    /** PostgreSQL has in each row the number of the relation and what follows it, in columns that {@code *} does not give. */
    private static From withSystemColumns(From from) {
        List<Column> columns = new ArrayList<>();
        boolean hidden = false;
        for (Column column : from.columns()) {
            hidden |= column.name().equals(Scope.OWN_NUMBER);
            columns.add(column.hidden(hidden));
        }
        return new From(from.rel(), columns);
    }

    private From query(SqlNode node) {
        BoundQuery bound = queries.nested(outer).bind(node, List.of());
        return From.of(bound.rel(), "", bound.names());
    }

    private From match(SqlMatchRecognize match) {
        return new MatchBinder(context, bind(match.getTableRef()), match).bind();
    }

    /** The SQL function that an item of FROM calls. */
    private static Optional<UserFunction> sqlFunction(SqlNode item, QueryContext context) {
        SqlNode node = item;
        while (node.getKind() == SqlKind.AS || node.getKind() == SqlKind.LATERAL) {
            node = ((SqlCall) node).operand(0);
        }
        return node.getKind() == SqlKind.COLLECTION_TABLE && ((SqlCall) node).operand(0) instanceof SqlCall call
                ? FunctionNames.find(call, context).filter(function -> function.kind() == UserFunction.Kind.SQL_TABLE)
                : Optional.empty();
    }

    /** The rows of a SQL function's query, with the names and types of its columns. */
    public From inlined(UserFunction function, List<SqlNode> given, SqlNode call) {
        List<SqlNode> operands =
                outer.map(scope -> InlinedFunction.qualified(given, scope)).orElse(given);
        List<Field> fields = function.returns().fields();
        try {
            BoundQuery bound = queries.nested(outer)
                    .bind(
                            InlinedFunction.body(function, operands, call),
                            fields.stream().map(Field::type).toList());
            List<RexNode> columns = RelNodes.references(bound.rel());
            if (columns.size() != fields.size()) {
                throw Errors.error(
                        SqlState.INVALID_FUNCTION_DEFINITION,
                        "the query of function " + function.name() + " gives " + columns.size() + " columns, not "
                                + fields.size(),
                        call);
            }
            List<RexNode> converted = new ArrayList<>();
            for (int i = 0; i < columns.size(); i++) {
                converted.add(context.coercions()
                        .convert(columns.get(i), fields.get(i).type(), Strength.ASSIGNMENT, call));
            }
            List<String> names = fields.stream().map(Field::name).toList();
            return From.of(RelNodes.project(bound.rel(), converted, names), function.plainName(), names);
        } catch (MillraceException e) {
            throw Errors.at(e, call);
        }
    }

    private From tableFunction(SqlCall call) {
        Optional<UserFunction> sql = sqlFunction(call, context);
        if (sql.isPresent()) {
            SqlCall function = call.operand(0);
            return inlined(sql.get(), function.getOperandList(), function);
        }
        Optional<From> files = new FileBinder(context).bind(call.operand(0));
        if (files.isPresent()) {
            return files.get();
        }
        Optional<SqlCall> function = ExpandBinder.function(call, context);
        return function.isPresent() && !isConstantSeries(function.get())
                ? expanded(function.get(), call)
                : new TableFunctionBinder(context, this).bind(call.operand(0));
    }

    /** Whether this is generate_series of a few numbers, which are put into the plan. */
    private boolean isConstantSeries(SqlCall function) {
        return FunctionNames.of(function).equals(Optional.of("generate_series"))
                && TableFunctionBinder.isShortSeries(function);
    }

    /** A table function by itself: over one row. */
    private From expanded(SqlCall function, SqlNode item) {
        From none = new From(LogicalValues.createOneRow(context.cluster()), List.of());
        return new ExpandBinder(context, none, outer).bind(function, item, false);
    }

    private From alias(SqlCall call) {
        From from = bind(call.operand(0));
        SqlIdentifier alias = call.operand(1);
        List<Column> visible =
                from.columns().stream().filter(column -> !column.hidden()).toList();
        int given = call.operandCount() - 2;
        if (given > visible.size()) {
            throw Errors.error(
                    SqlState.INVALID_COLUMN_REFERENCE,
                    "table \"" + alias.getSimple() + "\" has " + visible.size() + " columns available but " + given
                            + " columns specified",
                    alias);
        }
        List<Column> renamed = new ArrayList<>();
        boolean series = ExpandBinder.function(call, context).isPresent() // its column is named after the alias
                || call.operand(0).getKind() == SqlKind.COLLECTION_TABLE
                        && visible.size() == 1
                        && !FileBinder.isCall(call.operand(0));
        for (int i = 0; i < visible.size(); i++) {
            Column column = visible.get(i);
            String unnamed = series ? alias.getSimple() : column.name();
            String name = i < given ? ((SqlIdentifier) call.operand(i + 2)).getSimple() : unnamed;
            renamed.add(new Column(alias.getSimple(), name, column.index(), column.type(), false));
        }
        if (call.operand(0).getKind() == SqlKind.IDENTIFIER) {
            from.columns().stream()
                    .filter(Column::hidden)
                    .map(column -> new Column(alias.getSimple(), column.name(), column.index(), column.type(), true))
                    .forEach(renamed::add);
        }
        return new From(from.rel(), renamed);
    }

    // ---- joins -----------------------------------------------------------------------------------------------------

    private From join(SqlJoin join) {
        From left = bind(join.getLeft());
        if (join.getJoinType() == JoinType.RIGHT || join.getJoinType() == JoinType.FULL) {
            left = OuterRows.mark(left, wholeRows);
        }
        Optional<SqlCall> function =
                ExpandBinder.function(join.getRight(), context).filter(call -> !isConstantSeries(call));
        if (function.isPresent() && isExpansion(join)) {
            return expand(join, left, function.get());
        }
        if (join.getJoinType() == JoinType.ASOF || join.getJoinType() == JoinType.LEFT_ASOF) {
            From right = bind(join.getRight());
            if (join.getJoinType() == JoinType.LEFT_ASOF) {
                right = OuterRows.markByColumns(right, wholeRows);
            }
            requireDistinctQualifiers(left, right, join.getRight());
            return new TimedJoinBinder(context, left, right, join).asof(this::onCondition);
        }
        Optional<SqlSnapshot> snapshot = TimedJoinBinder.snapshot(join.getRight());
        if (snapshot.isPresent()) {
            besideSnapshot = true;
            From right = bind(join.getRight());
            besideSnapshot = false;
            if (join.getJoinType() == JoinType.LEFT) {
                right = OuterRows.markByColumns(right, wholeRows);
            }
            requireDistinctQualifiers(left, right, join.getRight());
            boolean isCommon = snapshot.get().getTableRef() instanceof SqlIdentifier name
                    && name.isSimple()
                    && queries.commonTable(RelationNames.of(name.names)).isPresent();
            Scope scope = new Scope(outer, left.columns(), left.rel().getRowType(), context);
            return new TimedJoinBinder(context, left, right, join)
                    .temporal(snapshot.get(), isCommon, scope, this::onCondition);
        }
        boolean lateral = isLateral(join.getRight())
                || function.isPresent()
                || sqlFunction(join.getRight(), context).isPresent();
        Scope leftScope = new Scope(outer, left.columns(), left.rel().getRowType(), context);
        FromBinder rightBinder = lateral ? new FromBinder(context, queries, Optional.of(leftScope), wholeRows) : this;
        From right = rightBinder.bind(join.getRight());
        if (join.getJoinType() == JoinType.LEFT || join.getJoinType() == JoinType.FULL) {
            right = OuterRows.mark(right, wholeRows);
        }
        requireDistinctQualifiers(left, right, join.getRight());
        JoinRelType type = switch (join.getJoinType()) {
            case INNER, CROSS, COMMA -> JoinRelType.INNER;
            case LEFT -> JoinRelType.LEFT;
            case RIGHT -> JoinRelType.RIGHT;
            case FULL -> JoinRelType.FULL;
            case LEFT_SEMI_JOIN -> JoinRelType.SEMI;
            case LEFT_ANTI_JOIN -> JoinRelType.ANTI;
            case ASOF, LEFT_ASOF -> throw new IllegalStateException("bound before");
        };
        if (lateral && leftScope.correlation().isPresent()) {
            return new CorrelatedJoin(left, right, leftScope, context).bind(join, type, this::onCondition);
        }
        List<String> shared = UsingJoin.sharedColumns(join, left, right);
        if (type == JoinRelType.SEMI || type == JoinRelType.ANTI) {
            return semi(join, left, right, shared, type);
        }
        if (!shared.isEmpty()) {
            return new UsingJoin(context).bind(join, left, right, shared, type);
        }
        RexNode condition = Rex.builder().makeLiteral(true);
        if (join.getConditionType() == JoinConditionType.ON) {
            // Types inside the condition are those before the join makes them nullable.
            From both = beside(left, right, RelNodes.join(left.rel(), right.rel(), condition, JoinRelType.INNER));
            On on = onCondition(join.getCondition(), both);
            condition = on.condition;
            if (RexUtil.SubQueryFinder.find(condition) != null) {
                return new CorrelatedJoin(left, right, leftScope, context).joinWithSubQuery(join, type, both, on);
            }
        } else if (!join.isNatural() && (type != JoinRelType.INNER || join.getJoinType() == JoinType.INNER)) {
            throw Errors.error(SqlState.SYNTAX_ERROR, "a join needs ON or USING", join);
        }
        return beside(left, right, RelNodes.join(left.rel(), right.rel(), condition, type));
    }

    /** SEMI and ANTI: the columns of the left side alone. */
    private From semi(SqlJoin join, From left, From right, List<String> shared, JoinRelType type) {
        RexNode always = Rex.builder().makeLiteral(true);
        From both = beside(left, right, RelNodes.join(left.rel(), right.rel(), always, JoinRelType.INNER));
        RexNode condition;
        Optional<CorrelationId> correlation = Optional.empty();
        if (!shared.isEmpty()) {
            int leftColumns = left.columns().size();
            List<RexNode> equalities = new ArrayList<>();
            for (String name : shared) {
                Column a = UsingJoin.sharedColumn(both.columns().subList(0, leftColumns), name, "left", join);
                Column b = UsingJoin.sharedColumn(
                        both.columns().subList(leftColumns, both.columns().size()), name, "right", join);
                equalities.add(context.functions()
                        .operator("eq", List.of(UsingJoin.reference(a), UsingJoin.reference(b)), join));
            }
            condition = Rex.combine("and", equalities);
        } else if (join.getConditionType() == JoinConditionType.ON) {
            On on = onCondition(join.getCondition(), both);
            condition = on.condition();
            correlation = on.correlation();
        } else {
            throw Errors.error(SqlState.SYNTAX_ERROR, "a join needs ON or USING", join);
        }
        if (RexUtil.SubQueryFinder.find(condition) != null) {
            Scope leftScope = new Scope(outer, left.columns(), left.rel().getRowType(), context);
            return new CorrelatedJoin(left, right, leftScope, context).existence(type, new On(condition, correlation));
        }
        return new From(RelNodes.join(left.rel(), right.rel(), condition, type), left.columns());
    }

    /** Whether a table function's rows can stand beside those that they are made of; else it is a LATERAL sub-query. */
    private static boolean isExpansion(SqlJoin join) {
        boolean inner = join.getJoinType() == JoinType.INNER
                || join.getJoinType() == JoinType.CROSS
                || join.getJoinType() == JoinType.COMMA;
        return !join.isNatural()
                && join.getConditionType() != JoinConditionType.USING
                && (inner || join.getJoinType() == JoinType.LEFT && isAlways(join));
    }

    private static boolean isAlways(SqlJoin join) {
        return join.getConditionType() == JoinConditionType.NONE
                || join.getCondition() instanceof SqlLiteral literal && Boolean.TRUE.equals(literal.getValue());
    }

    /** {@code left CROSS JOIN unnest(left.a)}, also with a comma, or LEFT JOIN .. ON true. */
    private From expand(SqlJoin join, From left, SqlCall function) {
        boolean outerJoin = join.getJoinType() == JoinType.LEFT;
        From expanded = new ExpandBinder(context, left, outer).bind(function, join.getRight(), outerJoin);
        if (isAlways(join)) {
            return expanded;
        }
        On on = onCondition(join.getCondition(), expanded);
        return new From(RelNodes.filter(expanded.rel(), on.condition, on.correlation), expanded.columns());
    }

    /** A bound ON, and the variable by which its sub-queries refer to the joined row. */
    record On(RexNode condition, Optional<CorrelationId> correlation) {}

    private On onCondition(SqlNode condition, From both) {
        Scope scope = new Scope(outer, both.columns(), both.rel().getRowType(), context, queries.commonTables());
        RexNode bound = new ExpressionBinder(context, scope, Clause.plain("JOIN/ON")).bindCondition(condition);
        return new On(bound, scope.correlation());
    }

    private static boolean isLateral(SqlNode node) {
        SqlNode inner = node.getKind() == SqlKind.AS ? ((SqlCall) node).operand(0) : node;
        return inner.getKind() == SqlKind.LATERAL;
    }

    /** The columns of both sides in one row. */
    public static From beside(From left, From right, RelNode rel) {
        int offset = left.rel().getRowType().getFieldCount();
        List<RelDataTypeField> fields = rel.getRowType().getFieldList();
        List<Column> columns = new ArrayList<>();
        for (Column column : left.columns()) {
            columns.add(typed(column, column.index(), fields, column.hidden()));
        }
        for (Column column : right.columns()) {
            columns.add(typed(column, column.index() + offset, fields, column.hidden()));
        }
        return new From(rel, columns);
    }

    private static Column typed(Column column, int index, List<RelDataTypeField> fields, boolean hidden) {
        return new Column(
                column.qualifier(), column.name(), index, fields.get(index).getType(), hidden, column.schema());
    }

    public static void requireDistinctQualifiers(From left, From right, SqlNode where) {
        for (Column column : right.columns()) {
            String qualifier = column.qualifier();
            if (!qualifier.isEmpty()
                    && left.columns().stream()
                            .anyMatch(other -> other.qualifier().equals(qualifier) && !other.isOfOtherSchema(column))) {
                throw Errors.error(
                        SqlState.DUPLICATE_ALIAS, "table name \"" + qualifier + "\" specified more than once", where);
            }
        }
    }

    /** An expression over no rows at all, as a window's size. */
    RexNode constant(SqlNode node, DataType type, String what) {
        ExpressionBinder binder =
                new ExpressionBinder(context, Scope.empty(Optional.empty(), context), Clause.plain(what));
        return binder.bindAs(node, type);
    }
}

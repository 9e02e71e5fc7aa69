package dev.millrace.sql.bind.change;

import dev.millrace.error.SqlState;
import dev.millrace.sql.bind.expression.ExpressionBinder;
import dev.millrace.sql.bind.query.QueryBinder;
import dev.millrace.sql.bind.scope.BoundQuery;
import dev.millrace.sql.bind.scope.Clause;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.catalog.ColumnRule;
import dev.millrace.sql.syntax.PlainSelect;
import dev.millrace.sql.syntax.Syntax;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.parser.SqlParserPos;

/** Binds SET of UPDATE and of ON CONFLICT. */
final class AssignmentBinder {
    private final QueryContext context;
    private final ChangeTarget target;
    private final Scope scope;
    private final ExpressionBinder expressions;
    private final Set<Integer> assigned = new HashSet<>();
    private final Set<Integer> inPart = new HashSet<>(); // of those, of which some elements are

    /** @param context of the query that the values are computed by */
    AssignmentBinder(QueryContext context, ChangeTarget target, Scope scope) {
        this.context = context;
        this.target = target;
        this.scope = scope;
        this.expressions = new ExpressionBinder(context, scope, Clause.plain("UPDATE"));
    }

    /** Puts new values into the places of a row's. */
    void bind(List<Syntax.Assignment> assignments, List<RexNode> row) {
        for (Syntax.Assignment assignment : assignments) {
            int count = assignment.columns().size();
            if (count > 1) {
                requireWidth(assignment.value(), count);
            }
            for (int i = 0; i < count; i++) {
                SqlIdentifier name = assignment.columns().get(i);
                int column = target.column(name);
                boolean part = assignment.part().isPresent();
                if (!assigned.add(column) && !(part && inPart.contains(column))) {
                    throw Errors.error(
                            SqlState.SYNTAX_ERROR,
                            "multiple assignments to same column \"" + name.getSimple() + "\"",
                            name);
                }
                if (part) {
                    inPart.add(column);
                    row.set(column, changed(row.get(column), column, assignment, name));
                    continue;
                }
                SqlNode value = count == 1 ? assignment.value() : columnOf(assignment.value(), i, count);
                row.set(column, value(column, value, name));
            }
        }
    }

    /** A query gives one value for each column. */
    private void requireWidth(SqlNode query, int count) {
        BoundQuery bound = new QueryBinder(context.beside(), Optional.of(scope)).bind(query, List.of());
        if (bound.names().size() != count) {
            throw Errors.error(SqlState.SYNTAX_ERROR, "number of columns does not match number of values", query);
        }
    }

    /** The value of a column with a part of it changed. */
    private RexNode changed(RexNode whole, int column, Syntax.Assignment assignment, SqlIdentifier name) {
        if (Defaults.isDefault(assignment.value())) {
            throw Errors.error(
                    SqlState.FEATURE_NOT_SUPPORTED, "cannot set an array element to DEFAULT", assignment.value());
        }
        requireFree(column, name);
        return new ElementBinder(context, expressions)
                .assign(whole, assignment.part().orElseThrow(), assignment.value());
    }

    private void requireFree(int column, SqlIdentifier name) {
        ColumnRule.Kind kind = target.rule(column).map(ColumnRule::kind).orElse(ColumnRule.Kind.DEFAULT);
        if (kind == ColumnRule.Kind.GENERATED || kind == ColumnRule.Kind.IDENTITY_ALWAYS) {
            throw target.madeAlways(column, "UPDATE", name);
        }
    }

    private RexNode value(int column, SqlNode value, SqlIdentifier name) {
        boolean isDefault = Defaults.isDefault(value);
        if (!isDefault) {
            requireFree(column, name);
        }
        if (!isDefault) {
            return target.assign(context, expressions.bind(value), column, value);
        }
        if (target.rule(column).filter(ColumnRule::isMade).isPresent()) {
            throw Errors.notAvailableYet(
                            "SET " + name.getSimple() + " = DEFAULT of a column that is numbered or random", value)
                    .withHint("rows that are inserted get such values");
        }
        return new Defaults(target).value(context, column);
    }

    /** One column of a query that gives several: {@code (SELECT c2 FROM (query) AS q (c1, c2, c3))}. */
    private static SqlNode columnOf(SqlNode query, int column, int count) {
        SqlParserPos position = query.getParserPosition();
        List<SqlNode> named = new ArrayList<>();
        named.add(query);
        named.add(new SqlIdentifier("values", position));
        for (int i = 0; i < count; i++) {
            named.add(new SqlIdentifier("value " + i, position));
        }
        return PlainSelect.of(
                position,
                List.of(new SqlIdentifier("value " + column, position)),
                SqlStdOperatorTable.AS.createCall(position, named));
    }
}

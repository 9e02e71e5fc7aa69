package dev.millrace.sql.bind.query;

import dev.millrace.error.SqlState;
import dev.millrace.plan.node.PlanNode.TableCall;
import dev.millrace.sql.algebra.ExpandRel;
import dev.millrace.sql.bind.expression.ExpressionBinder;
import dev.millrace.sql.bind.expression.FunctionNames;
import dev.millrace.sql.bind.expression.TableCalls;
import dev.millrace.sql.bind.relation.RelNodes;
import dev.millrace.sql.bind.scope.Clause;
import dev.millrace.sql.bind.scope.From;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.scope.Scope.Column;
import dev.millrace.sql.bind.type.Errors;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rel.type.RelDataTypeField;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlUnnestOperator;

/** Binds functions that give several rows: UNNEST and its like, over the rows of what stands before them in FROM. */
final class ExpandBinder {
    /** What the parser puts behind the name of a function WITH ORDINALITY. */
    private static final String ORDINALITY = " with ordinality";

    private final QueryContext context;
    private final From left;
    private final TableCalls functions;

    /** @param outerScope of the query around; the functions see the columns of {@code left} too */
    ExpandBinder(QueryContext context, From left, Optional<Scope> outerScope) {
        this.context = context;
        this.left = left;
        Scope scope = new Scope(outerScope, left.columns(), left.rel().getRowType(), context);
        ExpressionBinder expressions = new ExpressionBinder(context, scope, Clause.plain("functions in FROM"));
        this.functions = new TableCalls(context, expressions, width());
    }

    /** The table function that an item of FROM is, without its alias and LATERAL. */
    static Optional<SqlCall> function(SqlNode item, QueryContext context) {
        SqlNode node = item;
        while (node.getKind() == SqlKind.AS || node.getKind() == SqlKind.LATERAL) {
            node = ((SqlCall) node).operand(0);
        }
        if (node.getKind() == SqlKind.UNNEST) {
            return Optional.of((SqlCall) node);
        }
        if (node.getKind() != SqlKind.COLLECTION_TABLE || !(((SqlCall) node).operand(0) instanceof SqlCall call)) {
            return Optional.empty();
        }
        return FunctionNames.of(call)
                .map(ExpandBinder::withoutOrdinality)
                .filter(name -> TableCalls.isTableFunction(name, context) || TableCalls.isValue(name, call, context))
                .map(name -> call);
    }

    private static String withoutOrdinality(String name) {
        return name.endsWith(ORDINALITY) ? name.substring(0, name.length() - ORDINALITY.length()) : name;
    }

    /**
     * The rows beside those of the left side.
     *
     * @param item the item of FROM with its alias
     * @param outer whether rows without a partner stay
     */
    From bind(SqlCall function, SqlNode item, boolean outer) {
        String written = FunctionNames.of(function).orElse("unnest");
        boolean ordinality = written.endsWith(ORDINALITY)
                || function.getOperator() instanceof SqlUnnestOperator unnest && unnest.withOrdinality;
        String name = withoutOrdinality(written);
        List<TableCall> calls = functions.calls(name, function, outer);
        From expanded = expand(calls, ordinality, outer);
        return named(expanded, name, item, calls);
    }

    private int width() {
        return left.rel().getRowType().getFieldCount();
    }

    private From expand(List<TableCall> calls, boolean ordinality, boolean outer) {
        List<RexNode> all = new ArrayList<>(RelNodes.references(left.rel()));
        List<String> names = new ArrayList<>(left.rel().getRowType().getFieldNames());
        for (RexNode argument : functions.arguments()) {
            all.add(argument);
            names.add("argument");
        }
        ExpandRel rel = new ExpandRel(RelNodes.project(left.rel(), all, names), width(), calls, ordinality, outer);
        return new From(rel, left.columns());
    }

    private From named(From expanded, String function, SqlNode item, List<TableCall> calls) {
        Optional<SqlCall> alias = alias(item);
        String qualifier =
                alias.map(as -> ((SqlIdentifier) as.operand(1)).getSimple()).orElse(function);
        List<RelDataTypeField> fields = expanded.rel().getRowType().getFieldList();
        List<Column> columns = new ArrayList<>(expanded.columns());
        List<String> names = new ArrayList<>();
        calls.forEach(call -> call.outputs().forEach(field -> names.add(field.name())));
        boolean single = names.size() == 1 && alias.isPresent() && !TableCalls.keepsColumnName(function);
        if (single) {
            names.set(0, qualifier); // unnest(a) AS x gives a column x
        }
        if (fields.size() > width() + names.size()) {
            names.add("ordinality");
        }
        int given = alias.map(as -> as.operandCount() - 2).orElse(0);
        if (given > names.size()) {
            throw Errors.error(
                    SqlState.INVALID_COLUMN_REFERENCE,
                    "table \"" + qualifier + "\" has " + names.size() + " columns available but " + given
                            + " columns specified",
                    item);
        }
        for (int i = 0; i < given; i++) {
            names.set(i, ((SqlIdentifier) alias.get().operand(i + 2)).getSimple());
        }
        for (int i = 0; i < names.size(); i++) {
            int index = width() + i;
            columns.add(
                    new Column(qualifier, names.get(i), index, fields.get(index).getType(), false));
        }
        return new From(expanded.rel(), columns);
    }

    private static Optional<SqlCall> alias(SqlNode item) {
        SqlNode node = item;
        while (node.getKind() == SqlKind.LATERAL) {
            node = ((SqlCall) node).operand(0);
        }
        return node.getKind() == SqlKind.AS ? Optional.of((SqlCall) node) : Optional.empty();
    }
}

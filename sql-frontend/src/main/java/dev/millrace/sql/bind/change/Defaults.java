package dev.millrace.sql.bind.change;

import dev.millrace.error.MillraceException;
import dev.millrace.sql.bind.expression.ExpressionBinder;
import dev.millrace.sql.bind.scope.Clause;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.catalog.ColumnRule;
import dev.millrace.sql.parser.StatementParser;
import dev.millrace.sql.statement.LiteralRows.Cell;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;

/** The expressions that DEFAULT stands for. */
final class Defaults {
    private final ChangeTarget target;

    Defaults(ChangeTarget target) {
        this.target = target;
    }

    static boolean isDefault(SqlNode node) {
        return node.getKind() == SqlKind.DEFAULT;
    }

    /** The columns that take an expression when they are not given. */
    List<Integer> expressed(List<Integer> given) {
        List<Integer> columns = new ArrayList<>();
        for (int column = 0; column < target.size(); column++) {
            boolean isDefault = target.rule(column)
                    .filter(rule -> rule.kind() == ColumnRule.Kind.DEFAULT)
                    .isPresent();
            if (isDefault && !given.contains(column)) {
                columns.add(column);
            }
        }
        return columns;
    }

    /** What DEFAULT stands for; NULL where nothing else is said. */
    SqlNode syntax(int column) {
        return StatementParser.parseExpression(target.rule(column)
                .filter(rule -> rule.kind() == ColumnRule.Kind.DEFAULT)
                .map(ColumnRule::text)
                .orElse("NULL"));
    }

    /** The same as a value of the column. */
    RexNode value(QueryContext context, int column) {
        SqlNode node = syntax(column);
        ExpressionBinder binder =
                new ExpressionBinder(context, Scope.empty(Optional.empty(), context), Clause.plain("DEFAULT"));
        try {
            return target.assign(context, binder.bind(node), column, node);
        } catch (MillraceException e) {
            throw e.at(0); // a place in another text
        }
    }

    /** The same as cells beside literals, if they are that simple. */
    Optional<List<Cell>> cells(List<Integer> columns) {
        List<Cell> cells = new ArrayList<>();
        for (int column : columns) {
            Optional<Cell> cell =
                    StatementParser.literal(target.rule(column).orElseThrow().text());
            if (cell.isEmpty()) {
                return Optional.empty();
            }
            cells.add(cell.get());
        }
        return Optional.of(cells);
    }
}

package dev.millrace.sql.bind.expression;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.sql.bind.relation.RelNodes;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.scope.Scope.Column;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;

/**
 * Rows as values: those with names, those that a relation's name stands for, and their fields.
 *
 * <pre>
 * SELECT to_jsonb(e), e.address.city FROM employees AS e WHERE e IS NOT NULL
 * </pre>
 */
final class RowBinder {
    private final QueryContext context;
    private final ExpressionBinder expressions;

    RowBinder(QueryContext context, ExpressionBinder expressions) {
        this.context = context;
        this.expressions = expressions;
    }

    /** {@code {'a': 1, 'b': x}}, which the grammar makes a call of names and values in turn. */
    RexNode named(SqlCall call) {
        List<String> names = new ArrayList<>();
        List<RexNode> values = new ArrayList<>();
        for (int i = 0; i + 1 < call.operandCount(); i += 2) {
            String name = ((SqlLiteral) call.operand(i)).getValueAs(String.class);
            if (names.contains(name)) {
                throw Errors.error(SqlState.DUPLICATE_COLUMN, "field \"" + name + "\" specified more than once", call);
            }
            names.add(name);
            values.add(context.coercions().decided(expressions.bind(call.operand(i + 1))));
        }
        return row(names, values);
    }

    private static RexNode row(List<String> names, List<RexNode> values) {
        List<Field> fields = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            fields.add(new Field(names.get(i), Coercions.type(values.get(i)), true));
        }
        return Rex.call("make_row", values, DataType.row(fields), false);
    }

    /** What a name means that is none of a column; fails with {@code unknown} if it means nothing. */
    RexNode otherwise(SqlIdentifier name, MillraceException unknown) {
        if (name.isSimple()) {
            return wholeRow(name, name.getSimple()).orElseThrow(() -> unknown);
        }
        // s.a of a column s, t.s.a of a column of t
        for (int parts = Math.min(2, name.names.size() - 1); parts > 0; parts--) {
            SqlIdentifier prefix = new SqlIdentifier(name.names.subList(0, parts), name.getParserPosition());
            boolean isColumn = parts == 1
                    ? expressions.scope().finds(prefix)
                    : expressions.scope().ofRelation(name.names.get(0)).stream()
                            .anyMatch(column -> column.name().equals(name.names.get(1)));
            if (isColumn) {
                RexNode value = expressions.bind(prefix);
                if (Coercions.type(value).kind() != Kind.ROW) {
                    throw unknown;
                }
                for (String field : name.names.subList(parts, name.names.size())) {
                    value = new NestedBinder(context, expressions).field(value, field, name);
                }
                return value;
            }
        }
        throw unknown;
    }

    /** {@code t.*} as a value. */
    RexNode wholeRow(SqlIdentifier star) {
        String relation = star.names.get(star.names.size() - 2);
        if (star.names.size() > 2) {
            expressions.scope().star(star); // that its schema is right
        }
        return wholeRow(new SqlIdentifier(relation, star.getParserPosition()), relation)
                .orElseThrow(() -> Errors.error(
                        SqlState.UNDEFINED_TABLE, "missing FROM-clause entry for table \"" + relation + "\"", star));
    }

    /** The row of a relation by its name; NULL where an outer join found none. */
    private Optional<RexNode> wholeRow(SqlIdentifier name, String relation) {
        List<Column> columns = expressions.scope().ofRelation(relation);
        if (columns.isEmpty()) {
            return Optional.empty();
        }
        List<String> names = new ArrayList<>();
        List<RexNode> values = new ArrayList<>();
        for (Column column : columns) {
            names.add(column.name());
            values.add(expressions.column(column, name));
        }
        RexNode row = row(RelNodes.distinctNames(names), values);
        if (!expressions.scope().mayBeMissing(relation)) {
            return Optional.of(row);
        }
        RexNode isThere =
                expressions.bind(new SqlIdentifier(List.of(relation, Scope.IS_THERE), name.getParserPosition()));
        DataType type = Coercions.type(row);
        return Optional.of(Rex.builder()
                .makeCall(
                        TypeMapper.relType(type, true),
                        SqlStdOperatorTable.CASE,
                        List.of(
                                Rex.call("is_null", List.of(isThere), DataType.BOOLEAN, false),
                                Rex.nullOf(type),
                                row)));
    }
}

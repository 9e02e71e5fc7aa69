package dev.millrace.sql.bind.change;

import dev.millrace.sql.algebra.RelationTable;
import dev.millrace.sql.bind.query.QueryBinder;
import dev.millrace.sql.bind.relation.RelNodes;
import dev.millrace.sql.bind.scope.BoundQuery;
import dev.millrace.sql.bind.scope.From;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.scope.Scope.Column;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.statement.Emit;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.syntax.PlainSelect;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.plan.Convention;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.logical.LogicalTableScan;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.parser.SqlParserPos;

/**
 * Binds queries over rows that a statement has at hand, such as those that it changed: a scan of {@link Relation#AT_HAND},
 * in whose place the server puts the rows. Each has a context of its own, since each is a query of its own.
 */
final class RowsAtHand {
    /**
     * The columns of one relation among the rows.
     *
     * @param hidden whether a star leaves them out
     * @param around the schema that names may give before the qualifier, if any
     */
    record Part(String qualifier, Schema schema, boolean hidden, String around) {
        Part(String qualifier, Schema schema) {
            this(qualifier, schema, false, "");
        }

        /** A relation that is changed, by its own name or by an alias. */
        static Part of(QueryContext context, Relation relation, String name, boolean isAlias) {
            String around = isAlias ? "" : context.catalog().schemaOf(relation.name());
            return new Part(name, relation.schema(), false, around);
        }
    }

    private final QueryContext context;
    private final QueryBinder queries;
    private final From from;

    /**
     * @param around of the statement
     * @param parts side by side
     * @param with the queries that WITH names
     */
    RowsAtHand(QueryContext around, List<Part> parts, List<SqlNode> with) {
        this.context = around.beside();
        if (!with.isEmpty()) { // of a statement
            context.allowRecursion();
        }
        this.queries = new QueryBinder(context, Optional.empty()).with(with);
        List<Field> fields = new ArrayList<>();
        List<String> names = new ArrayList<>();
        parts.forEach(part -> names.addAll(part.schema().names()));
        List<String> distinct = RelNodes.distinctNames(names);
        for (Part part : parts) {
            for (Field field : part.schema().fields()) {
                fields.add(new Field(distinct.get(fields.size()), field.type(), field.nullable()));
            }
        }
        Relation relation = new Relation(
                Relation.AT_HAND, Relation.Kind.SYSTEM_VIEW, new Schema(fields), false, List.of(), Optional.empty());
        RelNode scan = new LogicalTableScan(
                context.cluster(),
                context.cluster().traitSetOf(Convention.NONE),
                List.of(),
                new RelationTable(relation));
        List<Column> columns = new ArrayList<>();
        for (Part part : parts) {
            for (Field field : part.schema().fields()) {
                int index = columns.size();
                columns.add(new Column(
                        part.qualifier(),
                        field.name(),
                        index,
                        scan.getRowType().getFieldList().get(index).getType(),
                        part.hidden(),
                        part.around()));
            }
        }
        this.from = new From(scan, columns);
    }

    QueryContext context() {
        return context;
    }

    /** The columns, for expressions. */
    Scope scope() {
        return new Scope(Optional.empty(), from.columns(), from.rel().getRowType(), context, queries.commonTables());
    }

    /** References to all columns. */
    List<RexNode> references() {
        return RelNodes.references(from.rel());
    }

    /** The rows for which a condition holds, with other columns; each bound in a scope of its own. */
    Query query(
            Optional<RexNode> condition,
            Scope conditionScope,
            List<RexNode> values,
            List<String> names,
            Scope valueScope) {
        RelNode rows = condition.isEmpty()
                ? from.rel()
                : RelNodes.filter(from.rel(), condition.get(), conditionScope.correlation());
        RelNode rel = RelNodes.project(rows, values, names, valueScope.correlation());
        return QueryBinder.query(context, rel, names, new Emit.Unspecified());
    }

    /** A select list over the rows. */
    Query select(List<SqlNode> items) {
        SqlParserPos position = items.get(0).getParserPosition();
        SqlNode select = PlainSelect.of(position, items, new SqlIdentifier(Relation.AT_HAND, position));
        context.putAtHand(from);
        BoundQuery bound = queries.bind(select, List.of());
        return QueryBinder.query(context, bound.rel(), bound.names(), new Emit.Unspecified());
    }
}

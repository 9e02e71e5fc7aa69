package dev.millrace.sql.bind.query;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.sql.bind.relation.RelNodes;
import dev.millrace.sql.bind.scope.BoundQuery;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.type.Coercions;
import dev.millrace.sql.bind.type.Coercions.Strength;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.bind.type.TypeNames;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.statement.Emit;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.Recursion;
import dev.millrace.sql.syntax.MarkedItem;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlBasicCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlOrderBy;
import org.apache.calcite.sql.SqlWith;
import org.apache.calcite.sql.SqlWithItem;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;

/**
 * Binds a query of WITH RECURSIVE that reads itself: {@code base UNION [ALL] step}. What is wrong with its form is an error as in
 * PostgreSQL. It reads nothing of a query around it. Use once.
 */
final class RecursionBinder {
    private final QueryContext context;
    private final QueryBinder queries;

    /** @param queries binds over what the names of WITH mean so far, and nothing else */
    RecursionBinder(QueryContext context, QueryBinder queries) {
        this.context = context;
        this.queries = queries;
    }

    /** Those of recursions whose rows a query reads, or one of them reads in turn. */
    static List<Recursion> readBy(RelNode rel, List<Recursion> all) {
        if (all.isEmpty()) {
            return List.of();
        }
        Set<String> read = new HashSet<>(RecursionForm.relations(rel));
        Optional<FirstRows> firstRows = FirstRows.of(rel);
        List<Recursion> needed = new ArrayList<>();
        for (int i = all.size() - 1; i >= 0; i--) {
            Recursion recursion = all.get(i);
            if (read.contains(recursion.rows())) {
                OptionalLong enough = firstRows
                        .filter(first -> first.relation().equals(recursion.rows()))
                        .map(first -> OptionalLong.of(first.count()))
                        .orElse(OptionalLong.empty());
                needed.add(
                        0,
                        new Recursion(
                                recursion.rows(), recursion.base(), recursion.step(), recursion.distinct(), enough));
                read.addAll(RecursionForm.relations(recursion.base().rel()));
                read.addAll(RecursionForm.relations(recursion.step().rel()));
            }
        }
        return needed;
    }

    /** The rows of the query, as who reads them sees them. */
    BoundQuery bind(SqlWithItem item) {
        String name = item.name.getSimple();
        SqlNode query = item.query;
        QueryBinder inside = queries;
        while (query instanceof SqlWith with) {
            if (with.withList.stream().anyMatch(node -> SelfReferences.reads(((SqlWithItem) node).query, name))) {
                throw notInForm(item);
            }
            inside = inside.with(with.withList.getList());
            query = with.body;
        }
        if (query instanceof SqlOrderBy ordered) {
            throw Errors.error(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            (ordered.orderList.isEmpty() ? ordered.offset != null ? "OFFSET" : "LIMIT" : "ORDER BY")
                                    + " in a recursive query is not implemented",
                            item)
                    .withHint("the query that reads \"" + name + "\" can order and count");
        }
        if (!(query instanceof SqlBasicCall union)
                || query.getKind() != SqlKind.UNION
                || UnionByName.first(union).isPresent()) {
            throw notInForm(item);
        }
        if (SelfReferences.reads(union.operand(0), name)) {
            throw Errors.error(
                    SqlState.INVALID_RECURSION,
                    "recursive reference to query \"" + name + "\" must not appear within its non-recursive term",
                    item);
        }
        if (SelfReferences.count(union.operand(1), name) > 1) {
            throw Errors.error(
                    SqlState.INVALID_RECURSION,
                    "recursive reference to query \"" + name + "\" must not appear more than once",
                    item);
        }
        boolean distinct = union.getOperator() != SqlStdOperatorTable.UNION_ALL;
        BoundQuery base = inside.bind(union.operand(0), List.of());
        List<String> names = QueryBinder.columnNames(item, base.names());
        SqlNode stepSyntax = union.operand(1);
        if (item instanceof MarkedItem marked) {
            RecursionMarks marks = new RecursionMarks(marked, names);
            base = inside.bind(marks.base(union.operand(0)), List.of());
            stepSyntax = marks.step(stepSyntax);
            names = marks.columns();
        }
        List<DataType> types = types(base.rel());
        Bound bound = new Bound(name, names, stepSyntax, inside);
        Step step = bound.step(types);
        if (!step.types.equals(types)) {
            types = common(types, step.types, name, names, item);
            step = bound.step(types);
        }
        Query baseQuery = query(converted(base.rel(), types, union.operand(0)), names);
        Query stepQuery = query(converted(step.rel, types, union.operand(1)), names);
        context.recursion(new Recursion(step.rows, baseQuery, stepQuery, distinct, OptionalLong.empty()));
        return bound.rows(step.rows, names);
    }

    private static MillraceException notInForm(SqlWithItem item) {
        return Errors.error(
                SqlState.INVALID_RECURSION,
                "recursive query \"" + item.name.getSimple()
                        + "\" does not have the form non-recursive-term UNION [ALL] recursive-term",
                item);
    }

    private Query query(RelNode rel, List<String> names) {
        return QueryBinder.query(context, rel, names, new Emit.Unspecified());
    }

    private static List<DataType> types(RelNode rel) {
        return rel.getRowType().getFieldList().stream()
                .map(field -> TypeMapper.dataType(field.getType()))
                .map(type -> type.kind() == Kind.NULL ? DataType.TEXT : type)
                .toList();
    }

    /** A step over rows of some types. */
    private record Step(String rows, RelNode rel, List<DataType> types) {}

    private final class Bound {
        private final String name;
        private final List<String> names;
        private final SqlNode syntax;
        private final QueryBinder inside;

        Bound(String name, List<String> names, SqlNode syntax, QueryBinder inside) {
            this.name = name;
            this.names = names;
            this.syntax = syntax;
            this.inside = inside;
        }

        Step step(List<DataType> types) {
            List<Field> fields = new ArrayList<>();
            for (int i = 0; i < types.size(); i++) {
                fields.add(new Field(names.get(i), types.get(i), true));
            }
            Relation relation = context.recursionRows(name, new Schema(fields));
            RelNode rel = inside.naming(name, rows(relation.name(), names))
                    .bind(syntax, types)
                    .rel();
            if (rel.getRowType().getFieldCount() != types.size()) {
                throw Errors.error(
                        SqlState.SYNTAX_ERROR, "each UNION query must have the same number of columns", syntax);
            }
            RecursionForm.check(rel, relation.name(), name, syntax);
            return new Step(relation.name(), rel, types(rel));
        }

        BoundQuery rows(String relation, List<String> columns) {
            SqlNode scan = SqlStdOperatorTable.EXPLICIT_TABLE.createCall(
                    syntax.getParserPosition(), new SqlIdentifier(relation, syntax.getParserPosition()));
            return new BoundQuery(queries.bind(scan, List.of()).rel(), columns);
        }
    }

    /** The types that both the base and the step have; of numbers with digits behind the point the step decides how many. */
    private static List<DataType> common(
            List<DataType> base, List<DataType> step, String name, List<String> names, SqlNode where) {
        List<DataType> types = new ArrayList<>();
        for (int i = 0; i < base.size(); i++) {
            DataType type = base.get(i);
            DataType other = step.get(i);
            boolean fits = type.equals(other)
                    || type.isExact() && other.isExact()
                    || type.kind() == other.kind()
                            && (type.isNested() && Coercions.allowed(other, type, Strength.IMPLICIT))
                    || type.kind() == Kind.TEXT && Coercions.isCharacter(other);
            if (!fits) {
                throw Errors.error(
                                SqlState.DATATYPE_MISMATCH,
                                "recursive query \"" + name + "\" column " + (i + 1) + " (\"" + names.get(i)
                                        + "\") has type " + Coercions.name(type)
                                        + " in non-recursive term but type " + Coercions.name(other) + " in the other",
                                where)
                        .withHint("cast the output of the non-recursive term to the correct type");
            }
            types.add(type.isExact() && !type.equals(other) ? TypeNames.undeclaredNumeric() : type);
        }
        return types;
    }

    private RelNode converted(RelNode rel, List<DataType> types, SqlNode where) {
        List<RexNode> columns = new ArrayList<>();
        List<RexNode> references = RelNodes.references(rel);
        for (int i = 0; i < types.size(); i++) {
            columns.add(context.coercions().convert(references.get(i), types.get(i), Strength.ASSIGNMENT, where));
        }
        return columns.equals(references)
                ? rel
                : RelNodes.project(rel, columns, rel.getRowType().getFieldNames(), Optional.empty());
    }
}

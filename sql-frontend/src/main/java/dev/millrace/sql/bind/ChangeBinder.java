package dev.millrace.sql.bind;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.bind.Coercions.Strength;
import dev.millrace.sql.bind.FromBinder.From;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.statement.Emit;
import dev.millrace.sql.statement.LiteralRows;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;

/** Binds INSERT, UPDATE, DELETE, TRUNCATE and COPY FROM. */
final class ChangeBinder {
    private final QueryContext context;
    private final StatementBinder statements;

    ChangeBinder(QueryContext context, StatementBinder statements) {
        this.context = context;
        this.statements = statements;
    }

    Statement bind(Syntax syntax) {
        if (syntax instanceof Syntax.Insert insert) {
            return insert(insert);
        }
        if (syntax instanceof Syntax.Update update) {
            return update(update);
        }
        if (syntax instanceof Syntax.Delete delete) {
            return delete(delete);
        }
        if (syntax instanceof Syntax.Truncate truncate) {
            return new Statement.Truncate(table(truncate.relation(), "TRUNCATE").name());
        }
        if (syntax instanceof Syntax.CopyFrom copy) {
            Relation relation = writable(copy.relation());
            return new Statement.CopyFrom(
                    relation.name(), columns(relation, copy.columns()), copy.file(), copy.options());
        }
        throw new IllegalStateException("no binder for " + syntax.getClass().getSimpleName());
    }

    // ---- INSERT ----------------------------------------------------------------------------------------------------

    private Statement insert(Syntax.Insert insert) {
        Relation relation = writable(insert.relation());
        List<Integer> columns = columns(relation, insert.columns());
        List<DataType> types = columns.stream().map(relation.schema()::type).toList();
        Optional<LiteralRows> literals = insert.literals()
                .flatMap(rows -> new LiteralBinder(context.parameters()).bind(rows, relation.schema(), types));
        if (literals.isPresent()
                && (literals.get().width() == columns.size() || insert.columns().isEmpty())) {
            List<Integer> given = columns.subList(0, literals.get().width());
            requireNotNullColumns(relation, given, insert.relation());
            return new Statement.Insert(
                    relation.name(),
                    given,
                    literals.get(),
                    insert.onConflict(),
                    returning(relation, insert.returning()));
        }
        SqlNode query = insert.source().get();
        QueryBinder.Bound source = new QueryBinder(context, Optional.empty()).bind(query, types);
        int given = source.rel().getRowType().getFieldCount();
        if (given > columns.size()) {
            throw Errors.error(SqlState.SYNTAX_ERROR, "INSERT has more expressions than target columns", query);
        }
        if (given < columns.size() && !insert.columns().isEmpty()) {
            throw Errors.error(SqlState.SYNTAX_ERROR, "INSERT has more target columns than expressions", query);
        }
        List<Integer> used = columns.subList(0, given);
        requireNotNullColumns(relation, used, insert.relation());
        List<RexNode> values = new ArrayList<>();
        List<String> names = new ArrayList<>();
        for (int i = 0; i < given; i++) {
            RexNode value = Relations.references(source.rel()).get(i);
            names.add(relation.schema().field(used.get(i)).name());
            values.add(assign(value, relation.schema().field(used.get(i)), query));
        }
        RelNode rel = new QueryBinder.Pending(source.rel(), values, names, Optional.empty())
                .bound()
                .rel();
        Query bound = statements.query(rel, names, new Emit.Unspecified());
        return new Statement.Insert(
                relation.name(), used, bound, insert.onConflict(), returning(relation, insert.returning()));
    }

    private RexNode assign(RexNode value, Field field, SqlNode where) {
        DataType type = Coercions.type(value);
        if (!Coercions.isUnknown(value) && !Coercions.allowed(type, field.type(), Strength.ASSIGNMENT)) {
            throw Errors.error(
                            SqlState.DATATYPE_MISMATCH,
                            "column \"" + field.name() + "\" is of type " + Coercions.name(field.type())
                                    + " but expression is of type " + Coercions.name(type),
                            where)
                    .withHint("cast the expression, such as x::" + Coercions.name(field.type()));
        }
        return context.coercions().convert(value, field.type(), Strength.ASSIGNMENT, where);
    }

    private static void requireNotNullColumns(Relation relation, List<Integer> given, SqlNode where) {
        for (int column = 0; column < relation.schema().size(); column++) {
            Field field = relation.schema().field(column);
            if (!field.nullable() && !given.contains(column)) {
                throw Errors.error(
                        SqlState.NOT_NULL_VIOLATION,
                        "null value in column \"" + field.name() + "\" of relation \"" + relation.name()
                                + "\" violates not-null constraint",
                        where);
            }
        }
    }

    private static List<Integer> returning(Relation relation, Optional<List<SqlIdentifier>> returning) {
        return returning.map(names -> columns(relation, names)).orElse(List.of());
    }

    // ---- UPDATE and DELETE -----------------------------------------------------------------------------------------

    private Statement update(Syntax.Update update) {
        Relation relation = table(update.relation(), "UPDATE");
        From from = rows(update.relation(), update.alias());
        Scope scope = new Scope(Optional.empty(), from.columns(), from.rel().getRowType(), context);
        RelNode rel = filtered(from, scope, update.where());
        List<RexNode> values = new ArrayList<>(Relations.references(from.rel()));
        values.addAll(Relations.references(from.rel()));
        int columns = relation.schema().size();
        for (Syntax.Assignment assignment : update.assignments()) {
            int column = column(relation, assignment.column());
            Field field = relation.schema().field(column);
            ExpressionBinder binder = new ExpressionBinder(context, scope, Clause.plain("UPDATE"));
            values.set(columns + column, assign(binder.bind(assignment.value()), field, assignment.value()));
        }
        List<String> names = new ArrayList<>(relation.schema().names());
        names.addAll(relation.schema().names());
        RelNode project = Relations.project(rel, values, names, scope.correlation());
        return new Statement.Update(relation.name(), statements.query(project, names, new Emit.Unspecified()));
    }

    private Statement delete(Syntax.Delete delete) {
        Relation relation = table(delete.relation(), "DELETE");
        From from = rows(delete.relation(), delete.alias());
        Scope scope = new Scope(Optional.empty(), from.columns(), from.rel().getRowType(), context);
        RelNode rel = filtered(from, scope, delete.where());
        return new Statement.Delete(
                relation.name(), statements.query(rel, relation.schema().names(), new Emit.Unspecified()));
    }

    private From rows(SqlIdentifier relation, Optional<SqlIdentifier> alias) {
        QueryBinder queries = new QueryBinder(context, Optional.empty());
        From from = new FromBinder(context, queries, Optional.empty()).bind(relation);
        return alias.isEmpty()
                ? from
                : From.of(
                        from.rel(),
                        alias.get().getSimple(),
                        from.columns().stream().map(Scope.Column::name).toList());
    }

    private RelNode filtered(From from, Scope scope, Optional<SqlNode> where) {
        if (where.isEmpty()) {
            return from.rel();
        }
        RexNode condition = new ExpressionBinder(context, scope, Clause.plain("WHERE")).bindCondition(where.get());
        return Relations.filter(from.rel(), condition, scope.correlation());
    }

    // ---- relations and columns -------------------------------------------------------------------------------------

    private Relation writable(SqlIdentifier name) {
        Relation relation = FromBinder.lookUp(context, name);
        if (relation.kind() != Relation.Kind.STREAM && relation.kind() != Relation.Kind.TABLE) {
            throw wrongKind(relation, "cannot insert into", name);
        }
        return relation;
    }

    private Relation table(SqlIdentifier name, String verb) {
        Relation relation = FromBinder.lookUp(context, name);
        if (relation.kind() != Relation.Kind.TABLE) {
            throw wrongKind(relation, "cannot " + verb, name);
        }
        return relation;
    }

    private static MillraceException wrongKind(Relation relation, String verb, SqlNode where) {
        String kind = relation.kind().name().toLowerCase(Locale.ROOT).replace('_', ' ');
        return Errors.error(SqlState.WRONG_OBJECT_TYPE, verb + " " + kind + " \"" + relation.name() + "\"", where);
    }

    /** The places of named columns; all when none are named. */
    private static List<Integer> columns(Relation relation, List<SqlIdentifier> names) {
        List<Integer> columns = new ArrayList<>();
        for (SqlIdentifier name : names) {
            int column = column(relation, name);
            if (columns.contains(column)) {
                throw Errors.error(
                        SqlState.DUPLICATE_COLUMN,
                        "column \"" + name.getSimple() + "\" specified more than once",
                        name);
            }
            columns.add(column);
        }
        if (names.isEmpty()) {
            for (int column = 0; column < relation.schema().size(); column++) {
                columns.add(column);
            }
        }
        return columns;
    }

    private static int column(Relation relation, SqlIdentifier name) {
        int column = relation.schema().indexOf(name.getSimple());
        if (column < 0) {
            throw Errors.suggest(
                    Errors.error(
                            SqlState.UNDEFINED_COLUMN,
                            "column \"" + name.getSimple() + "\" of relation \"" + relation.name()
                                    + "\" does not exist",
                            name),
                    name.getSimple(),
                    relation.schema().names());
        }
        return column;
    }
}

package dev.millrace.sql.bind.change;

import dev.millrace.sql.algebra.Rex;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.sql.bind.expression.ExpressionBinder;
import dev.millrace.sql.bind.query.FromBinder;
import dev.millrace.sql.bind.query.QueryBinder;
import dev.millrace.sql.bind.relation.RelNodes;
import dev.millrace.sql.bind.scope.Clause;
import dev.millrace.sql.bind.scope.From;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.statement.Emit;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;

/** Binds UPDATE, DELETE, TRUNCATE and COPY FROM; INSERT is {@link InsertBinder}'s. */
public final class ChangeBinder {
    private final QueryContext context;

    public ChangeBinder(QueryContext context) {
        this.context = context;
    }

    /** An INSERT of constants that its relation takes as they are written; empty for another. */
    public Optional<Statement> bindConstants(Syntax.Insert insert) {
        return new InsertBinder(context, insert).bindConstants();
    }

    public Statement bind(Syntax syntax) {
        if (syntax instanceof Syntax.Insert insert) {
            return new InsertBinder(context, insert).bind();
        }
        if (syntax instanceof Syntax.Update update) {
            return update(update);
        }
        if (syntax instanceof Syntax.Delete delete) {
            return delete(delete);
        }
        if (syntax instanceof Syntax.Merge merge) {
            return new MergeBinder(context, merge).bind();
        }
        if (syntax instanceof Syntax.Truncate truncate) {
            List<String> names = truncate.relations().stream()
                    .map(name -> ChangeTarget.table(context, name, "TRUNCATE")
                            .relation()
                            .name())
                    .toList();
            return new Statement.Truncate(names, truncate.restart(), truncate.cascade());
        }
        if (syntax instanceof Syntax.CopyFrom copy) {
            return copy(copy);
        }
        throw new IllegalStateException("no binder for " + syntax.getClass().getSimpleName());
    }

    private Statement copy(Syntax.CopyFrom copy) {
        ChangeTarget target = ChangeTarget.writable(context, copy.relation());
        List<Integer> columns = target.columns(copy.columns()).stream()
                .filter(column -> !copy.columns().isEmpty()
                        || !target.relation()
                                .rules()
                                .isGenerated(target.field(column).name()))
                .toList();
        for (int column : columns) {
            if (target.relation().rules().isGenerated(target.field(column).name())) {
                throw target.madeAlways(column, "INSERT", copy.relation());
            }
        }
        Defaults defaults = new Defaults(target);
        List<Integer> byDefault = defaults.expressed(columns);
        return new Statement.CopyFrom(
                target.relation().name(),
                columns,
                byDefault,
                byDefault.isEmpty() ? Optional.empty() : Optional.of(computed(target, columns, byDefault)),
                new ConflictBinder(context, target).byTable(),
                copy.file(),
                copy.options());
    }

    /** Columns, and others by their defaults, over rows of the former. */
    private Query computed(ChangeTarget target, List<Integer> columns, List<Integer> byDefault) {
        Schema given = target.relation().schema().select(columns);
        RowsAtHand rows = new RowsAtHand(
                context, List.of(new RowsAtHand.Part(target.relation().name(), given)), List.of());
        List<RexNode> values = new ArrayList<>(rows.references());
        List<String> names = new ArrayList<>(given.names());
        for (int column : byDefault) {
            values.add(new Defaults(target).value(rows.context(), column));
            names.add(target.field(column).name());
        }
        Scope scope = rows.scope();
        return rows.query(Optional.empty(), scope, values, names, scope);
    }

    // ---- UPDATE and DELETE -----------------------------------------------------------------------------------------

    /** The rows of the relation that is changed, beside those of FROM or USING where there is one. */
    private final class Rows {
        final ChangeTarget target;
        final String name;
        final boolean isAlias;
        final QueryBinder queries;
        final From own;
        final Optional<From> others;
        final From all;

        Rows(
                SqlIdentifier relation,
                Optional<SqlIdentifier> alias,
                Optional<SqlNode> joined,
                List<SqlNode> with,
                String verb) {
            target = ChangeTarget.table(context, relation, verb);
            queries = new QueryBinder(context, Optional.empty()).with(with);
            // a name of WITH does not stand for what is changed
            From found = new FromBinder(context, new QueryBinder(context, Optional.empty()), Optional.empty())
                    .bind(relation);
            name = alias.map(SqlIdentifier::getSimple).orElse(relation.names.get(relation.names.size() - 1));
            isAlias = alias.isPresent();
            own = From.of(
                    found.rel(),
                    name,
                    target.relation().schema().names(),
                    isAlias ? "" : context.catalog().schemaOf(target.relation().name()));
            others = joined.map(from -> new FromBinder(context, queries, Optional.empty()).bind(from));
            others.ifPresent(from -> FromBinder.requireDistinctQualifiers(own, from, joined.get()));
            all = others.map(from -> FromBinder.beside(
                            own, from, RelNodes.join(own.rel(), from.rel(), always(), JoinRelType.INNER)))
                    .orElse(own);
        }

        Scope scope() {
            return new Scope(Optional.empty(), all.columns(), all.rel().getRowType(), context, queries.commonTables());
        }

        RexNode condition(Optional<SqlNode> where, Scope scope) {
            return where.map(node -> new ExpressionBinder(context, scope, Clause.plain("WHERE")).bindCondition(node))
                    .orElseGet(Rows::always);
        }

        private static RexNode always() {
            return Rex.builder().makeLiteral(true);
        }

        /** The joined rows for which a condition holds. */
        RelNode filtered(Optional<SqlNode> where) {
            if (where.isEmpty()) {
                return all.rel();
            }
            Scope scope = scope();
            RexNode condition = condition(where, scope);
            return RelNodes.filter(all.rel(), condition, scope.correlation());
        }

        /** The relation's own rows for which the condition holds with some other row. */
        RelNode matched(Optional<SqlNode> where, SqlNode relation) {
            RexNode condition = condition(where, scope());
            if (RexUtil.SubQueryFinder.find(condition) != null) {
                throw Errors.notAvailableYet(
                                "a sub-query in the WHERE of a join with \""
                                        + target.relation().name() + "\", which has no primary key,",
                                relation)
                        .withHint("a PRIMARY KEY tells rows apart; or put all of the condition into WHERE EXISTS (..)");
            }
            return RelNodes.join(own.rel(), others.orElseThrow().rel(), condition, JoinRelType.SEMI);
        }

        boolean hasKey() {
            return !target.relation().primaryKey().isEmpty();
        }

        /** The columns of the other rows that a star gives. */
        List<Scope.Column> otherColumns() {
            int own = target.size();
            return all.columns().stream()
                    .filter(column -> column.index() >= own && !column.hidden())
                    .toList();
        }

        List<RowsAtHand.Part> parts(boolean withOthers) {
            List<RowsAtHand.Part> parts = new ArrayList<>();
            parts.add(RowsAtHand.Part.of(context, target.relation(), name, isAlias));
            if (withOthers) {
                for (Scope.Column column : otherColumns()) {
                    Field field = new Field(
                            column.name(),
                            TypeMapper.dataType(column.type()),
                            column.type().isNullable());
                    parts.add(new RowsAtHand.Part(column.qualifier(), Schema.of(field)));
                }
            }
            return parts;
        }
    }

    private Statement update(Syntax.Update update) {
        context.allowRecursion();
        Rows rows = new Rows(update.relation(), update.alias(), update.from(), update.with(), "UPDATE");
        int columns = rows.target.size();
        RelNode filtered = rows.filtered(update.where());
        List<RexNode> all = RelNodes.references(rows.all.rel());
        List<RexNode> changed = new ArrayList<>(all.subList(0, columns));
        Scope scope = rows.scope();
        new AssignmentBinder(context, rows.target, scope).bind(update.assignments(), changed);
        List<RexNode> values = new ArrayList<>(all.subList(0, columns));
        values.addAll(changed);
        List<String> names = new ArrayList<>(rows.target.relation().schema().names());
        names.addAll(rows.target.relation().schema().names());
        boolean returns = !update.returning().isEmpty();
        if (returns) {
            rows.otherColumns().forEach(column -> {
                values.add(all.get(column.index()));
                names.add(column.name());
            });
        }
        RelNode project = RelNodes.project(filtered, values, names, scope.correlation());
        Query changes = QueryBinder.query(context, project, names, new Emit.Unspecified());
        boolean joined = rows.others.isPresent();
        Optional<Query> matched = joined && !rows.hasKey()
                ? Optional.of(QueryBinder.query(
                        context,
                        rows.matched(update.where(), update.relation()),
                        rows.target.relation().schema().names(),
                        new Emit.Unspecified()))
                : Optional.empty();
        return new Statement.Update(
                rows.target.relation().name(),
                changes,
                joined,
                matched,
                ReturningBinder.bind(context, update.returning(), rows.parts(true), update.with()));
    }

    private Statement delete(Syntax.Delete delete) {
        context.allowRecursion();
        Rows rows = new Rows(delete.relation(), delete.alias(), delete.using(), delete.with(), "DELETE");
        boolean keyless = rows.others.isPresent() && !rows.hasKey();
        boolean semi = keyless && delete.returning().isEmpty();
        RelNode rel = semi ? rows.matched(delete.where(), delete.relation()) : rows.filtered(delete.where());
        List<RexNode> values = new ArrayList<>(RelNodes.references(rel).subList(0, rows.target.size()));
        List<String> names = new ArrayList<>(rows.target.relation().schema().names());
        boolean withOthers = rows.others.isPresent() && !semi;
        if (withOthers && !delete.returning().isEmpty()) {
            List<RexNode> all = RelNodes.references(rows.all.rel());
            rows.otherColumns().forEach(column -> {
                values.add(all.get(column.index()));
                names.add(column.name());
            });
        }
        RelNode project = rows.others.isEmpty() ? rel : RelNodes.project(rel, values, names, Optional.empty());
        return new Statement.Delete(
                rows.target.relation().name(),
                QueryBinder.query(context, project, names, new Emit.Unspecified()),
                withOthers,
                keyless && !semi
                        ? Optional.of(QueryBinder.query(
                                context,
                                rows.matched(delete.where(), delete.relation()),
                                rows.target.relation().schema().names(),
                                new Emit.Unspecified()))
                        : Optional.empty(),
                ReturningBinder.bind(context, delete.returning(), rows.parts(withOthers), delete.with()));
    }
}

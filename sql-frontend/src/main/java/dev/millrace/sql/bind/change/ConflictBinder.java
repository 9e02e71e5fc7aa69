package dev.millrace.sql.bind.change;

import dev.millrace.error.SqlState;
import dev.millrace.sql.bind.expression.ExpressionBinder;
import dev.millrace.sql.bind.scope.Clause;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.catalog.ColumnRule;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.catalog.TableConflict;
import dev.millrace.sql.catalog.TableRules;
import dev.millrace.sql.parser.StatementParser;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.Statement.OnConflict;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.sql.text.Identifiers;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexVisitorImpl;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.parser.SqlParserPos;

/** Binds ON CONFLICT. */
final class ConflictBinder {
    private static final String EXCLUDED = "excluded";
    private static final String THERE = "there";
    private static final Schema NUMBER = Schema.of(new Field("number of the row", DataType.BIGINT, false));

    private final QueryContext context;
    private final ChangeTarget target;

    ConflictBinder(QueryContext context, ChangeTarget target) {
        this.context = context;
        this.target = target;
    }

    /** @param name by which the row that is there is called */
    OnConflict bind(Syntax.Conflict conflict, String name, boolean isAlias, List<SqlNode> with) {
        SqlParserPos position = new SqlParserPos(1, conflict.position(), 1, conflict.position());
        boolean named = !conflict.target().isEmpty() || conflict.constraint().isPresent();
        Optional<String> unique = unique(conflict);
        if (target.relation().kind() == Relation.Kind.TABLE && unique.isEmpty()) {
            requireKey(conflict, position);
        }
        conflict.condition().ifPresent(condition -> checkCondition(condition, name, isAlias, with));
        if (conflict.assignments().isEmpty()) {
            return new OnConflict.DoNothing(named, unique);
        }
        if (!named) {
            throw Errors.error(
                            SqlState.SYNTAX_ERROR,
                            "ON CONFLICT DO UPDATE requires inference specification or constraint name",
                            position)
                    .withHint("for example, ON CONFLICT (key)");
        }
        ChangeTarget.requireChanging(target.relation(), "ON CONFLICT DO UPDATE of", new SqlIdentifier(name, position));
        Optional<List<Integer>> replaced = replaced(conflict);
        return replaced.isPresent()
                ? new OnConflict.Replace(replaced.get(), unique)
                : update(conflict, unique, name, isAlias, with);
    }

    // ---- what the table says ---------------------------------------------------------------------------------------

    /** What a taken key means where the statement does not say it. */
    OnConflict byTable() {
        Optional<TableConflict> rule = target.relation().rules().conflict();
        if (rule.isEmpty()) {
            return new OnConflict.Fail();
        }
        List<Syntax.Assignment> assignments = new ArrayList<>();
        if (rule.get().action() != TableConflict.Action.NOTHING) {
            for (int column = 0; column < target.size(); column++) {
                if (!target.relation().primaryKey().contains(column) && isAssignable(column)) {
                    assignments.add(assignment(target.field(column).name(), rule.get()));
                }
            }
        }
        if (assignments.isEmpty()) {
            return new OnConflict.DoNothing(true, Optional.empty());
        }
        List<String> versions = rule.get().versions();
        List<SqlIdentifier> key = target.relation().primaryKey().stream()
                .map(column -> new SqlIdentifier(target.field(column).name(), SqlParserPos.ZERO))
                .toList();
        return new OnConflict.Successive(bind(
                new Syntax.Conflict(
                        key,
                        Optional.empty(),
                        Optional.empty(),
                        assignments,
                        versions.isEmpty()
                                ? Optional.empty()
                                : Optional.of(StatementParser.parseExpression(isNotOlder(versions))),
                        1),
                THERE,
                true,
                List.of()));
    }

    private boolean isAssignable(int column) {
        return target.rule(column)
                .filter(rule ->
                        rule.kind() == ColumnRule.Kind.GENERATED || rule.kind() == ColumnRule.Kind.IDENTITY_ALWAYS)
                .isEmpty();
    }

    private static Syntax.Assignment assignment(String column, TableConflict rule) {
        SqlIdentifier name = new SqlIdentifier(column, SqlParserPos.ZERO);
        String quoted = Identifiers.quote(column);
        String value = rule.action() == TableConflict.Action.OVERWRITE
                ? EXCLUDED + "." + quoted
                : "coalesce(" + EXCLUDED + "." + quoted + ", " + THERE + "." + quoted + ")";
        return new Syntax.Assignment(List.of(name), StatementParser.parseExpression(value));
    }

    /** Whether the row that comes is as new as the one that is there by the first column in which they differ, NULL before all else. */
    private static String isNotOlder(List<String> versions) {
        String column = "." + Identifiers.quote(versions.get(0));
        String there = THERE + column;
        String comes = EXCLUDED + column;
        String same = there + " IS NOT DISTINCT FROM " + comes;
        String newer = "(" + there + " < " + comes + " OR " + there + " IS NULL AND " + comes + " IS NOT NULL)";
        List<String> others = versions.subList(1, versions.size());
        return newer + " OR " + same + (others.isEmpty() ? "" : " AND (" + isNotOlder(others) + ")");
    }

    // ---- what the statement says -----------------------------------------------------------------------------------

    /** What says which rows an index has need only be a condition: an index of all rows is one of these, too. */
    private void checkCondition(SqlNode condition, String name, boolean isAlias, List<SqlNode> with) {
        RowsAtHand rows =
                new RowsAtHand(context, List.of(RowsAtHand.Part.of(context, target.relation(), name, isAlias)), with);
        new ExpressionBinder(rows.context(), rows.scope(), Clause.plain("ON CONFLICT")).bindCondition(condition);
    }

    /** The UNIQUE constraint that is named, if one is. */
    private Optional<String> unique(Syntax.Conflict conflict) {
        Set<String> columns = new HashSet<>();
        conflict.target().forEach(name -> columns.add(name.getSimple()));
        return target.relation().rules().uniques().stream()
                .filter(unique -> conflict.constraint()
                                .filter(name -> name.getSimple().equals(unique.name()))
                                .isPresent()
                        || !columns.isEmpty() && columns.equals(Set.copyOf(unique.columns())))
                .map(TableRules.Unique::name)
                .findFirst();
    }

    /** What is named is the key. */
    private void requireKey(Syntax.Conflict conflict, SqlParserPos position) {
        Set<Integer> columns = new HashSet<>();
        conflict.target().forEach(name -> columns.add(target.column(name)));
        if (!columns.isEmpty()
                && !columns.equals(new HashSet<>(target.relation().primaryKey()))) {
            throw Errors.error(
                            SqlState.INVALID_COLUMN_REFERENCE,
                            "there is no unique or exclusion constraint matching the ON CONFLICT specification",
                            position)
                    .withHint(
                            target.relation().primaryKey().isEmpty()
                                    ? "\"" + target.relation().name() + "\" has no primary key"
                                    : "the key is (" + keyNames() + ")");
        }
        conflict.constraint().ifPresent(name -> {
            boolean is = name.getSimple()
                            .equals(context.catalog()
                                            .withoutSchema(target.relation().name()) + "_pkey")
                    && !target.relation().primaryKey().isEmpty();
            if (!is) {
                throw Errors.error(
                        SqlState.UNDEFINED_OBJECT,
                        "constraint \"" + name.getSimple() + "\" for table \""
                                + target.relation().name() + "\" does not exist",
                        name);
            }
        });
    }

    private String keyNames() {
        return String.join(
                ", ",
                target.relation().primaryKey().stream()
                        .map(column -> target.field(column).name())
                        .toList());
    }

    /** The columns of {@code SET c = EXCLUDED.c}, if there is nothing else. */
    private Optional<List<Integer>> replaced(Syntax.Conflict conflict) {
        Set<Integer> columns = new HashSet<>();
        for (Syntax.Assignment assignment : conflict.assignments()) {
            boolean same = assignment.columns().size() == 1
                    && assignment.part().isEmpty()
                    && assignment.value() instanceof SqlIdentifier value
                    && value.names.equals(
                            List.of(EXCLUDED, assignment.columns().get(0).getSimple()));
            if (!same || conflict.where().isPresent()) {
                return Optional.empty();
            }
            int column = target.column(assignment.columns().get(0));
            if (target.rule(column).isPresent() || !columns.add(column)) {
                return Optional.empty();
            }
        }
        return Optional.of(columns.stream().sorted().toList());
    }

    private OnConflict update(
            Syntax.Conflict conflict, Optional<String> unique, String name, boolean isAlias, List<SqlNode> with) {
        Schema schema = target.relation().schema();
        RowsAtHand rows = new RowsAtHand(
                context,
                List.of(
                        RowsAtHand.Part.of(context, target.relation(), name, isAlias),
                        new RowsAtHand.Part(EXCLUDED, schema),
                        new RowsAtHand.Part("", NUMBER)),
                with);
        Scope conditions = rows.scope();
        Optional<RexNode> condition = conflict.where()
                .map(where ->
                        new ExpressionBinder(rows.context(), conditions, Clause.plain("WHERE")).bindCondition(where));
        Scope values = rows.scope();
        List<RexNode> references = rows.references();
        List<RexNode> changed = new ArrayList<>(references.subList(0, schema.size()));
        new AssignmentBinder(rows.context(), target, values).bind(conflict.assignments(), changed);
        boolean reads = condition.filter(where -> readsOld(where, schema)).isPresent()
                || changed.stream()
                        .filter(value -> !references.contains(value))
                        .anyMatch(value -> readsOld(value, schema));
        List<RexNode> all = new ArrayList<>(references.subList(0, schema.size()));
        all.addAll(changed);
        all.add(references.get(references.size() - 1));
        List<String> names = new ArrayList<>(schema.names());
        names.addAll(schema.names());
        names.addAll(NUMBER.names());
        Query query = rows.query(condition, conditions, all, names, values);
        return new OnConflict.Update(query, reads, unique);
    }

    private static boolean readsOld(RexNode value, Schema schema) {
        boolean[] found = new boolean[1];
        value.accept(new RexVisitorImpl<Void>(true) {
            @Override
            public Void visitInputRef(RexInputRef reference) {
                found[0] |= reference.getIndex() < schema.size();
                return null;
            }
        });
        return found[0];
    }
}

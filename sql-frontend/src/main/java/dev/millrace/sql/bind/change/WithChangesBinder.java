package dev.millrace.sql.bind.change;

import dev.millrace.error.MillraceException;
import dev.millrace.sql.bind.query.QueryBinder;
import dev.millrace.sql.bind.scope.BoundQuery;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.statement.Merge;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.WithChanges;
import dev.millrace.sql.syntax.Syntax;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Binds WITH that changes rows: each part is a statement of its own, over rows that those before it return. */
public final class WithChangesBinder {
    private final QueryContext context;
    private final Set<String> changed = new HashSet<>();

    public WithChangesBinder(QueryContext context) {
        this.context = context;
    }

    public Statement bind(Syntax.WithChanges with) {
        List<WithChanges.Part> parts = new ArrayList<>();
        for (Syntax.Part part : with.parts()) {
            Statement change = new ChangeBinder(context.beside()).bind(part.change());
            requireOnce(change);
            context.putChanged(
                    part.name(),
                    returning(change)
                            .map(returning -> new Relation(
                                    part.rows(),
                                    Relation.Kind.SYSTEM_VIEW,
                                    returning.query().schema(),
                                    false,
                                    List.of(),
                                    Optional.empty())));
            parts.add(new WithChanges.Part(part.rows(), change));
        }
        if (with.main() instanceof Syntax.Select select) {
            QueryContext own = context.beside();
            own.allowRecursion();
            BoundQuery bound =
                    new QueryBinder(own, Optional.empty()).bind(select.query().query(), List.of());
            return new WithChanges(
                    parts,
                    new Statement.Select(QueryBinder.query(
                                    own,
                                    bound.rel(),
                                    bound.names(),
                                    select.query().emit())
                            .withOptions(select.options())));
        }
        Statement main = new ChangeBinder(context.beside()).bind(with.main());
        requireOnce(main);
        return new WithChanges(parts, main);
    }

    /** PostgreSQL leaves open which of two changes a row gets; there is no such question here. */
    private void requireOnce(Statement change) {
        Optional<String> table = Optional.empty();
        if (change instanceof Statement.Update update) {
            table = Optional.of(update.relation());
        } else if (change instanceof Statement.Delete delete) {
            table = Optional.of(delete.relation());
        } else if (change instanceof Merge merge) {
            table = Optional.of(merge.relation());
        } else if (change instanceof Statement.Insert insert
                && (insert.onConflict() instanceof Statement.OnConflict.Update
                        || insert.onConflict() instanceof Statement.OnConflict.Replace)) {
            table = Optional.of(insert.relation());
        }
        if (table.isPresent() && !changed.add(table.get())) {
            throw MillraceException.notAvailableYet(
                            "changing rows of \"" + table.get() + "\" in two parts of one statement")
                    .withHint(
                            "both would see the rows as they were before; one statement after the other between BEGIN and"
                                    + " COMMIT, or one MERGE");
        }
    }

    private static Optional<Statement.Returning> returning(Statement change) {
        if (change instanceof Statement.Insert insert) {
            return insert.returning();
        } else if (change instanceof Statement.Update update) {
            return update.returning();
        } else if (change instanceof Statement.Delete delete) {
            return delete.returning();
        }
        return ((Merge) change).returning();
    }
}

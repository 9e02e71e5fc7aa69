package dev.millrace.server.group;

import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.sql.statement.Statement.ObjectKind;
import java.util.List;

/**
 * A query that is to be made, by the form of its text.
 *
 * @param text that defines it
 * @param literals of the form
 */
public record KnownQuery(KnownForm form, String name, String text, List<Literal> literals) {
    public KnownQuery {
        literals = List.copyOf(literals);
    }

    /** CONTINUOUS_QUERY or MATERIALIZED_VIEW. */
    public ObjectKind kind() {
        return form.example().kind();
    }

    /** As the catalog has it. */
    public CatalogObject object(long createdMicros) {
        return form.object(name, text, createdMicros);
    }
}

package dev.millrace.server.group;

import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.server.catalog.CatalogObject;
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

    /** As the catalog has it. */
    public CatalogObject object(long createdMicros) {
        return form.object(name, text, createdMicros);
    }
}

package dev.millrace.server.group;

import dev.millrace.engine.runtime.QueryOptions;
import dev.millrace.planner.group.OpenForm;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.planning.PlanBasis;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.syntax.Syntax;

/**
 * What the text of a member, a continuous query or a view, means, for texts that differ from it in constants: it was parsed, analysed and planned once.
 *
 * @param open how literals come from constants
 * @param group digest of the form, by which {@link QueryGroups} know it
 * @param how its queries run
 * @param reads the stream as it was then
 * @param basis what the planner was told
 * @param example the first query of it
 * @param statement that made the example
 * @param syntax of that
 */
public record KnownForm(
        OpenForm open,
        String group,
        QueryOptions how,
        CatalogObject reads,
        PlanBasis basis,
        CatalogObject example,
        Statement statement,
        Syntax syntax) {
    /** Whether the stream is as it was. */
    public boolean isCurrent(DatabaseCatalog catalog) {
        return catalog.object(reads.name()).filter(now -> now == reads).isPresent();
    }

    /** Another query of it, as the catalog has it: columns and what it reads are those of the example, and need no room. */
    public CatalogObject object(String name, String text, long createdMicros) {
        return new CatalogObject(
                name,
                example.kind(),
                example.schema(),
                example.appendOnly(),
                example.primaryKey(),
                example.eventTime(),
                example.input(),
                example.reads(),
                example.options(),
                text,
                createdMicros,
                example.rules(),
                example.numeric());
    }
}

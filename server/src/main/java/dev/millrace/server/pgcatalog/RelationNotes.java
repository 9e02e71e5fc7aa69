package dev.millrace.server.pgcatalog;

import dev.millrace.server.catalog.CatalogObject;
import java.util.Optional;

/**
 * What is to be known of relations besides their definitions, which PostgreSQL's users find as descriptions. Called by who asks, who may be cancelled and wait
 * for a disk; on any thread.
 */
public interface RelationNotes {
    /** Of a relation; lines. */
    Optional<String> of(CatalogObject relation);

    /** Of a column; a line. */
    Optional<String> of(CatalogObject relation, String column);
}

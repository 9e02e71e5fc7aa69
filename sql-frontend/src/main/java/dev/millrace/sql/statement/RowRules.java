package dev.millrace.sql.statement;

import java.util.Optional;

/**
 * What is done with rows of a relation before they are written, each over {@link
 * dev.millrace.sql.catalog.Relation#AT_HAND} with the relation's columns.
 *
 * @param generation gives the rows with the columns that are computed from others
 * @param violations gives the rows that fail a CHECK, with the value of each
 */
public record RowRules(Optional<Query> generation, Optional<Query> violations) {
    public static final RowRules NONE = new RowRules(Optional.empty(), Optional.empty());
}

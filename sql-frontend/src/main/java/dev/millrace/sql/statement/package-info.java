/**
 * Statements: what the front end makes of SQL text, names resolved, types checked.
 *
 * <p>Entry: {@link dev.millrace.sql.statement.Statement}, a sealed interface of records; those with rows carry a {@link
 * dev.millrace.sql.statement.Query}. Immutable; a query's relational algebra belongs to the thread that plans it
 * (Calcite's nodes are not made for sharing). Nothing here executes.
 */
package dev.millrace.sql.statement;

/**
 * Queries: WITH, set operations, VALUES, and one SELECT from its FROM to its LIMIT.
 *
 * <p>Entry: {@link dev.millrace.sql.bind.query.QueryBinder}; one SELECT is {@link dev.millrace.sql.bind.query.SelectBinder}'s, and
 * FROM {@link dev.millrace.sql.bind.query.FromBinder}'s. Use once, on one thread.
 */
package dev.millrace.sql.bind.query;

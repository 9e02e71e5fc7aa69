/**
 * Sub-queries in expressions, and queries made anew for each outer row, as joins and aggregates.
 *
 * <p>Entry: {@link dev.millrace.sql.bind.subquery.SubQueries}. Pure functions of algebra nodes; it knows no syntax.
 */
package dev.millrace.sql.bind.subquery;

/**
 * Random queries over random rows, standing and pulled, against DuckDB.
 *
 * <p>Entry: {@link dev.millrace.server.differential.RandomQueriesTest}. Pieces of SQL are made in both dialects at once
 * ({@link dev.millrace.server.differential.Dual}).
 */
package dev.millrace.server.differential;

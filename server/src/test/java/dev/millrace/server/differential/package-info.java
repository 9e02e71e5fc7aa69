/**
 * Random queries over random rows, standing and pulled, against DuckDB.
 *
 * <p>Entry: {@link dev.millrace.server.differential.RandomQueriesTest}. Pieces of SQL are made in both dialects at once
 * ({@link dev.millrace.server.differential.Dual}). What the grammar makes:
 *
 * <ul>
 *   <li>FROM ({@link dev.millrace.server.differential.RandomFrom}): a stream, a table beside it, a view beside that, VALUES,
 *       series, queries; INNER, LEFT, RIGHT, FULL, SEMI and ANTI joins up to three deep, nested to the right, by columns,
 *       expressions, NULLs as equals, conditions; LATERAL queries, UNNEST
 *   <li>WHERE ({@link dev.millrace.server.differential.RandomPredicates}): conditions, IN, EXISTS, ANY, ALL, pairs IN, counts;
 *       correlated, two levels deep
 *   <li>groups with HAVING, FILTER, ROLLUP, CUBE, GROUPING SETS; DISTINCT; chains of set operations; WITH
 *   <li>order ({@link dev.millrace.server.differential.RandomCuts}, {@link dev.millrace.server.differential.RandomOvers}): LIMIT,
 *       WITH TIES, DISTINCT ON, QUALIFY, ranks; window functions with frames of all kinds
 *   <li>time ({@link dev.millrace.server.differential.RandomWindows}, {@link dev.millrace.server.differential.RandomTimes}): windows
 *       and the first rows of each, late rows dropped or included, interval, window and ASOF joins of all kinds, window functions
 *       that wait for the watermark, row patterns; rows of today, around 1970 and before
 *   <li>arrays, JSONB, set-returning functions ({@link dev.millrace.server.differential.RandomNested})
 *   <li>views over views, altered queries, EMIT EVERY ({@link dev.millrace.server.differential.RandomQueries.Kept}); restarts
 *       from snapshots, also with another number of workers, one to four of them, batches of two rows and of many
 *   <li>files ({@link dev.millrace.server.differential.RandomFilesTest}): split, ordered, packed and spoilt in many ways
 * </ul>
 *
 * <p>Not made: NOT IN of pairs; versions of tables (a suite of their own); users' functions; values that overflow; changes by
 * SQL's UPDATE and DELETE (TPC-H has them).
 */
package dev.millrace.server.differential;

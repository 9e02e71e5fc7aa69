/**
 * Golden SQL: files of statements with the rows or errors they must give, after SQLite's sqllogictest.
 *
 * <pre>
 *   # comments and blank lines stand between records
 *   statement ok
 *   CREATE TABLE t (a BIGINT, b TEXT)
 *
 *   statement error 42703 column "c" does not exist
 *   SELECT c FROM t
 *
 *   query rowsort
 *   SELECT a, b FROM t
 *   ----
 *   1 | x
 *   2 | NULL
 * </pre>
 *
 * After {@code error} come the SQLSTATE and a regular expression to be found in the message or hint; a query's rows are
 * PostgreSQL's text values, sorted before the comparison with {@code rowsort}, in their order without. An empty text is
 * written {@code (empty)}, a line end in a value {@code \n}. {@code -Dmillrace.golden.update=true} writes what came
 * instead of comparing, to be reviewed as a diff.
 *
 * <p>Entry: {@link dev.millrace.testing.slt.GoldenFile}; what executes the statements implements {@link
 * dev.millrace.testing.slt.SqlRunner}.
 */
package dev.millrace.testing.slt;

/**
 * Suites of SQL that one can read, as materialized views over tables that change, against the oracle.
 *
 * <p>Entry: {@link dev.millrace.server.suite.StandingViews}. The queries are text files in {@code src/test/resources}:
 * {@code tpch} with the oracle's answers at the end of the first seed beside them, {@code joins} with all kinds of joins and
 * sub-queries.
 */
package dev.millrace.server.suite;

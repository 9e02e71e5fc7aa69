/**
 * The batch answer: the same SQL over the same rows in DuckDB.
 *
 * <p>Entry: {@link dev.millrace.testing.oracle.Oracle}. One thread at a time.
 */
package dev.millrace.testing.oracle;

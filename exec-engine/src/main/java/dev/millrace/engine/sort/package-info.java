/**
 * Ordered results of finite queries.
 *
 * <p>Entry: {@link dev.millrace.engine.sort.SortOperator}.
 */
package dev.millrace.engine.sort;

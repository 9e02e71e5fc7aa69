/**
 * Leaves out rows that a query's predicates rule out, before more is made of them than has to be.
 *
 * <p>Entry: {@link dev.millrace.connectors.filter.RowFilter}. It is told of comparisons with constants and asked about
 * rows whose columns are in Arrow's layout; what it cannot compare it lets pass, since the engine filters again. Filters
 * are immutable, selections belong to one thread.
 */
package dev.millrace.connectors.filter;

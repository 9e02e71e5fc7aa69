/**
 * Rows that come and leave as time passes: {@code WHERE ts > now() - INTERVAL '1 hour'} in a standing query.
 *
 * <p>Entry: {@link dev.millrace.engine.timefilter.TimeFilterOperator}. Its host wakes it when a row is due.
 */
package dev.millrace.engine.timefilter;

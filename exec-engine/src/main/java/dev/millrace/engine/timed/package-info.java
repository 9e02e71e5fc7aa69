/**
 * Operators that the clock drives: rows that come and leave as time passes ({@code WHERE ts > now() - INTERVAL '1 hour'} in a
 * standing query), and changes that are held back and emitted together at most so often ({@code EMIT EVERY}).
 *
 * <p>Entry: {@link dev.millrace.engine.timed.TimeFilterOperator}, {@link dev.millrace.engine.timed.PaceOperator}. Their host
 * wakes them when a row is due, or when they have waited long enough.
 */
package dev.millrace.engine.timed;

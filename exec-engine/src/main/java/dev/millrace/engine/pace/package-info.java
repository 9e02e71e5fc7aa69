/**
 * {@code EMIT EVERY}: changes are held back and emitted together at most so often.
 *
 * <p>Entry: {@link dev.millrace.engine.pace.PaceOperator}. Its host wakes it when it has waited long enough.
 */
package dev.millrace.engine.pace;

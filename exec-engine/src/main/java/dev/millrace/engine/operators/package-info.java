/**
 * From plan nodes to operators and readers, and what is known of plans before they run.
 *
 * <p>Entry: {@link dev.millrace.engine.operators.OperatorFactory}.
 */
package dev.millrace.engine.operators;

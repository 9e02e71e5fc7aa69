/**
 * From plan nodes to operators.
 *
 * <p>Entry: {@link dev.millrace.engine.operators.OperatorFactory}.
 */
package dev.millrace.engine.operators;

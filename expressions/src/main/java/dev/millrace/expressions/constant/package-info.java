/**
 * Expressions over no columns: their values, and rows of them.
 *
 * <p>Entry: {@link dev.millrace.expressions.constant.ConstantFolder} evaluates them by the same generated code that runs over
 * rows, or without code where a cast of a literal is all there is; {@link dev.millrace.expressions.constant.ConstantRows} makes
 * batches of VALUES. Safe on any thread.
 */
package dev.millrace.expressions.constant;

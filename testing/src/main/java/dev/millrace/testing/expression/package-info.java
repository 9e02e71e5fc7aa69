/**
 * Expressions written as text, for the tests of what compiles and runs them. Entry: {@link
 * dev.millrace.testing.expression.ExpressionReader}. It is no SQL.
 */
package dev.millrace.testing.expression;

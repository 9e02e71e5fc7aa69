/**
 * The one exception that carries a user-visible error, and its SQLSTATE codes.
 *
 * <p>Entry: {@link dev.millrace.error.MillraceException}. The place that throws decides whose fault it was.
 */
package dev.millrace.error;

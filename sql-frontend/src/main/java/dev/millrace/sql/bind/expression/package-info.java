/**
 * Expressions: operators, comparisons, casts, calls of functions, aggregates and windows.
 *
 * <p>Entry: {@link dev.millrace.sql.bind.expression.ExpressionBinder}, for one expression over the columns of a scope. Queries
 * inside expressions are bound by way of {@link dev.millrace.sql.bind.scope.QueryContext#bindWithin}; nothing here knows how.
 */
package dev.millrace.sql.bind.expression;

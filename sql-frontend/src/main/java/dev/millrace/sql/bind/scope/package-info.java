/**
 * What names mean where they stand: columns of FROM, aliases, rows of outer queries, and what a clause may hold.
 *
 * <p>Entry: {@link dev.millrace.sql.bind.scope.Scope}, and {@link dev.millrace.sql.bind.scope.QueryContext}, which all parts of
 * a statement's binding share. One thread.
 */
package dev.millrace.sql.bind.scope;

/**
 * The front end: SQL text to statements and validated relational algebra.
 *
 * <p>Entry: {@link dev.millrace.sql.Frontend}.
 *
 * <pre>
 * text      lexical rules: tokens, splitting into statements, quoting, the caret line of an error
 * parser    the grammar (generated from Calcite's template and ours) and its syntax trees
 * catalog   what the server tells of relations
 * statement what comes out: records under a sealed interface
 * algebra   Calcite types, operators and windows to and from those of {@code dev.millrace.plan}
 * bind      names, types and PostgreSQL's typing rules: syntax trees to algebra
 * </pre>
 *
 * <p>For the server: implement {@link dev.millrace.sql.catalog.Catalog}; call {@link dev.millrace.sql.Frontend}; render
 * errors with {@code dev.millrace.sql.text.ErrorText}; split shell input with {@code dev.millrace.sql.text.SqlText}.
 *
 * <p>For the planner: a {@link dev.millrace.sql.statement.Query} holds Calcite's logical nodes (project, filter, join,
 * aggregate, sort, union/intersect/minus, values, table scan, table function scan, window as {@code RexOver} in
 * projects). Types and expressions translate by {@code algebra.TypeMapper}, {@code algebra.ExpressionTranslator} and
 * {@code algebra.AggregateTranslator}; a scan's relation is {@code scan.getTable().unwrap(Relation.class)}; windows are
 * read by {@code algebra.WindowScan}.
 */
package dev.millrace.sql;

/**
 * Names, types and PostgreSQL's typing rules: syntax trees to statements and algebra.
 *
 * <p>Entry: {@link dev.millrace.sql.bind.StatementBinder}. One binder serves one statement on one thread. Calcite's
 * validator is not used: its types, coercions and messages are not PostgreSQL's, and it costs most of the time of a first
 * query. Instead
 *
 * <pre>
 * StatementBinder    a statement                      FunctionResolver  overloads, by FunctionCatalog
 * QueryBinder        WITH, set operations, ORDER BY   Coercions         implicit and explicit casts, common types
 * SelectBinder       one SELECT                       AggregateBinder   aggregate and OVER calls
 * FromBinder         FROM: relations, joins, windows  Scope             which names mean which columns
 * ExpressionBinder   one expression                   SubQueries        sub-queries to joins
 * </pre>
 */
package dev.millrace.sql.bind;

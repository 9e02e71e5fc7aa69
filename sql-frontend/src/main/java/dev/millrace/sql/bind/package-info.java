/**
 * Names, types and PostgreSQL's typing rules: syntax trees to statements and algebra.
 *
 * <p>Entry: {@link dev.millrace.sql.bind.StatementBinder}. One binder serves one statement on one thread. Calcite's
 * validator is not used: its types, coercions and messages are not PostgreSQL's, and it costs most of the time of a first
 * query. Instead
 *
 * <pre>
 * StatementBinder    a statement                       ExpressionBinder  one expression
 * ChangeBinder       INSERT, UPDATE, DELETE            ComparisonBinder  comparisons of values, rows, lists
 * QueryBinder        WITH, set operations, VALUES      FunctionBinder    calls by name
 * SelectBinder       one SELECT with its ORDER BY      AggregateBinder   arguments of aggregates
 * FromBinder         relations, joins                  WindowBinder      OVER
 * TableFunctionBinder TUMBLE and the like              SubQueryBinder    queries inside expressions
 * GroupBinder        GROUP BY                          FunctionResolver  overloads, by FunctionCatalog
 * Grouping           expressions over groups           Coercions         casts and common types
 * Scope              which names mean which columns    SubQueries        sub-queries to joins
 * </pre>
 */
package dev.millrace.sql.bind;

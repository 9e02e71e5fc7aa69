/**
 * Query templates: many queries that differ in values alone, answered as one. A template is a table, whose rows are its queries and their
 * parameters, and a continuous query, which joins what the template reads with that table; a query of it is a row.
 *
 * <pre>
 *   CREATE QUERY TEMPLATE t(p ..) AS ..            table t (query, p ..), continuous query t_answers (query, ..)
 *   CREATE CONTINUOUS QUERY q FROM TEMPLATE t(..)  a row of t
 *   SUBSCRIBE TO q                                 the rows of t_answers whose query is q
 * </pre>
 *
 * So what is durable, counted, limited, explained and measured of tables and queries is of templates, too; nothing here runs. Statements are executed by {@code ddl}; here names are found,
 * by {@link dev.millrace.server.template.TemplateQueries}. Source: Pluto,
 * dissertation ch. 3: code that is registered once (U1), groups of queries (U4).
 */
package dev.millrace.server.template;

/**
 * Algebra nodes, made and rewritten without metadata: projects and joins by their constructors, rows chosen by number, what
 * queries read of rows around them.
 *
 * <p>Entry: {@link dev.millrace.sql.bind.relation.RelNodes}. Pure functions of nodes.
 */
package dev.millrace.sql.bind.relation;

/**
 * The relations that plans scan: streams with a source, streams and tables that are appended to, outputs of queries.
 *
 * <p>Entry: {@link dev.millrace.engine.relation.Relations}. Everything here is safe on any thread. What a relation's
 * rows mean is no matter here: nothing knows SQL.
 */
package dev.millrace.engine.relation;

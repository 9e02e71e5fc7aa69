/**
 * Tables whose rows have event time, as versions.
 *
 * <p>Entry: {@link dev.millrace.engine.version.VersionsOperator} makes of a table's changes rows that are never taken back,
 * which a temporal join looks up. Driven by one thread at a time.
 */
package dev.millrace.engine.version;

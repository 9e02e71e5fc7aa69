/**
 * What has a name: streams, tables, continuous queries, materialized views, sinks and the system's own relations; and
 * what depends on what.
 *
 * <p>Entry: {@link dev.millrace.server.catalog.DatabaseCatalog}, which is what the front end asks. Descriptions only: what
 * runs is kept by {@code dev.millrace.server.session}. Safe on any thread; changes are made by one thread at a time, which
 * the database sees to.
 */
package dev.millrace.server.catalog;

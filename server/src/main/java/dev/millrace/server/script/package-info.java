/**
 * What a database has, as statements that make it again, in an order in which they can be run.
 *
 * <p>Entry: {@link dev.millrace.server.script.DefinitionScript}: of an open database {@code millrace.definitions} shows it, of a directory
 * {@code dev.millrace.server.operation} makes it from what is kept. Pure functions; any thread. Not rows.
 */
package dev.millrace.server.script;

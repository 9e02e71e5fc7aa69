/**
 * The connectors there are, by name. Entry: {@link dev.millrace.connectors.Connectors}. Each is in a package of its own
 * that knows none of the others.
 */
package dev.millrace.connectors;

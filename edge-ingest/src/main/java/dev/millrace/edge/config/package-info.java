/**
 * What an agent is told: the file {@code edge.conf}, and what the server sets while it runs.
 *
 * <p>Entry: {@link dev.millrace.edge.config.EdgeConfigFile}. Immutable values, checked when they are made; an option that is not known is an error.
 */
package dev.millrace.edge.config;

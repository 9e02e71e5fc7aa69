/**
 * The options of a server: {@code millrace.conf}, the command line over it, and the commented list of all of them.
 *
 * <p>Entry: {@link dev.millrace.server.config.ConfigFile}, which gives a {@link dev.millrace.server.config.ServerConfig}.
 * Immutable values; nothing here starts anything. What sessions may change while the server runs is in
 * {@code dev.millrace.server.settings}.
 */
package dev.millrace.server.config;

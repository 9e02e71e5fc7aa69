/**
 * What SET, RESET and SHOW reach: a session's settings, each with its default and documentation.
 *
 * <p>Entry: {@link dev.millrace.server.settings.SessionSettings}, one per session and used by its thread;
 * {@link dev.millrace.server.settings.Setting} lists what there is.
 */
package dev.millrace.server.settings;

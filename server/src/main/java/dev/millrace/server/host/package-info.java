/**
 * What an open database has of the machine that it runs on: threads, and the log that writes to its disk.
 *
 * <p>Entry: {@link dev.millrace.server.host.Host}. Programs have the one of the process; tests give one of which all happens on
 * one thread, in an order that a seed decides. Not the clock, which comes with the options, and not the directory, which is a
 * {@link dev.millrace.server.storage.DataPlace}.
 */
package dev.millrace.server.host;

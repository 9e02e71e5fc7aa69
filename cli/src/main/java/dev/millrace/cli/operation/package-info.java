/**
 * The programs that work on data directories: {@code millrace verify}.
 *
 * <p>Entry: {@link dev.millrace.cli.operation.VerifyCommand}. Each is called once, by the program's thread. What they do is done by {@code
 * dev.millrace.server.operation}; here are their command lines and what they print.
 */
package dev.millrace.cli.operation;

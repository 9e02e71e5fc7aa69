/** The program {@code millrace}. Entry: {@link dev.millrace.server.Main}, which knows the sub-commands. */
package dev.millrace.server;

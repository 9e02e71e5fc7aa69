/** The program {@code millrace}. Entry: {@link dev.millrace.cli.Main}, which knows the sub-commands. */
package dev.millrace.cli;

/**
 * The shell: {@code millrace sql}, interactive and for scripts.
 *
 * <p>Entry: {@link dev.millrace.cli.shell.SqlCommand}. Results go to standard output, everything else to standard error.
 * {@code Shell} runs statements and backslash commands and knows no terminal; {@code InteractiveShell} puts JLine around
 * it, whose classes are loaded only there. One thread, but for the one that draws progress and the one that brings Ctrl-C.
 */
package dev.millrace.cli.shell;

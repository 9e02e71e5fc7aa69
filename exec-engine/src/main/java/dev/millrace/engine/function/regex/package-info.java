/**
 * PostgreSQL's advanced regular expressions over UTF-8 bytes.
 *
 * <p>Entry: {@link dev.millrace.engine.function.regex.Regex}, immutable and safe on any thread, and {@link
 * dev.millrace.engine.function.regex.RegexMatcher}, its state for one thread. A backtracking matcher in continuation
 * style: each node tries its own part and then what follows it. PostgreSQL's
 * automaton finds the longest match; here alternatives of fixed lengths are tried from the longest to the shortest, which
 * is the same ({@code a|ab} finds {@code ab}), and others in the order they are written in, as Perl and Java do
 * ({@code a+|ab} finds {@code a} in {@code ab}).
 */
package dev.millrace.engine.function.regex;

/**
 * PostgreSQL's advanced regular expressions over UTF-8 bytes.
 *
 * <p>Entry: {@link dev.millrace.engine.function.regex.Regex}, immutable and safe on any thread, and {@link
 * dev.millrace.engine.function.regex.RegexMatcher}, its state for one thread. A backtracking matcher in continuation
 * style: each node tries its own part and then what follows it. Unlike PostgreSQL's automaton it prefers the first
 * alternative that leads to a match to the longest one ({@code a|ab} finds {@code a} in {@code ab}), as Perl and Java do.
 */
package dev.millrace.engine.function.regex;

/**
 * PostgreSQL's advanced regular expressions over UTF-8 bytes, each search in time linear in the text.
 *
 * <p>Entry: {@link dev.millrace.expressions.function.regex.Regex}, immutable and safe on any thread, and {@link
 * dev.millrace.expressions.function.regex.RegexMatcher}, its state for one thread. What happens to an expression:
 *
 * <ul>
 *   <li>{@code Parser} makes a {@code RegexSyntax} of it, {@code Alphabet} the classes of characters it can tell apart, {@code
 *       ProgramBuilder} the {@code Program}s, nondeterministic automata, of the whole and of its parts, to be read
 *       forwards and backwards.
 *   <li>An expression that never has a choice ({@code OneWay}) is walked through, groups and all, wherever the bytes
 *       that each match contains ({@code RequiredLiteral}) allow one.
 *   <li>Others are found by an {@code Automaton}, deterministic and built as texts need it: forwards to the end of the
 *       leftmost match, from there backwards to its begin. Lookarounds are one pass each, before.
 *   <li>If groups are asked for, {@code Dissection} divides the match among the {@code RegexPart}s, as PostgreSQL does: which
 *       part takes as much, and which as little as it can, and which first.
 * </ul>
 *
 * <p>Expressions with back references alone are tried, one division of the text after another, within a budget; long
 * loops look at the thread's {@link dev.millrace.interrupt.Interrupt}. The package knows no SQL.
 */
package dev.millrace.expressions.function.regex;

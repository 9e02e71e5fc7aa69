/**
 * Row patterns: rows of a partition in order, an automaton over them, and the values of what it finds.
 *
 * <p>Entry: {@link dev.millrace.engine.match.MatchOperator}. Rows wait until the watermark has passed them, then they are
 * sorted into their partition and conditions over neighbours alone are computed for all of them at once. The automaton
 * ({@code Search}) takes its choices in the order of preference and goes back where one fails, so that the first match it
 * finds is the one that counts; it remembers which states failed at which row. One thread.
 */
package dev.millrace.engine.match;

/**
 * Functions of texts and patterns: LIKE, SIMILAR TO and regular expressions, which {@code function.regex} runs.
 *
 * <p>Entry: {@link dev.millrace.expressions.function.pattern.LikePattern}, {@link
 * dev.millrace.expressions.function.pattern.RegexFunction}; generated code calls them. Objects belong to one thread and keep
 * the last pattern.
 */
package dev.millrace.expressions.function.pattern;

/**
 * Functions of numbers: arithmetic with its errors, NUMERIC of up to 38 digits, trigonometry, and numbers as text by templates.
 *
 * <p>Entry: {@link dev.millrace.expressions.function.number.Numbers}, {@link dev.millrace.expressions.function.number.Decimals};
 * generated code calls them. Objects belong to one thread.
 */
package dev.millrace.expressions.function.number;

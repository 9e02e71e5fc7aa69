/**
 * Functions of arrays and rows, over their images ({@link dev.millrace.nested}), and of JSONB, over its text ({@link
 * dev.millrace.json}). Generated code calls them with addresses; 0 is the address of NULL where a function sees NULLs.
 *
 * <p>Entry: {@link dev.millrace.expressions.function.nested.ArrayFunctions}, {@link
 * dev.millrace.expressions.function.nested.JsonFunctions}. Objects belong to one kernel and so to one thread.
 */
package dev.millrace.expressions.function.nested;

/**
 * What plans mean, written down as plainly as possible: for tests that a rewritten plan has the answer of the plain one.
 *
 * <p>Entry: {@link dev.millrace.planner.reference.Interpreter}. Rows are lists of Java values, all at once and without
 * time; SQL NULL is null here.
 */
package dev.millrace.planner.reference;

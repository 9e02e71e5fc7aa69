/**
 * That who reads a relation only wants to know which rows there are, and how many of each.
 *
 * <p>Entry: {@link dev.millrace.condense.Condensation}. Immutable values; they read nothing themselves.
 */
package dev.millrace.condense;

/**
 * Types of expressions as PostgreSQL has them: names of types, conversions, what parameters turn out to be, and errors at a
 * place of the text.
 *
 * <p>Entry: {@link dev.millrace.sql.bind.type.Coercions}, {@link dev.millrace.sql.bind.type.TypeNames}. One statement's, on one
 * thread.
 */
package dev.millrace.sql.bind.type;

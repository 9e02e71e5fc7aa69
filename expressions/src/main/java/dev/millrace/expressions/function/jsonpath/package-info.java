/**
 * SQL/JSON paths as PostgreSQL has them: {@code lax $.a[*] ? (@.b > 1).c}.
 *
 * <p>Entry: {@link dev.millrace.expressions.function.jsonpath.JsonPathCall}, called from generated code. A path is parsed once if it is
 * a literal and is immutable; an evaluation belongs to one thread. {@code datetime()} and {@code keyvalue()} can be
 * written, but are not evaluated.
 */
package dev.millrace.expressions.function.jsonpath;

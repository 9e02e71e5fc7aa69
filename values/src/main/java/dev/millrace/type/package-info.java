/**
 * SQL types and schemas.
 *
 * <p>Entry: {@link dev.millrace.type.DataType}. Everything here is an immutable value, safe on any thread. It knows
 * neither SQL text nor expressions.
 */
package dev.millrace.type;

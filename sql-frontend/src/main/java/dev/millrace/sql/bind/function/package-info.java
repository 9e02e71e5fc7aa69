/**
 * Which function a name and types of operands mean.
 *
 * <p>Entry: {@link dev.millrace.sql.bind.function.FunctionResolver} chooses among overloads; {@link
 * dev.millrace.sql.bind.function.BuiltInFunctions} are short for an expression, {@link
 * dev.millrace.sql.bind.function.ForeignFunctions} are other systems' names. It knows no syntax of queries.
 */
package dev.millrace.sql.bind.function;

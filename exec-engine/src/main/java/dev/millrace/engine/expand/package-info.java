/**
 * Table functions: rows made of a row, beside it. UNNEST and what is written with it, generate_series, and those of users.
 *
 * <p>Entry: {@link dev.millrace.engine.expand.ExpandOperator}. Keeps no state, so it is linear in weights.
 */
package dev.millrace.engine.expand;

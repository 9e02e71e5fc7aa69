/**
 * Forgets groups whose rows stopped coming: the option {@code state_ttl} of aggregations and rankings.
 *
 * <p>Entry: {@link dev.millrace.engine.forget.ForgettingOperator}, which wraps the operator whose groups go. Joins forget
 * their rows themselves. On the thread of the operator.
 */
package dev.millrace.engine.forget;

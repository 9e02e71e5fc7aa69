/**
 * What a query may forget: the option {@code state_ttl}.
 *
 * <p>Entry: {@link dev.millrace.planner.forget.ForgetState}, a rewrite. Pure, on the planning thread.
 */
package dev.millrace.planner.forget;

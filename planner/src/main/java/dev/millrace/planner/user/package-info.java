/**
 * Users' functions in plans.
 *
 * <p>Entry: {@link dev.millrace.planner.user.KeepUserStates}. Stateless but for what a planning gives it.
 */
package dev.millrace.planner.user;

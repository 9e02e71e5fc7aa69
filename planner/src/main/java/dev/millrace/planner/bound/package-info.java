/**
 * How far answers over sketches may be off: {@code error_bound}, {@code lower_bound} and {@code upper_bound} become expressions over how far the values
 * that are read may be off, by interval arithmetic.
 *
 * <p>Entry: {@link dev.millrace.planner.bound.BoundRules}, once the algebra is nodes and before anything else is done to them. What comes out has no call of
 * these functions any more, and needs nothing of the operators below. Nothing here is kept; one thread.
 */
package dev.millrace.planner.bound;

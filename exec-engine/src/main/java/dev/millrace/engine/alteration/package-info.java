/**
 * Which operators keep their state when a standing query goes on with another plan, or on another number of workers.
 *
 * <p>Entry: {@link dev.millrace.engine.alteration.Alteration}, {@link dev.millrace.engine.alteration.Rescaling}. Pure functions
 * of plans; the runtime carries out what they say.
 */
package dev.millrace.engine.alteration;

package dev.millrace.engine.epoch;

/**
 * Rows that a relation took.
 *
 * @param epoch to which they belong
 * @param entry the number of their entry in the {@link Journal}, for who must not go on before it is on disk; 0 if there is none
 */
public record Accepted(long epoch, long entry) {}

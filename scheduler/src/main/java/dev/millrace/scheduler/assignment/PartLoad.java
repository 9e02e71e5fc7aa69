package dev.millrace.scheduler.assignment;

/**
 * A part, where it is and what it needs.
 *
 * @param worker its home
 * @param load the share of a worker that it needs: mean rate of arrival by mean rate of processing
 * @param members how many there are, at least 0
 */
public record PartLoad(GroupPart part, int worker, double load, long members) {}

package dev.millrace.condense;

import java.util.OptionalInt;

/**
 * What readers that follow a {@link Condensation} know of time.
 *
 * @param time the column of the relation of whose values they only need to know between which they lie, if there is one
 */
public record Condensing(OptionalInt time) {}

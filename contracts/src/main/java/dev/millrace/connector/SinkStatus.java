package dev.millrace.connector;

import java.util.Optional;

/**
 * How a sink is with its outside.
 *
 * @param target where rows go, for users
 * @param records that the outside has taken since the sink was opened
 * @param waiting records that it was given and has not acknowledged
 * @param silentMicros how long it has acknowledged none of those; 0 if there are none
 * @param lastError without secrets
 * @param waitsFor what it cannot go on without
 */
public record SinkStatus(
        String target,
        long records,
        long waiting,
        long silentMicros,
        Optional<String> lastError,
        Optional<String> waitsFor) {}

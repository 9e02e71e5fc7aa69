package dev.millrace.operator;

import java.util.Optional;

/**
 * An operator whose state can be written as it was at one moment while rows go on changing it, so that nobody waits for all of it
 * to be written.
 *
 * <pre>
 *   freeze -> ( process* | onWatermark+ | onEpochEnd+ | snapshot | writeMore )* -> the frozen state's close
 * </pre>
 */
public interface Freezing extends Operator {
    /**
     * The state as it is now, at a moment when {@link Operator#snapshot} might be called; what that would write is what the frozen state
     * writes, in parts and in another order. Takes little time, however much is kept. There is one at a time: the one before was closed.
     *
     * @return empty if it is to be written at once, by {@link Operator#snapshot}
     */
    Optional<FrozenState> freeze();
}

package dev.millrace.operator;

import java.util.Optional;

/**
 * An operator whose state can be written as it was at one moment while rows go on changing it, so that nobody waits for all of it
 * to be written; and of which only what changed is written, where what was written before is kept.
 *
 * <pre>
 *   freeze -> ( process* | onWatermark+ | onEpochEnd+ | snapshot | writeMore )* -> the frozen state's close
 * </pre>
 */
public interface Freezing extends Operator {
    /** What of the operator's frozen states is kept where it was written to, each written to its end. */
    enum Kept {
        /** Nothing, or not all that belongs to one of them. */
        NOTHING,
        /** What was when the last one was frozen, and not that one: it was not written to its end, or came to nothing. */
        ALL_BUT_LAST,
        /** The last one, with all those before it that it goes on from. */
        ALL
    }

    /**
     * The state as it is now, at a moment when {@link Operator#snapshot} might be called; what that would write is what the frozen state
     * writes, in parts and in another order, behind what is kept. Takes little time, however much is kept. There is one at a time: the
     * one before was closed.
     *
     * @param kept what the new one may go on from; whether it does, says {@link FrozenState#isWhole}
     * @return empty if it is to be written at once, by {@link Operator#snapshot}
     */
    Optional<FrozenState> freeze(Kept kept);
}

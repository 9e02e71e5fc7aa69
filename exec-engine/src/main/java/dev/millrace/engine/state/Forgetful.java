package dev.millrace.engine.state;

import dev.millrace.operator.Operator;

/** An operator with a state per group that can forget a group. On its own thread, between rows. */
public interface Forgetful extends Operator {
    /**
     * Forgets the group of a key, if there is one: at the epoch's end what was told of it is taken back, and rows that come
     * before that begin it anew.
     *
     * @param like an entry with the key, in the layout of the operator's keys
     */
    void forget(long like);
}

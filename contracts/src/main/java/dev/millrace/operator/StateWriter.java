package dev.millrace.operator;

import java.io.DataOutput;

/**
 * Where a snapshot goes: a stream of bytes. Key groups are begun in any order, each at most once per state; by a {@link FrozenState} any
 * number of times.
 */
public interface StateWriter {
    /**
     * Begins the bytes of one key group of a state; ends the one before. State that belongs to the operator instance and not
     * to keys goes to group -1.
     */
    DataOutput keyGroup(StateFormat state, int group);
}

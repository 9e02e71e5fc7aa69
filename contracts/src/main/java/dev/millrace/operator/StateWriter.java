package dev.millrace.operator;

import java.io.DataOutput;

/** Where a snapshot goes. Key groups are begun in any order, each at most once per name. */
public interface StateWriter {
    /**
     * Begins the bytes of one key group of the state called {@code name}; ends the one before. State that belongs to
     * the operator instance and not to keys goes to group -1.
     */
    DataOutput keyGroup(String name, int group);
}

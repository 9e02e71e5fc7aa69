package dev.millrace.engine.relation;

import java.util.OptionalLong;

/**
 * What is written down beside rows, to count together with them or not at all: it is written before them, with a number that the entry of
 * the rows has, too. Who finds it, and no such entry, knows that the rows were not accepted.
 */
public interface Beside {
    /** Nothing. */
    Beside NOTHING = new Beside() {
        @Override
        public OptionalLong mark() {
            return OptionalLong.empty();
        }

        @Override
        public void write() {}
    };

    /** A number of the journal that no relation has, of which the entry has a part without rows. */
    OptionalLong mark();

    /**
     * Writes it. All that the rows need is there, and they are accepted next; if that is stopped before it is done, who accepts them hears of
     * it, and takes this back.
     *
     * @throws RuntimeException if it cannot be written; the rows are not accepted then
     */
    void write();
}

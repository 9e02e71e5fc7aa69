package dev.millrace.connectors.jdbc;

import java.util.List;
import java.util.function.Consumer;

/**
 * One step of a change of a table.
 *
 * @param bytes of all columns, or of the key's, or none
 */
record WrittenChange(Kind kind, byte[] bytes) {
    /** What is done; the places are written to files. */
    enum Kind {
        /** A row is inserted, or put in the place of the one of its key. */
        PUT,
        /** The row of a key goes. */
        DELETE,
        /** Of one key there is one change at most before this, since the last. */
        END_OF_EPOCH
    }

    static final WrittenChange END = new WrittenChange(Kind.END_OF_EPOCH, new byte[0]);

    static WrittenChange put(byte[] row) {
        return new WrittenChange(Kind.PUT, row);
    }

    static WrittenChange delete(byte[] key) {
        return new WrittenChange(Kind.DELETE, key);
    }

    /** Changes in their order. */
    interface Sequence {
        long count();

        /** Gives each change, from the first on at each call. */
        void forEach(Consumer<WrittenChange> each);

        static Sequence of(List<WrittenChange> changes) {
            return new Sequence() {
                @Override
                public long count() {
                    return changes.size();
                }

                @Override
                public void forEach(Consumer<WrittenChange> each) {
                    changes.forEach(each);
                }
            };
        }
    }
}

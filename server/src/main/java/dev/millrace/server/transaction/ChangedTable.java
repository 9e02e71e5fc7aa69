package dev.millrace.server.transaction;

import dev.millrace.batch.Batch;
import dev.millrace.server.rows.RowCopier;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * A table as one statement changes it: at once, or in a transaction that holds the changes back. Used with the lock of the
 * table's {@link TableKeys} held.
 */
public interface ChangedTable {
    /** The table's key, for what does not depend on who asks. */
    TableKeys keys();

    /** Whether there is a current row of this key. */
    boolean contains(String key);

    /** Adds the current row of a key to other rows. */
    void copy(String key, RowCopier into, long weight);

    /**
     * Says which rows are about to be changed, by their keys.
     *
     * @throws RowsHeld if they are another transaction's; nothing was changed then
     */
    void claim(Collection<String> keys);

    /** The same of rows that may be any, of a table without a key. */
    void claimAll();

    /** Whether a key is there, by what the table knows it by ({@link ReferencedKey#known}). */
    default boolean hasKnown(String known) {
        return known.startsWith("u") ? containsUnique(known) : contains(known);
    }

    /** Whether a row has these values in the columns of a foreign key. @param text as {@link ValueCounts#text} gives it */
    boolean references(String foreignKey, String text);

    /** Whether a row has a value that is kept unique, by its text. */
    boolean containsUnique(String text);

    /**
     * Changes rows by their weights; takes the batches over, also when it throws: 23505 where a value would be there twice that
     * is kept unique, and {@link RowsHeld} where another transaction has it; nothing was changed then.
     */
    void write(List<Batch> rows);

    /** Makes rows of a batch the current ones of their keys. Does not take the batch over. */
    void put(Batch batch, Iterable<Map.Entry<String, Integer>> rows);

    /** There is no row of this key any more. */
    void remove(String key);
}

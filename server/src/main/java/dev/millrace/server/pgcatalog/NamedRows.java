package dev.millrace.server.pgcatalog;

import dev.millrace.server.rows.RowBuilder;
import dev.millrace.type.Schema;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Adds rows by the names of their columns; what is not named is NULL.
 *
 * @param number of the relation that they are of
 */
record NamedRows(Schema schema, RowBuilder rows, int number) {
    /** As PostgreSQL has it in rows that are there from the beginning. */
    private static final int FIRST_TRANSACTION = 1;

    /** @param values names and values in turn */
    void add(Object... values) {
        add(List.of(), values);
    }

    void add(StandardName name, Object... values) {
        add(List.of(name), values);
    }

    void add(List<StandardName> names, Object... values) {
        Object[] row = new Object[schema.size()];
        for (int column = 0; column < row.length; column++) {
            row[column] = Optional.empty();
        }
        row[schema.indexOf(RelationList.OWN_NUMBER)] = number;
        row[schema.indexOf(RelationList.WRITER)] = FIRST_TRANSACTION;
        for (StandardName name : names) {
            put(row, name.columns());
        }
        put(row, values);
        rows.row(row);
    }

    /** A row of what it shares with others and what is its own. */
    void addBoth(Object[] shared, Object... own) {
        Object[] values = Arrays.copyOf(shared, shared.length + own.length);
        System.arraycopy(own, 0, values, shared.length, own.length);
        add(values);
    }

    private void put(Object[] row, Object[] values) {
        for (int i = 0; i < values.length; i += 2) {
            row[schema.indexOf((String) values[i])] = values[i + 1];
        }
    }
}

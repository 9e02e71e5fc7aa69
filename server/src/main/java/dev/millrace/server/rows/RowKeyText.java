package dev.millrace.server.rows;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.ValueText;
import java.util.Optional;

/** A row as a text that is another's if and only if their values are the same, NULLs with them. */
public final class RowKeyText {
    private RowKeyText() {}

    /** The first columns of a row: each value with its length before it. */
    public static String of(Batch rows, int columns, int row) {
        StringBuilder text = new StringBuilder();
        for (int column = 0; column < columns; column++) {
            append(text, ValueText.format(rows, column, row));
        }
        return text.toString();
    }

    /** All columns of a row as a text that is another's if the rows are equal: 1.5 is 1.50. */
    public static String ofEqual(Batch rows, int row) {
        StringBuilder text = new StringBuilder();
        for (int column = 0; column < rows.columnCount(); column++) {
            append(text, KeyText.of(rows, column, row));
        }
        return text.toString();
    }

    private static void append(StringBuilder text, Optional<String> value) {
        text.append(value.map(String::length).orElse(-1)).append(':').append(value.orElse(""));
    }
}

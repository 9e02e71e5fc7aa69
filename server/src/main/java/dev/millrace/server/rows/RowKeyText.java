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
            Optional<String> value = ValueText.format(rows, column, row);
            text.append(value.map(String::length).orElse(-1)).append(':').append(value.orElse(""));
        }
        return text.toString();
    }
}

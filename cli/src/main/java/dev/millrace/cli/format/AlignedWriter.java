package dev.millrace.cli.format;

import dev.millrace.batch.Batch;
import dev.millrace.text.TimeStyle;
import dev.millrace.type.Schema;
import java.io.IOException;

/**
 * psql's aligned table. Widths need all rows, so rows are held back, but not more than {@link #HELD_ROWS}: a longer
 * result is aligned by its first rows and widens where later ones need it.
 */
final class AlignedWriter implements RowWriter {
    private static final int HELD_ROWS = 10_000;

    private final int columns;
    private final Appendable out;
    private final TimeStyle style;
    private final AlignedTable table;
    private long rows;

    AlignedWriter(Schema schema, TimeStyle style, Appendable out) {
        this.columns = schema.size();
        this.out = out;
        this.style = style;
        this.table = new AlignedTable(schema);
    }

    @Override
    public void write(Batch batch) throws IOException {
        try (CellText cells = new CellText(batch, style)) {
            for (int row = 0; row < batch.rowCount(); row++) {
                String[] texts = new String[columns];
                for (int column = 0; column < texts.length; column++) {
                    texts[column] = cells.text(column, row).orElse("");
                }
                table.add(texts);
                if (table.heldRows() == HELD_ROWS) {
                    table.write(out);
                }
            }
        }
        rows += batch.rowCount();
    }

    @Override
    public void flush() throws IOException {
        table.write(out);
    }

    @Override
    public void end() throws IOException {
        table.write(out);
        out.append('(').append(Long.toString(rows)).append(rows == 1 ? " row)\n\n" : " rows)\n\n");
    }
}

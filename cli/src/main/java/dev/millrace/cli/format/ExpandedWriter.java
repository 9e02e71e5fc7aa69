package dev.millrace.cli.format;

import dev.millrace.batch.Batch;
import dev.millrace.text.TimeStyle;
import dev.millrace.type.Schema;
import java.io.IOException;

/** psql's expanded form: a record after the other, a line per column. */
final class ExpandedWriter implements RowWriter {
    private final Schema schema;
    private final Appendable out;
    private final TimeStyle style;
    private final int nameWidth;
    private long rows;

    ExpandedWriter(Schema schema, TimeStyle style, Appendable out) {
        this.schema = schema;
        this.out = out;
        this.style = style;
        this.nameWidth = schema.fields().stream()
                .mapToInt(field -> DisplayText.width(DisplayText.visible(field.name())))
                .max()
                .orElse(0);
    }

    @Override
    public void write(Batch batch) throws IOException {
        try (CellText cells = new CellText(batch, style)) {
            for (int row = 0; row < batch.rowCount(); row++) {
                rows++;
                String title = "-[ RECORD " + rows + " ]";
                out.append(title);
                AlignedTable.pad(out, '-', Math.max(2, nameWidth + 3 - title.length()));
                out.append('\n');
                for (int column = 0; column < schema.size(); column++) {
                    String name = DisplayText.visible(schema.field(column).name());
                    for (String line : DisplayText.visible(
                                    cells.text(column, row).orElse(""))
                            .split("\n", -1)) {
                        out.append(name);
                        AlignedTable.pad(out, ' ', nameWidth - DisplayText.width(name));
                        out.append(" | ").append(line).append('\n');
                        name = "";
                    }
                }
            }
        }
    }

    @Override
    public void end() throws IOException {
        out.append(rows == 0 ? "(0 rows)\n\n" : "\n");
    }
}

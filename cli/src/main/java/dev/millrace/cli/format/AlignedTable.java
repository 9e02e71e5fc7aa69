package dev.millrace.cli.format;

import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Texts in columns as psql's aligned format has them. Rows are held until {@link #write}; columns only get wider, so a
 * table can be written in parts.
 */
public final class AlignedTable {
    private final String[] names;
    private final boolean[] numbers;
    private final int[] widths;
    private final List<String[]> held = new ArrayList<>();
    private boolean headerWritten;

    public AlignedTable(Schema schema) {
        this.names = schema.names().stream().map(DisplayText::visible).toArray(String[]::new);
        this.numbers = new boolean[names.length];
        this.widths = new int[names.length];
        for (int column = 0; column < names.length; column++) {
            Field field = schema.field(column);
            numbers[column] = field.type().isNumber();
            widths[column] = widest(names[column]);
        }
    }

    /** Adds a row of texts, control characters and all; the array is the table's from now on. */
    public void add(String[] texts) {
        for (int column = 0; column < texts.length; column++) {
            texts[column] = DisplayText.visible(texts[column]);
            widths[column] = Math.max(widths[column], widest(texts[column]));
        }
        held.add(texts);
    }

    /** How many rows wait to be written. */
    public int heldRows() {
        return held.size();
    }

    /** Writes the header, if that was not done before, and the rows held. */
    public void write(Appendable out) throws IOException {
        if (!headerWritten) {
            headerWritten = true;
            writeHeader(out);
        }
        for (String[] texts : held) {
            writeRow(texts, out);
        }
        held.clear();
    }

    private void writeHeader(Appendable out) throws IOException {
        String separator = "";
        for (int column = 0; column < widths.length; column++) {
            int blanks = widths[column] - DisplayText.width(names[column]);
            out.append(separator).append(' ');
            pad(out, ' ', blanks / 2);
            out.append(names[column]);
            pad(out, ' ', blanks - blanks / 2);
            out.append(' ');
            separator = "|";
        }
        out.append('\n');
        separator = "";
        for (int width : widths) {
            out.append(separator);
            pad(out, '-', width + 2);
            separator = "+";
        }
        out.append('\n');
    }

    private void writeRow(String[] texts, Appendable out) throws IOException {
        String[][] lines = new String[texts.length][];
        int height = 1;
        for (int column = 0; column < texts.length; column++) {
            lines[column] =
                    texts[column].indexOf('\n') < 0 ? new String[] {texts[column]} : texts[column].split("\n", -1);
            height = Math.max(height, lines[column].length);
        }
        for (int line = 0; line < height; line++) {
            for (int column = 0; column < lines.length; column++) {
                String text = line < lines[column].length ? lines[column][line] : "";
                boolean continues = line + 1 < lines[column].length;
                int blanks = widths[column] - DisplayText.width(text);
                out.append(column == 0 ? " " : "| ");
                pad(out, ' ', numbers[column] ? blanks : 0);
                out.append(text);
                if (column + 1 < lines.length || continues) {
                    pad(out, ' ', numbers[column] ? 0 : blanks);
                    out.append(continues ? '+' : ' ');
                }
            }
            out.append('\n');
        }
    }

    static void pad(Appendable out, char fill, int count) throws IOException {
        for (int i = 0; i < count; i++) {
            out.append(fill);
        }
    }

    private static int widest(String text) {
        return text.indexOf('\n') < 0
                ? DisplayText.width(text)
                : Arrays.stream(text.split("\n", -1))
                        .mapToInt(DisplayText::width)
                        .max()
                        .orElse(0);
    }
}

package dev.millrace.connectors.file;

import dev.millrace.batch.text.CsvRows;
import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.Sink;
import dev.millrace.connector.SinkContext;
import dev.millrace.connector.SinkFactory;
import dev.millrace.error.MillraceException;
import dev.millrace.type.Schema;
import java.nio.file.Path;
import java.util.List;

/**
 * The sink {@code file}. Rows of an epoch become part of the file when it is committed; what a failed query wrote of an
 * uncommitted epoch is cut off again. Where rows can be retracted, a first column {@code op} says {@code +} or {@code -};
 * Arrow files hold it as a column as well.
 */
public final class FileSinkFactory implements SinkFactory {
    /** What becomes of a file that exists. */
    enum Existing {
        REPLACE,
        APPEND
    }

    @Override
    public String name() {
        return "file";
    }

    @Override
    public Sink open(Schema schema, boolean appendOnly, Options options, SinkContext context) {
        Path path = Path.of(options.required("path"));
        FormatName format = options.oneOf("format", FormatName.ofExtension(path.toString()));
        Existing existing = options.oneOf("existing", Existing.REPLACE);
        if (format == FormatName.ARROW) {
            options.rejectUnread();
            if (existing == Existing.APPEND) {
                throw Options.invalid("existing", "append", "replace for Arrow files");
            }
            return new ArrowFileSink(path, schema, appendOnly);
        }
        String operation = options.text("op_column", "op");
        RowText text = switch (format) {
            case CSV ->
                RowText.csv(
                        schema,
                        new CsvRows(delimiter(options)),
                        options.bool("header", true),
                        appendOnly ? "" : operation);
            case JSON -> RowText.json(schema, appendOnly ? "" : operation);
            case ARROW -> throw MillraceException.internal("Arrow is no text");
        };
        options.rejectUnread();
        return new TextFileSink(new CommittedFile(path, existing == Existing.APPEND), text);
    }

    private static byte delimiter(Options options) {
        String value = options.text("delimiter", ",");
        String character = value.equalsIgnoreCase("tab") ? "\t" : value;
        if (character.length() != 1 || character.charAt(0) > 127 || "\"\n\r".contains(character)) {
            throw Options.invalid("delimiter", value, "one ASCII character, or 'tab'");
        }
        return (byte) character.charAt(0);
    }

    @Override
    public List<OptionDescription> options() {
        return List.of(
                new OptionDescription("path", "", "the file"),
                new OptionDescription("format", "by extension", "csv, json or arrow"),
                new OptionDescription("existing", "replace", "what becomes of a file that exists: replace or append"),
                new OptionDescription("header", "true", "CSV: whether a new file begins with the columns' names"),
                new OptionDescription("delimiter", ",", "CSV: one character between fields, or 'tab'"),
                new OptionDescription(
                        "op_column", "op", "CSV and JSON: the column that says + or - where rows can be retracted"));
    }
}

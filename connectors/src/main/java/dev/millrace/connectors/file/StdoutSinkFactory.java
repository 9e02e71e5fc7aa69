package dev.millrace.connectors.file;

import dev.millrace.batch.text.CsvRows;
import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.Sink;
import dev.millrace.connector.SinkContext;
import dev.millrace.connector.SinkFactory;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.Schema;
import java.io.PrintStream;
import java.util.List;

/** The sink {@code stdout}: rows and nothing else, for whoever reads the output of {@code ./millrace sql}. */
public final class StdoutSinkFactory implements SinkFactory {
    private final PrintStream out;

    /** Formats of the lines. */
    enum Format {
        JSON,
        CSV
    }

    public StdoutSinkFactory(PrintStream out) {
        this.out = out;
    }

    @Override
    public String name() {
        return "stdout";
    }

    @Override
    public Sink open(Schema schema, boolean appendOnly, Options options, SinkContext context) {
        Format format = options.oneOf("format", Format.JSON);
        String operation = options.text("op_column", "op");
        boolean header = options.bool("header", false);
        options.rejectUnread();
        String shown = appendOnly ? "" : operation;
        RowText text =
                format == Format.JSON ? RowText.json(schema, shown) : RowText.csv(schema, CsvRows.COMMAS, false, shown);
        if (header && format == Format.CSV) {
            try (TextBuffer line = new TextBuffer(context.allocator(), 256)) {
                CsvRows.COMMAS.header(line, schema, shown);
                byte[] bytes = line.toBytes();
                out.write(bytes, 0, bytes.length);
            }
        }
        return new PrintSink(out, "", text);
    }

    @Override
    public List<OptionDescription> options() {
        return List.of(
                new OptionDescription("format", "json", "json or csv"),
                new OptionDescription("header", "false", "CSV: whether the columns' names come first"),
                new OptionDescription("op_column", "op", "the column that says + or - where rows can be retracted"));
    }
}

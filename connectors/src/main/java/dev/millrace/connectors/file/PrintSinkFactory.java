package dev.millrace.connectors.file;

import dev.millrace.batch.text.CsvRows;
import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.Sink;
import dev.millrace.connector.SinkContext;
import dev.millrace.connector.SinkFactory;
import dev.millrace.type.Schema;
import java.io.PrintStream;
import java.util.List;

/** The sink {@code print}: rows as CSV lines, whole epochs at a time, behind + or - where rows can be retracted. */
public final class PrintSinkFactory implements SinkFactory {
    private final PrintStream out;

    /** Rows go to {@code out}, which is flushed but never closed. */
    public PrintSinkFactory(PrintStream out) {
        this.out = out;
    }

    @Override
    public String name() {
        return "print";
    }

    @Override
    public Sink open(Schema schema, boolean appendOnly, Options options, SinkContext context) {
        String prefix = options.text("prefix", "");
        options.rejectUnread();
        return new PrintSink(out, prefix, RowText.csv(schema, CsvRows.COMMAS, false, appendOnly ? "" : "op"));
    }

    @Override
    public List<OptionDescription> options() {
        return List.of(new OptionDescription("prefix", "", "what each line begins with"));
    }
}

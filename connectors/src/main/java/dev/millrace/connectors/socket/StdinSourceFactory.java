package dev.millrace.connectors.socket;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceFactory;
import dev.millrace.connectors.push.PushedRecords;
import dev.millrace.format.RecordFormats;
import dev.millrace.type.Schema;
import java.io.InputStream;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/** The source {@code stdin}: the lines of standard input to its end, for one query of one stream. */
public final class StdinSourceFactory implements SourceFactory {
    private static final long RECORD_BYTES = 16 << 20;
    private static final long MOST_RECORD_BYTES = 1 << 30;

    private final RecordFormats formats;
    private final Supplier<InputStream> input;
    private final AtomicBoolean taken = new AtomicBoolean();

    /** @param input read when a query begins to */
    public StdinSourceFactory(RecordFormats formats, Supplier<InputStream> input) {
        this.formats = formats;
        this.input = input;
    }

    @Override
    public String name() {
        return "stdin";
    }

    @Override
    public Source create(Schema declared, Options options) {
        int mostBytes = (int) options.integer("max_record_bytes", RECORD_BYTES, 1, MOST_RECORD_BYTES);
        return new StdinSource(
                PushedRecords.read(name(), formats, "json", declared, options, List.of()), mostBytes, input, taken);
    }

    @Override
    public List<OptionDescription> options() {
        return List.of(
                new OptionDescription("format", "json", "of the lines"),
                new OptionDescription("max_record_bytes", "16 MB", "longer lines are rejected"));
    }
}

package dev.millrace.connectors.file;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.Sink;
import dev.millrace.connector.SinkContext;
import dev.millrace.connector.SinkFactory;
import dev.millrace.type.Schema;
import java.util.List;

/** The sink {@code blackhole}: rows are counted and summed up, then forgotten. */
public final class BlackholeSinkFactory implements SinkFactory {
    private static final String FORGOTTEN = "how RisingWave's sink would write a change; nothing is written here";

    private static final List<OptionDescription> OPTIONS = List.of(
            new OptionDescription("type", "", FORGOTTEN),
            new OptionDescription("force_append_only", "", FORGOTTEN),
            new OptionDescription("primary_key", "", FORGOTTEN));

    @Override
    public String name() {
        return "blackhole";
    }

    @Override
    public Sink open(Schema schema, boolean appendOnly, Options options, SinkContext context) {
        OPTIONS.forEach(option -> options.text(option.name()));
        options.rejectUnread();
        return new BlackholeSink();
    }

    @Override
    public List<OptionDescription> options() {
        return OPTIONS;
    }
}

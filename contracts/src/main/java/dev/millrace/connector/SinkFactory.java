package dev.millrace.connector;

import dev.millrace.type.Schema;
import java.util.List;

/** Makes sinks of one connector. Found as a service ({@link java.util.ServiceLoader}) where it does not come with Millrace. */
public interface SinkFactory {
    String name();

    /**
     * Opens the sink: reads options, and makes what writes; the outside may be away. One that is exactly once is a {@link CheckpointedSink}.
     *
     * @param appendOnly whether rows are only ever added; else the sink must be able to express retractions
     * @param context for as long as the sink is open
     * @throws dev.millrace.error.MillraceException naming the wrong option, or why the outside cannot be written to at all
     */
    Sink open(Schema schema, boolean appendOnly, Options options, SinkContext context);

    List<OptionDescription> options();
}

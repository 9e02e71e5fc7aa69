package dev.millrace.connector;

import dev.millrace.type.Schema;
import java.util.List;

/** Makes sinks of one connector. */
public interface SinkFactory {
    String name();

    /**
     * Opens the sink.
     *
     * @param appendOnly whether rows are only ever added; else the sink must be able to express retractions
     * @throws dev.millrace.error.MillraceException naming the wrong option, or why the outside cannot be reached
     */
    Sink open(Schema schema, boolean appendOnly, Options options);

    List<OptionDescription> options();
}

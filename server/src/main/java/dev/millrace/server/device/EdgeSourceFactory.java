package dev.millrace.server.device;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.PushedContext;
import dev.millrace.connector.PushedReader;
import dev.millrace.connector.PushedSource;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceFactory;
import dev.millrace.edge.program.WindowProgram;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The source {@code edge}: what agents of devices send to the gateway. */
public final class EdgeSourceFactory implements SourceFactory {
    private static final long BUFFER_BYTES = 16 << 20;

    private final EdgeInlets inlets;

    /** @param inlets where the gateway finds the streams */
    public EdgeSourceFactory(EdgeInlets inlets) {
        this.inlets = inlets;
    }

    @Override
    public String name() {
        return "edge";
    }

    @Override
    public Source create(Schema declared, Options options) {
        if (declared.size() == 0) {
            throw MillraceException.user(
                            SqlState.INVALID_TABLE_DEFINITION,
                            "the columns of a stream of connector edge must be declared")
                    .withHint("CREATE STREAM s (ts TIMESTAMP, temp DOUBLE PRECISION) WITH (connector = 'edge')");
        }
        Optional<String> name = options.text("stream");
        Optional<String> windows = options.text(WindowProgram.STREAM_OPTION);
        if (windows.isPresent()) {
            PartialsColumns partials = new PartialsColumns(declared, WindowProgram.parse(windows.get()));
            return new PartialsSource(inlets, options.required("stream"), partials);
        }
        long bytes = options.integer("buffer_bytes", BUFFER_BYTES, 1 << 16, 1 << 30);
        EdgeColumns columns = EdgeColumns.read(declared, options);
        Optional<SegmentTopics> topics = SegmentTopics.read(options);
        return new EdgeSource(inlets, name, columns, bytes, topics);
    }

    private record EdgeSource(
            EdgeInlets inlets,
            Optional<String> name,
            EdgeColumns columns,
            long bufferBytes,
            Optional<SegmentTopics> topics)
            implements PushedSource {
        @Override
        public Schema schema() {
            return columns.schema();
        }

        @Override
        public void check() {
            topics.ifPresent(SegmentTopics::check);
        }

        @Override
        public PushedReader receive(PushedContext context) {
            return EdgeInlet.open(inlets, name.orElse(context.stream()), columns, bufferBytes, topics, context);
        }
    }

    /** Of a stream that the server makes for a query whose windows devices make. */
    private record PartialsSource(EdgeInlets inlets, String leader, PartialsColumns columns) implements PushedSource {
        @Override
        public Schema schema() {
            return columns.schema();
        }

        @Override
        public PushedReader receive(PushedContext context) {
            return PartialsInlet.open(inlets, leader, columns, context);
        }
    }

    @Override
    public List<OptionDescription> options() {
        List<OptionDescription> all = new ArrayList<>();
        all.add(new OptionDescription("stream", "the stream's own name", "what devices call it"));
        all.addAll(EdgeColumns.OPTIONS);
        all.add(new OptionDescription("buffer_bytes", "16 MB", "how much waits until the stream takes it"));
        all.addAll(SegmentTopics.OPTIONS);
        return List.copyOf(all);
    }
}

package dev.millrace.server.device;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.PushedContext;
import dev.millrace.connector.PushedReader;
import dev.millrace.connector.PushedSource;
import dev.millrace.connector.Source;
import dev.millrace.connector.SourceFactory;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
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
        Optional<String> device = options.text("include.device");
        long bytes = options.integer("buffer_bytes", BUFFER_BYTES, 1 << 16, 1 << 30);
        List<Field> fields = new ArrayList<>(declared.fields());
        device.ifPresent(column -> {
            if (declared.indexOf(column) >= 0) {
                throw MillraceException.user(
                        SqlState.DUPLICATE_COLUMN, "column \"" + column + "\" specified more than once");
            }
            fields.add(new Field(column, DataType.TEXT, false));
        });
        EdgeColumns columns = new EdgeColumns(new Schema(fields), device.map(column -> fields.size() - 1));
        return new EdgeSource(inlets, name, columns, bytes);
    }

    private record EdgeSource(EdgeInlets inlets, Optional<String> name, EdgeColumns columns, long bufferBytes)
            implements PushedSource {
        @Override
        public Schema schema() {
            return columns.schema();
        }

        @Override
        public PushedReader receive(PushedContext context) {
            return EdgeInlet.open(inlets, name.orElse(context.stream()), columns, bufferBytes, context);
        }
    }

    @Override
    public List<OptionDescription> options() {
        return List.of(
                new OptionDescription("stream", "the stream's own name", "what devices call it"),
                new OptionDescription("include.device", "", "a column of that name with the device's name"),
                new OptionDescription("buffer_bytes", "16 MB", "how much waits until the stream takes it"));
    }
}

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
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/** The source {@code edge}: what agents of devices send to the gateway. */
public final class EdgeSourceFactory implements SourceFactory {
    private static final long BUFFER_BYTES = 16 << 20;
    private static final String ERROR_OF = "include.error.";

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
        Optional<String> device = options.text("include.device");
        long bytes = options.integer("buffer_bytes", BUFFER_BYTES, 1 << 16, 1 << 30);
        List<Field> fields = new ArrayList<>(declared.fields());
        device.ifPresent(column -> add(new Field(column, DataType.TEXT, false), fields));
        Optional<Integer> deviceColumn = device.map(column -> fields.size() - 1);
        Map<Integer, Integer> errors = new HashMap<>();
        for (String option : new TreeSet<>(options.names())) {
            if (option.startsWith(ERROR_OF)) {
                int of = subject(declared, option);
                errors.put(fields.size(), of);
                add(new Field(options.required(option), DataType.DOUBLE, false), fields);
            }
        }
        EdgeColumns columns = new EdgeColumns(new Schema(fields), deviceColumn, errors);
        return new EdgeSource(inlets, name, columns, bytes);
    }

    private static void add(Field field, List<Field> fields) {
        if (fields.stream().anyMatch(other -> other.name().equals(field.name()))) {
            throw MillraceException.user(
                    SqlState.DUPLICATE_COLUMN, "column \"" + field.name() + "\" specified more than once");
        }
        fields.add(field);
    }

    /** The column whose error an option asks for. */
    private static int subject(Schema declared, String option) {
        String name = option.substring(ERROR_OF.length());
        int column = declared.indexOf(name);
        if (column < 0) {
            throw MillraceException.user(
                    SqlState.UNDEFINED_COLUMN, "option \"" + option + "\": column \"" + name + "\" does not exist");
        }
        if (!EdgeColumns.mayBeOff(declared.type(column))) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "option \"" + option + "\" is about a column of type " + declared.type(column)
                            + ", which devices send exactly");
        }
        return column;
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
        return List.of(
                new OptionDescription("stream", "the stream's own name", "what devices call it"),
                new OptionDescription("include.device", "", "a column of that name with the device's name"),
                new OptionDescription(
                        "include.error.COLUMN",
                        "",
                        "a column of that name with how far the values of another may be off"),
                new OptionDescription("buffer_bytes", "16 MB", "how much waits until the stream takes it"));
    }
}

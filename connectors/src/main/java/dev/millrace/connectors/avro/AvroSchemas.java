package dev.millrace.connectors.avro;

import dev.millrace.connector.Options;
import dev.millrace.connectors.registry.RegisteredSchema;
import dev.millrace.connectors.registry.SchemaFile;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;

/** Schemas from texts: of options and of registries. */
final class AvroSchemas {
    private AvroSchemas() {}

    /** The schema that the options {@code schema} or {@code schema_file} give. */
    static Optional<Schema> read(Options options) {
        Optional<String> inline = options.text("schema");
        Optional<String> file = options.text("schema_file");
        if (inline.isPresent() && file.isPresent()) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "options \"schema\" and \"schema_file\" are two ways to say one thing");
        }
        return inline.or(() -> file.map(path -> new String(SchemaFile.read(path), StandardCharsets.UTF_8)))
                .map(text -> {
                    try {
                        return new Schema.Parser().parse(text);
                    } catch (AvroRuntimeException e) {
                        throw unreadable("the schema of the options", e);
                    }
                });
    }

    /**
     * The schema of a registry.
     *
     * @throws MillraceException of the user if it is none of Avro
     */
    static Schema parsed(RegisteredSchema registered) {
        String what = "schema " + Integer.toUnsignedString(registered.id());
        if (!registered.type().equals("AVRO")) {
            throw MillraceException.user(
                    SqlState.DATATYPE_MISMATCH, what + " is of type " + registered.type() + ", not of AVRO");
        }
        try {
            Schema.Parser parser = new Schema.Parser();
            registered.references().forEach(reference -> parser.parse(reference.text()));
            return parser.parse(registered.text());
        } catch (AvroRuntimeException e) {
            throw unreadable(what, e);
        }
    }

    private static MillraceException unreadable(String what, AvroRuntimeException e) {
        return MillraceException.user(
                SqlState.INVALID_PARAMETER_VALUE,
                what + " is no schema of Avro: "
                        + String.valueOf(e.getMessage()).replaceAll("\\s+", " "));
    }
}

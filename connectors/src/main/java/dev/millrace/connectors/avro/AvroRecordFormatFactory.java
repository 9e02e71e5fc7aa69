package dev.millrace.connectors.avro;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connectors.format.TimeFormats;
import dev.millrace.connectors.registry.SchemaRegistry;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.format.EncodedRecords;
import dev.millrace.format.RecordEncoder;
import dev.millrace.format.RecordFormat;
import dev.millrace.format.RecordFormatFactory;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The format {@code avro}: a record of Avro's binary form per record. */
public final class AvroRecordFormatFactory implements RecordFormatFactory {
    @Override
    public String name() {
        return "avro";
    }

    @Override
    public RecordFormat create(Schema declared, Options options) {
        Optional<SchemaRegistry> registry = SchemaRegistry.read(options, false);
        Optional<org.apache.avro.Schema> reader = AvroSchemas.read(options);
        if (registry.isEmpty() && reader.isEmpty()) {
            throw MillraceException.user(
                            SqlState.INVALID_PARAMETER_VALUE,
                            "format avro needs option \"schema_registry\", \"schema\" or \"schema_file\"")
                    .withHint(
                            "schema_registry = 'http://host:8081' where values begin with the number of their schema");
        }
        return new AvroRecordFormat(declared, TimeFormats.ofAll(declared, options, "Avro"), registry, reader);
    }

    @Override
    public Schema infer(Optional<EncodedRecords> sample, Options options) {
        Optional<SchemaRegistry> registry = SchemaRegistry.read(options, false);
        Optional<org.apache.avro.Schema> reader = AvroSchemas.read(options);
        if (reader.isEmpty() && registry.isEmpty()) {
            throw MillraceException.user(
                            SqlState.INVALID_TABLE_DEFINITION, "columns cannot be told without a schema of Avro")
                    .withHint("schema_registry = 'http://host:8081', or schema or schema_file; or declare the columns");
        }
        return AvroTypes.columns(
                reader.orElseGet(() -> AvroSchemas.parsed(registry.orElseThrow().latest())));
    }

    @Override
    public RecordEncoder encoder(Schema schema, Options options) {
        return new AvroEncoder(schema, SchemaRegistry.read(options, false));
    }

    @Override
    public List<OptionDescription> options() {
        List<OptionDescription> all = new ArrayList<>(List.of(
                new OptionDescription(
                        "schema",
                        "",
                        "Avro's schema as JSON: what values are written with, or with schema_registry the reader's schema,"
                                + " whose aliases and defaults count"),
                new OptionDescription("schema_file", "", "instead of schema: a file of the server that has it")));
        all.addAll(SchemaRegistry.DESCRIPTIONS);
        all.addAll(TimeFormats.DESCRIPTIONS);
        return List.copyOf(all);
    }
}

package dev.millrace.connectors.protobuf;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
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

/** The format {@code protobuf}: a message per record. */
public final class ProtobufRecordFormatFactory implements RecordFormatFactory {
    @Override
    public String name() {
        return "protobuf";
    }

    @Override
    public RecordFormat create(Schema declared, Options options) {
        Optional<SchemaRegistry> registry = SchemaRegistry.read(options, true);
        Optional<Descriptor> message = ProtobufSchemas.read(options);
        if (registry.isEmpty() && message.isEmpty()) {
            throw MillraceException.user(
                            SqlState.INVALID_PARAMETER_VALUE,
                            "format protobuf needs option \"schema_registry\", \"schema_file\" or \"schema\"")
                    .withHint(
                            "protoc --include_imports --descriptor_set_out=orders.desc orders.proto writes a schema_file");
        }
        return new ProtobufRecordFormat(
                declared, TimeFormats.ofAll(declared, options, "protobuf"), registry, message, options.text("message"));
    }

    @Override
    public Schema infer(Optional<EncodedRecords> sample, Options options) {
        Optional<SchemaRegistry> registry = SchemaRegistry.read(options, true);
        Optional<Descriptor> message = ProtobufSchemas.read(options);
        if (message.isEmpty() && registry.isEmpty()) {
            throw MillraceException.user(
                            SqlState.INVALID_TABLE_DEFINITION, "columns cannot be told without a schema of protobuf")
                    .withHint("schema_registry = 'http://host:8081', or schema_file; or declare the columns");
        }
        return ProtobufTypes.columns(message.orElseGet(() -> latest(registry.orElseThrow(), options.text("message"))));
    }

    private static Descriptor latest(SchemaRegistry registry, Optional<String> message) {
        FileDescriptor file = ProtobufSchemas.parsed(registry.latest());
        return file.getMessageTypes().stream()
                .filter(type -> message.isEmpty() || message.get().equals(type.getFullName()))
                .findFirst()
                .orElseThrow(() -> MillraceException.user(
                        SqlState.UNDEFINED_OBJECT,
                        "the newest schema of subject " + registry.subject() + " has no such message"));
    }

    @Override
    public RecordEncoder encoder(Schema schema, Options options) {
        return new ProtobufEncoder(schema, SchemaRegistry.read(options, true));
    }

    @Override
    public List<OptionDescription> options() {
        List<OptionDescription> all = new ArrayList<>(
                List.of(
                        new OptionDescription(
                                "schema_file",
                                "",
                                "a file of the server with a descriptor set, as protoc --include_imports --descriptor_set_out writes it"),
                        new OptionDescription("schema", "", "instead of schema_file: the descriptor set in base64"),
                        new OptionDescription(
                                "message",
                                "the only one",
                                "the full name of the message type; with schema_registry, messages of other types are rejected")));
        all.addAll(SchemaRegistry.DESCRIPTIONS);
        all.addAll(TimeFormats.DESCRIPTIONS);
        return List.copyOf(all);
    }
}

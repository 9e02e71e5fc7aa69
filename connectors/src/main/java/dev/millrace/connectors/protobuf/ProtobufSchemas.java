package dev.millrace.connectors.protobuf;

import com.google.protobuf.AnyProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DurationProto;
import com.google.protobuf.EmptyProto;
import com.google.protobuf.FieldMaskProto;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.StructProto;
import com.google.protobuf.TimestampProto;
import com.google.protobuf.WrappersProto;
import dev.millrace.connector.Options;
import dev.millrace.connectors.registry.RegisteredSchema;
import dev.millrace.connectors.registry.SchemaFile;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Descriptors from bytes: of files, options and registries. */
final class ProtobufSchemas {
    private static final Map<String, FileDescriptor> KNOWN = known();

    private ProtobufSchemas() {}

    private static Map<String, FileDescriptor> known() {
        Map<String, FileDescriptor> known = new HashMap<>();
        for (FileDescriptor file : List.of(
                TimestampProto.getDescriptor(),
                DurationProto.getDescriptor(),
                WrappersProto.getDescriptor(),
                StructProto.getDescriptor(),
                AnyProto.getDescriptor(),
                EmptyProto.getDescriptor(),
                FieldMaskProto.getDescriptor())) {
            known.put(file.getFullName(), file);
        }
        return Map.copyOf(known);
    }

    /** The message type that the options {@code schema} or {@code schema_file}, and {@code message}, give. */
    static Optional<Descriptor> read(Options options) {
        Optional<String> inline = options.text("schema");
        Optional<String> file = options.text("schema_file");
        Optional<String> message = options.text("message");
        if (inline.isPresent() && file.isPresent()) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "options \"schema\" and \"schema_file\" are two ways to say one thing");
        }
        return inline.map(ProtobufSchemas::decoded)
                .or(() -> file.map(SchemaFile::read))
                .map(bytes -> named(files(set(bytes)), message));
    }

    private static byte[] decoded(String text) {
        try {
            return Base64.getMimeDecoder().decode(text);
        } catch (IllegalArgumentException e) {
            throw Options.invalid(
                    "schema", text.substring(0, Math.min(40, text.length())), "a descriptor set in base64");
        }
    }

    private static List<FileDescriptorProto> set(byte[] bytes) {
        try {
            return FileDescriptorSet.parseFrom(bytes).getFileList();
        } catch (InvalidProtocolBufferException e) {
            throw MillraceException.user(
                            SqlState.INVALID_PARAMETER_VALUE,
                            "the schema of the options is no descriptor set: " + e.getMessage())
                    .withHint("protoc --include_imports --descriptor_set_out=orders.desc orders.proto writes one");
        }
    }

    /** The message of that name; without one, the only message that no other has within it and that is in no imported file. */
    private static Descriptor named(List<FileDescriptor> files, Optional<String> name) {
        Map<String, Descriptor> all = new LinkedHashMap<>();
        files.forEach(file -> file.getMessageTypes().forEach(message -> add(message, all)));
        if (name.isPresent()) {
            Descriptor message = all.get(name.get());
            if (message != null) {
                return message;
            }
            MillraceException error = MillraceException.user(
                    SqlState.UNDEFINED_OBJECT, "message \"" + name.get() + "\" is not in the schema");
            throw Suggestion.nearest(name.get(), all.keySet())
                    .map(nearest -> error.withHint("did you mean \"" + nearest + "\"?"))
                    .orElse(error);
        }
        List<Descriptor> last =
                files.isEmpty() ? List.of() : files.get(files.size() - 1).getMessageTypes();
        if (last.size() == 1) {
            return last.get(0);
        }
        throw MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "option \"message\" is required")
                .withHint("there are: " + String.join(", ", all.keySet()));
    }

    private static void add(Descriptor message, Map<String, Descriptor> into) {
        into.put(message.getFullName(), message);
        message.getNestedTypes().forEach(nested -> add(nested, into));
    }

    /**
     * The file of a registry's schema.
     *
     * @throws MillraceException of the user if it is none of protobuf
     */
    static FileDescriptor parsed(RegisteredSchema registered) {
        String what = "schema " + Integer.toUnsignedString(registered.id());
        if (!registered.type().equals("PROTOBUF")) {
            throw MillraceException.user(
                    SqlState.DATATYPE_MISMATCH, what + " is of type " + registered.type() + ", not of PROTOBUF");
        }
        List<FileDescriptorProto> all = new ArrayList<>();
        try {
            for (RegisteredSchema.Reference reference : registered.references()) {
                FileDescriptorProto file =
                        FileDescriptorProto.parseFrom(Base64.getMimeDecoder().decode(reference.text()));
                all.add(file.toBuilder().setName(reference.name()).build());
            }
            all.add(FileDescriptorProto.parseFrom(Base64.getMimeDecoder().decode(registered.text())));
        } catch (InvalidProtocolBufferException | IllegalArgumentException e) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, what + " has no descriptor of protobuf: " + e.getMessage());
        }
        List<FileDescriptor> files = files(all);
        return files.get(files.size() - 1);
    }

    /** Files, each behind those that it imports. */
    private static List<FileDescriptor> files(List<FileDescriptorProto> protos) {
        Map<String, FileDescriptorProto> byName = new LinkedHashMap<>();
        protos.forEach(proto -> byName.put(proto.getName(), proto));
        Map<String, FileDescriptor> made = new LinkedHashMap<>();
        protos.forEach(proto -> make(proto, byName, made, 0));
        return List.copyOf(made.values());
    }

    private static FileDescriptor make(
            FileDescriptorProto proto,
            Map<String, FileDescriptorProto> byName,
            Map<String, FileDescriptor> made,
            int depth) {
        FileDescriptor known = made.get(proto.getName());
        if (known != null) {
            return known;
        }
        if (depth > byName.size()) {
            throw MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "files of the schema import each other");
        }
        List<FileDescriptor> imports = new ArrayList<>();
        for (String name : proto.getDependencyList()) {
            FileDescriptorProto imported = byName.get(name);
            if (KNOWN.containsKey(name)) {
                imports.add(KNOWN.get(name));
            } else if (imported != null) {
                imports.add(make(imported, byName, made, depth + 1));
            }
        }
        try {
            FileDescriptor file = FileDescriptor.buildFrom(proto, imports.toArray(FileDescriptor[]::new), true);
            made.put(proto.getName(), file);
            return file;
        } catch (DescriptorValidationException e) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "the schema is no valid one of protobuf: " + e.getMessage());
        }
    }
}

package dev.millrace.connectors.registry;

import java.util.List;

/**
 * A schema as a registry has it.
 *
 * @param id its number there
 * @param type {@code AVRO}, {@code PROTOBUF} or another
 * @param text of the schema; of protobuf in base64 its descriptor
 * @param references the schemas that it needs, each behind those that it needs itself
 */
public record RegisteredSchema(int id, String type, String text, List<Reference> references) {
    /**
     * A schema that another needs.
     *
     * @param name by which the other names it
     */
    public record Reference(String name, String text) {}

    public RegisteredSchema {
        references = List.copyOf(references);
    }
}

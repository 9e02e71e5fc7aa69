package dev.millrace.server.pgcatalog;

import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads {@code relations.txt}: the names, numbers and columns of PostgreSQL's relations. */
final class RelationList {
    private RelationList() {}

    /** The first column that each has behind those of the file: the number of the relation that a row is of. */
    static final String OWN_NUMBER = "tableoid";

    /** The last: the transaction that wrote the row. */
    static final String WRITER = "xmin";

    /** The columns that are listed: those of the file. */
    static List<Field> listed(Schema schema) {
        return schema.fields().stream()
                .takeWhile(field -> !field.name().equals(OWN_NUMBER))
                .toList();
    }

    /**
     * Schemas by qualified name, in the order of the file.
     *
     * @param numbers are told those that are the same in every database
     */
    static Map<String, Schema> read(Oids numbers) {
        try (InputStream in = RelationList.class.getResourceAsStream("relations.txt")) {
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            Map<String, Schema> schemas = new LinkedHashMap<>();
            text.lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .forEach(line -> add(schemas, line.split(" "), numbers));
            return schemas;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void add(Map<String, Schema> schemas, String[] words, Oids numbers) {
        String[] name = words[0].split("=");
        if (name.length > 1) {
            numbers.set(name[0], Integer.parseInt(name[1]));
        }
        List<Field> fields = new ArrayList<>();
        for (int i = 1; i < words.length; i++) {
            int colon = words[i].indexOf(':');
            fields.add(new Field(words[i].substring(0, colon), type(words[i].charAt(colon + 1)), true));
        }
        boolean hasWriter = fields.stream().anyMatch(field -> field.name().equals(WRITER)); // of its own, as views may
        fields.add(new Field(OWN_NUMBER, DataType.INTEGER, true));
        if (!hasWriter) {
            fields.add(new Field(WRITER, DataType.INTEGER, true));
        }
        schemas.put(name[0], Schema.of(fields.toArray(Field[]::new)));
    }

    private static DataType type(char letter) {
        return switch (letter) {
            case 'i' -> DataType.INTEGER;
            case 'l' -> DataType.BIGINT;
            case 't' -> DataType.TEXT;
            case 'b' -> DataType.BOOLEAN;
            case 'f' -> DataType.DOUBLE;
            case 'z' -> DataType.TIMESTAMPTZ;
            case 'y' -> DataType.BYTEA;
            case 'I' -> DataType.array(DataType.INTEGER);
            case 'T' -> DataType.array(DataType.TEXT);
            default -> throw new IllegalArgumentException("no type " + letter);
        };
    }
}

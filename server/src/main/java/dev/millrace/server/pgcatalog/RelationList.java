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

/** Reads {@code relations.txt}: the names and columns of PostgreSQL's relations. */
final class RelationList {
    private RelationList() {}

    /** Schemas by qualified name, in the order of the file. */
    static Map<String, Schema> read() {
        try (InputStream in = RelationList.class.getResourceAsStream("relations.txt")) {
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            Map<String, Schema> schemas = new LinkedHashMap<>();
            text.lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .forEach(line -> add(schemas, line.split(" ")));
            return schemas;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void add(Map<String, Schema> schemas, String[] words) {
        List<Field> fields = new ArrayList<>();
        for (int i = 1; i < words.length; i++) {
            int colon = words[i].indexOf(':');
            fields.add(new Field(words[i].substring(0, colon), type(words[i].charAt(colon + 1)), true));
        }
        schemas.put(words[0], Schema.of(fields.toArray(Field[]::new)));
    }

    private static DataType type(char letter) {
        return switch (letter) {
            case 'i' -> DataType.INTEGER;
            case 'l' -> DataType.BIGINT;
            case 't' -> DataType.TEXT;
            case 'b' -> DataType.BOOLEAN;
            case 'f' -> DataType.DOUBLE;
            case 'z' -> DataType.TIMESTAMPTZ;
            case 'I' -> DataType.array(DataType.INTEGER);
            case 'T' -> DataType.array(DataType.TEXT);
            default -> throw new IllegalArgumentException("no type " + letter);
        };
    }
}

package dev.millrace.connectors.avro;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;

/** Passes over a value of a schema. Made once for each schema, which may be within itself. Immutable when made. */
final class AvroSkip {
    /** What is done; each is one kind of value. */
    private enum Kind {
        NOTHING,
        BYTE,
        NUMBER,
        FIXED,
        BYTES,
        RECORD,
        UNION,
        ARRAY,
        MAP
    }

    private final Kind kind;
    private final int size; // of a fixed value
    private final List<AvroSkip> parts = new ArrayList<>();

    private AvroSkip(Kind kind, int size) {
        this.kind = kind;
        this.size = size;
    }

    static AvroSkip of(Schema schema) {
        return of(schema, new IdentityHashMap<>());
    }

    private static AvroSkip of(Schema schema, Map<Schema, AvroSkip> made) {
        AvroSkip known = made.get(schema);
        if (known != null) {
            return known;
        }
        AvroSkip skip = switch (schema.getType()) {
            case NULL -> new AvroSkip(Kind.NOTHING, 0);
            case BOOLEAN -> new AvroSkip(Kind.BYTE, 1);
            case INT, LONG, ENUM -> new AvroSkip(Kind.NUMBER, 0);
            case FLOAT -> new AvroSkip(Kind.FIXED, 4);
            case DOUBLE -> new AvroSkip(Kind.FIXED, 8);
            case FIXED -> new AvroSkip(Kind.FIXED, schema.getFixedSize());
            case BYTES, STRING -> new AvroSkip(Kind.BYTES, 0);
            case RECORD -> new AvroSkip(Kind.RECORD, 0);
            case UNION -> new AvroSkip(Kind.UNION, 0);
            case ARRAY -> new AvroSkip(Kind.ARRAY, 0);
            case MAP -> new AvroSkip(Kind.MAP, 0);
        };
        made.put(schema, skip);
        switch (schema.getType()) {
            case RECORD -> schema.getFields().forEach(field -> skip.parts.add(of(field.schema(), made)));
            case UNION -> schema.getTypes().forEach(branch -> skip.parts.add(of(branch, made)));
            case ARRAY -> skip.parts.add(of(schema.getElementType(), made));
            case MAP -> skip.parts.add(of(schema.getValueType(), made));
            default -> {}
        }
        return skip;
    }

    void pass(AvroInput in) {
        switch (kind) {
            case NOTHING -> {}
            case BYTE, FIXED -> in.pass(size);
            case NUMBER -> in.readLong();
            case BYTES -> in.pass(in.readLength());
            case UNION -> parts.get(in.readIndex(parts.size())).pass(in);
            case RECORD -> {
                in.enter();
                for (int i = 0; i < parts.size(); i++) {
                    parts.get(i).pass(in);
                }
                in.leave();
            }
            case ARRAY, MAP -> {
                in.enter();
                for (long count = in.readBlock(); count > 0; count = in.readBlock()) {
                    for (long i = 0; i < count; i++) {
                        if (kind == Kind.MAP) {
                            in.pass(in.readLength());
                        }
                        parts.get(0).pass(in);
                    }
                }
                in.leave();
            }
        }
    }
}

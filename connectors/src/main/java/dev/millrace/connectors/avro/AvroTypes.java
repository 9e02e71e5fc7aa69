package dev.millrace.connectors.avro;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.SchemaParseException;

/** Avro's types and ours: the columns that a schema looks to have, and the schema of columns. */
final class AvroTypes {
    private AvroTypes() {}

    /** What a number of a schema of type int or long is the number of. */
    static AvroStep.Meaning meaning(Schema schema) {
        return switch (logical(schema)) {
            case "date" -> AvroStep.Meaning.DATE;
            case "time-millis" -> AvroStep.Meaning.TIME_MILLIS;
            case "time-micros" -> AvroStep.Meaning.TIME_MICROS;
            case "timestamp-millis", "local-timestamp-millis" -> AvroStep.Meaning.TIMESTAMP_MILLIS;
            case "timestamp-micros", "local-timestamp-micros" -> AvroStep.Meaning.TIMESTAMP_MICROS;
            case "timestamp-nanos", "local-timestamp-nanos" -> AvroStep.Meaning.TIMESTAMP_NANOS;
            default -> ofConnect(schema);
        };
    }

    /** Debezium's types, which Kafka Connect names beside Avro's: numbers without a time zone. */
    private static AvroStep.Meaning ofConnect(Schema schema) {
        return switch (String.valueOf(schema.getProp("connect.name"))) {
            case "io.debezium.time.Date" -> AvroStep.Meaning.DATE;
            case "io.debezium.time.Time" -> AvroStep.Meaning.TIME_MILLIS;
            case "io.debezium.time.MicroTime" -> AvroStep.Meaning.TIME_MICROS;
            case "io.debezium.time.Timestamp" -> AvroStep.Meaning.TIMESTAMP_MILLIS;
            case "io.debezium.time.MicroTimestamp" -> AvroStep.Meaning.TIMESTAMP_MICROS;
            case "io.debezium.time.NanoTimestamp" -> AvroStep.Meaning.TIMESTAMP_NANOS;
            default -> AvroStep.Meaning.NUMBER;
        };
    }

    /** The name of a logical type; empty if it is none, or not one of that schema. */
    static String logical(Schema schema) {
        return schema.getLogicalType() == null ? "" : schema.getLogicalType().getName();
    }

    // ---- columns of a schema ---------------------------------------------------------------------------------------

    /**
     * The columns of a schema: fields of a record by their names in lower case, which may all be NULL, as a later schema may lack them; or
     * {@code value}, of a schema that is no record.
     */
    static dev.millrace.type.Schema columns(Schema schema) {
        Schema record = recordOf(schema);
        if (record.getType() != Schema.Type.RECORD) {
            return dev.millrace.type.Schema.of(new Field("value", type(record), true));
        }
        Set<String> names = new LinkedHashSet<>();
        List<Field> fields = new ArrayList<>();
        for (Schema.Field field : record.getFields()) {
            String name = field.name().toLowerCase(Locale.ROOT);
            String free = names.add(name) ? name : field.name();
            fields.add(new Field(free, type(field.schema()), true));
        }
        return new dev.millrace.type.Schema(fields);
    }

    /** Of a union of null and one other that other. */
    static Schema recordOf(Schema schema) {
        if (schema.getType() != Schema.Type.UNION) {
            return schema;
        }
        List<Schema> others = schema.getTypes().stream()
                .filter(branch -> branch.getType() != Schema.Type.NULL)
                .toList();
        return others.size() == 1 ? others.get(0) : schema;
    }

    private static DataType type(Schema of) {
        Schema schema = recordOf(of);
        return switch (schema.getType()) {
            case BOOLEAN -> DataType.BOOLEAN;
            case INT, LONG -> ofNumber(schema);
            case FLOAT -> DataType.REAL;
            case DOUBLE -> DataType.DOUBLE;
            case STRING -> logical(schema).equals("uuid") ? DataType.UUID : DataType.TEXT;
            case ENUM, NULL -> DataType.TEXT;
            case BYTES, FIXED -> ofBytes(schema);
            case ARRAY -> {
                DataType element = type(schema.getElementType());
                boolean isPlain = element.kind() != DataType.Kind.JSONB && !element.isNested();
                yield isPlain ? DataType.array(element) : DataType.JSONB;
            }
            case RECORD, MAP, UNION -> DataType.JSONB;
        };
    }

    private static DataType ofNumber(Schema schema) {
        boolean isLocal = logical(schema).startsWith("local-") || schema.getLogicalType() == null;
        return switch (meaning(schema)) {
            case DATE -> DataType.DATE;
            case TIME_MILLIS, TIME_MICROS -> DataType.TIME;
            case TIMESTAMP_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_NANOS ->
                isLocal ? DataType.TIMESTAMP : DataType.TIMESTAMPTZ;
            default -> schema.getType() == Schema.Type.INT ? DataType.INTEGER : DataType.BIGINT;
        };
    }

    private static DataType ofBytes(Schema schema) {
        if (schema.getLogicalType() instanceof LogicalTypes.Decimal decimal) {
            boolean fits = decimal.getPrecision() <= DataType.MAX_NUMERIC_PRECISION
                    && decimal.getScale() >= 0
                    && decimal.getScale() <= decimal.getPrecision();
            return fits ? DataType.numeric(decimal.getPrecision(), decimal.getScale()) : DataType.TEXT;
        }
        if (isDuration(schema)) {
            return DataType.INTERVAL;
        }
        return logical(schema).equals("uuid") ? DataType.UUID : DataType.BYTEA;
    }

    static boolean isDuration(Schema schema) {
        return schema.getType() == Schema.Type.FIXED
                && schema.getFixedSize() == 12
                && "duration".equals(schema.getProp("logicalType"));
    }

    // ---- the schema of columns -------------------------------------------------------------------------------------

    /** A record of the columns; those that may be NULL are unions with null. */
    static Schema schema(dev.millrace.type.Schema columns) {
        return record("row", columns.fields());
    }

    private static Schema record(String name, List<Field> of) {
        List<Schema.Field> fields = new ArrayList<>();
        for (Field field : of) {
            Schema type = type(name + "_" + field.name(), field.type());
            try {
                fields.add(
                        field.nullable()
                                ? new Schema.Field(
                                        field.name(),
                                        Schema.createUnion(Schema.create(Schema.Type.NULL), type),
                                        null,
                                        Schema.Field.NULL_DEFAULT_VALUE)
                                : new Schema.Field(field.name(), type));
            } catch (SchemaParseException e) {
                throw MillraceException.user(
                                SqlState.INVALID_PARAMETER_VALUE,
                                "column \"" + field.name()
                                        + "\" cannot be a field of Avro: a name has letters, digits and _")
                        .withHint("SELECT .. AS another_name");
            }
        }
        return Schema.createRecord(name.replaceAll("[^A-Za-z0-9_]", "_"), null, "millrace", false, fields);
    }

    private static Schema type(String name, DataType type) {
        return switch (type.kind()) {
            case BOOLEAN -> Schema.create(Schema.Type.BOOLEAN);
            case SMALLINT, INTEGER -> Schema.create(Schema.Type.INT);
            case BIGINT -> Schema.create(Schema.Type.LONG);
            case REAL -> Schema.create(Schema.Type.FLOAT);
            case DOUBLE -> Schema.create(Schema.Type.DOUBLE);
            case NUMERIC ->
                LogicalTypes.decimal(type.precision(), type.scale()).addToSchema(Schema.create(Schema.Type.BYTES));
            case BIGNUM, TEXT, VARCHAR, CHAR, JSONB, INTERVAL -> Schema.create(Schema.Type.STRING);
            case BYTEA -> Schema.create(Schema.Type.BYTES);
            case DATE -> LogicalTypes.date().addToSchema(Schema.create(Schema.Type.INT));
            case TIME -> LogicalTypes.timeMicros().addToSchema(Schema.create(Schema.Type.LONG));
            case TIMESTAMP -> LogicalTypes.localTimestampMicros().addToSchema(Schema.create(Schema.Type.LONG));
            case TIMESTAMPTZ -> LogicalTypes.timestampMicros().addToSchema(Schema.create(Schema.Type.LONG));
            case UUID -> LogicalTypes.uuid().addToSchema(Schema.create(Schema.Type.STRING));
            case ARRAY ->
                Schema.createArray(
                        Schema.createUnion(Schema.create(Schema.Type.NULL), type(name + "_element", type.element())));
            case ROW -> record(name, type.fields());
            case NULL -> throw MillraceException.notAvailableYet("a column of no type in format avro");
        };
    }
}

package dev.millrace.batch;

import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.arrow.vector.types.DateUnit;
import org.apache.arrow.vector.types.FloatingPointPrecision;
import org.apache.arrow.vector.types.IntervalUnit;
import org.apache.arrow.vector.types.TimeUnit;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.FieldType;

/** The Arrow form of our types, as {@link DataType} tabulates it. */
public final class ArrowTypes {
    private static final int MOST_KNOWN = 10_000;
    private static final Map<Field, org.apache.arrow.vector.types.pojo.Field> KNOWN = new ConcurrentHashMap<>();

    private ArrowTypes() {}

    public static ArrowType arrowType(DataType type) {
        return switch (type.kind()) {
            case BOOLEAN -> ArrowType.Bool.INSTANCE;
            case SMALLINT -> new ArrowType.Int(16, true);
            case INTEGER -> new ArrowType.Int(32, true);
            case BIGINT -> new ArrowType.Int(64, true);
            case REAL -> new ArrowType.FloatingPoint(FloatingPointPrecision.SINGLE);
            case DOUBLE -> new ArrowType.FloatingPoint(FloatingPointPrecision.DOUBLE);
            case NUMERIC -> new ArrowType.Decimal(type.precision(), type.scale(), 128);
            case TEXT, VARCHAR, CHAR, JSONB -> ArrowType.Utf8.INSTANCE;
            case BIGNUM, BYTEA -> ArrowType.Binary.INSTANCE;
            case DATE -> new ArrowType.Date(DateUnit.DAY);
            case TIME -> new ArrowType.Time(TimeUnit.MICROSECOND, 64);
            case TIMESTAMP -> new ArrowType.Timestamp(TimeUnit.MICROSECOND, null);
            case TIMESTAMPTZ -> new ArrowType.Timestamp(TimeUnit.MICROSECOND, "UTC");
            case INTERVAL -> new ArrowType.Interval(IntervalUnit.MONTH_DAY_NANO);
            case UUID -> new ArrowType.FixedSizeBinary(16);
            case ARRAY -> ArrowType.List.INSTANCE;
            case ROW -> ArrowType.Struct.INSTANCE;
            case NULL -> ArrowType.Null.INSTANCE;
        };
    }

    /** The Arrow form of a field. Asked for with each vector that is made: remembered, as making it is dearer than that. */
    public static org.apache.arrow.vector.types.pojo.Field arrowField(Field field) {
        org.apache.arrow.vector.types.pojo.Field known = KNOWN.get(field);
        if (known == null) {
            known = newArrowField(field);
            if (KNOWN.size() >= MOST_KNOWN) {
                KNOWN.clear(); // names come and go with queries
            }
            KNOWN.put(field, known);
        }
        return known;
    }

    private static org.apache.arrow.vector.types.pojo.Field newArrowField(Field field) {
        List<org.apache.arrow.vector.types.pojo.Field> children =
                field.type().fields().stream().map(ArrowTypes::arrowField).toList();
        FieldType fieldType = new FieldType(field.nullable(), arrowType(field.type()), null);
        return new org.apache.arrow.vector.types.pojo.Field(field.name(), fieldType, children);
    }

    /** The same of a schema: of what is within this process ({@code dev.millrace.batch.text.IpcColumns} has what others are told). */
    public static org.apache.arrow.vector.types.pojo.Schema arrowSchema(Schema schema) {
        return new org.apache.arrow.vector.types.pojo.Schema(
                schema.fields().stream().map(ArrowTypes::arrowField).toList());
    }
}

package dev.millrace.sql.algebra;

import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.avatica.util.TimeUnit;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rel.type.RelDataTypeFactory;
import org.apache.calcite.rel.type.RelDataTypeField;
import org.apache.calcite.rel.type.RelDataTypeSystemImpl;
import org.apache.calcite.sql.SqlIntervalQualifier;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.apache.calcite.sql.type.SqlTypeFactoryImpl;
import org.apache.calcite.sql.type.SqlTypeName;

/**
 * Our types as Calcite's, and back, without loss. INTERVAL DAY TO SECOND stands for PostgreSQL's one interval type,
 * VARIANT for JSONB, VARCHAR without length for TEXT, VARBINARY of an odd length for BIGNUM; TIMESTAMPTZ is TIMESTAMP WITH LOCAL TIME ZONE.
 */
public final class TypeMapper {
    /** Length that marks VARCHAR without a length, which is not quite TEXT. */
    private static final int UNLIMITED = Integer.MAX_VALUE;

    /** Length that marks a quoted constant or parameter whose type is still open. */
    private static final int OPEN = Integer.MAX_VALUE - 1;

    /** Length of a VARBINARY that marks BIGNUM, which Calcite has no type of. */
    private static final int BIGNUM = Integer.MAX_VALUE - 1;

    /** The same of a BIGNUM of declared digits: behind it digits in all, and those after the point, by how much they are above the least. */
    private static final int LIMITED_BIGNUM = 1 << 24;

    private static final int SCALE_BITS = 11;
    private static final int LEAST_SCALE = -1000;
    private static final int TIME_PRECISION = 6;
    private static final SqlIntervalQualifier INTERVAL =
            new SqlIntervalQualifier(TimeUnit.DAY, TimeUnit.SECOND, SqlParserPos.ZERO);

    private static final RelDataTypeFactory FACTORY = new SqlTypeFactoryImpl(new RelDataTypeSystemImpl() {
        @Override
        public int getMaxPrecision(SqlTypeName typeName) {
            return switch (typeName) {
                case DECIMAL -> DataType.MAX_NUMERIC_PRECISION;
                case VARCHAR, CHAR, VARBINARY -> UNLIMITED;
                case TIME, TIMESTAMP, TIMESTAMP_WITH_LOCAL_TIME_ZONE -> TIME_PRECISION;
                default -> super.getMaxPrecision(typeName);
            };
        }

        @Override
        public int getMaxScale(SqlTypeName typeName) {
            return typeName == SqlTypeName.DECIMAL ? DataType.MAX_NUMERIC_PRECISION : super.getMaxScale(typeName);
        }

        @Override
        public boolean shouldConvertRaggedUnionTypesToVarying() {
            return true;
        }
    });

    private static final RelDataType UNKNOWN = FACTORY.createSqlType(SqlTypeName.VARCHAR, OPEN);

    private TypeMapper() {}

    /** The one type factory; safe on any thread. */
    public static RelDataTypeFactory factory() {
        return FACTORY;
    }

    /** The type of what has no type yet: {@link DataType#NULL} of ours. */
    public static RelDataType unknownType() {
        return UNKNOWN;
    }

    /** Whether a type is {@link #unknownType} or that of NULL. */
    public static boolean isUnknown(RelDataType type) {
        return type.getSqlTypeName() == SqlTypeName.NULL
                || type.getSqlTypeName() == SqlTypeName.VARCHAR && type.getPrecision() == OPEN;
    }

    /** Our type of a Calcite type that this class made. */
    public static DataType dataType(RelDataType type) {
        return switch (type.getSqlTypeName()) {
            case BOOLEAN -> DataType.BOOLEAN;
            case SMALLINT, TINYINT -> DataType.SMALLINT;
            case INTEGER -> DataType.INTEGER;
            case BIGINT -> DataType.BIGINT;
            case REAL -> DataType.REAL;
            case DOUBLE, FLOAT -> DataType.DOUBLE;
            case DECIMAL -> DataType.numeric(type.getPrecision(), type.getScale());
            case VARCHAR ->
                type.getPrecision() == RelDataType.PRECISION_NOT_SPECIFIED
                        ? DataType.TEXT
                        : DataType.varchar(type.getPrecision() == UNLIMITED ? 0 : type.getPrecision());
            case CHAR -> DataType.character(type.getPrecision());
            case VARBINARY, BINARY -> ofBytes(type.getPrecision());
            case DATE -> DataType.DATE;
            case TIME -> DataType.TIME;
            case TIMESTAMP -> DataType.TIMESTAMP;
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE -> DataType.TIMESTAMPTZ;
            case INTERVAL_DAY_SECOND -> DataType.INTERVAL;
            case UUID -> DataType.UUID;
            case VARIANT -> DataType.JSONB;
            case ARRAY -> DataType.array(dataType(type.getComponentType()));
            case ROW -> DataType.row(schema(type).fields());
            case NULL -> DataType.NULL;
            default -> throw new IllegalArgumentException("no type of ours is " + type);
        };
    }

    /** The Calcite type of ours. */
    public static RelDataType relType(DataType type, boolean nullable) {
        return FACTORY.createTypeWithNullability(relType(type), nullable);
    }

    private static RelDataType relType(DataType type) {
        return switch (type.kind()) {
            case BOOLEAN -> FACTORY.createSqlType(SqlTypeName.BOOLEAN);
            case SMALLINT -> FACTORY.createSqlType(SqlTypeName.SMALLINT);
            case INTEGER -> FACTORY.createSqlType(SqlTypeName.INTEGER);
            case BIGINT -> FACTORY.createSqlType(SqlTypeName.BIGINT);
            case REAL -> FACTORY.createSqlType(SqlTypeName.REAL);
            case DOUBLE -> FACTORY.createSqlType(SqlTypeName.DOUBLE);
            case NUMERIC -> FACTORY.createSqlType(SqlTypeName.DECIMAL, type.precision(), type.scale());
            case BIGNUM -> FACTORY.createSqlType(SqlTypeName.VARBINARY, lengthOf(type));
            case TEXT -> FACTORY.createSqlType(SqlTypeName.VARCHAR);
            case VARCHAR ->
                FACTORY.createSqlType(SqlTypeName.VARCHAR, type.precision() == 0 ? UNLIMITED : type.precision());
            case CHAR -> FACTORY.createSqlType(SqlTypeName.CHAR, type.precision());
            case BYTEA -> FACTORY.createSqlType(SqlTypeName.VARBINARY);
            case DATE -> FACTORY.createSqlType(SqlTypeName.DATE);
            case TIME -> FACTORY.createSqlType(SqlTypeName.TIME, TIME_PRECISION);
            case TIMESTAMP -> FACTORY.createSqlType(SqlTypeName.TIMESTAMP, TIME_PRECISION);
            case TIMESTAMPTZ -> FACTORY.createSqlType(SqlTypeName.TIMESTAMP_WITH_LOCAL_TIME_ZONE, TIME_PRECISION);
            case INTERVAL -> FACTORY.createSqlIntervalType(INTERVAL);
            case UUID -> FACTORY.createSqlType(SqlTypeName.UUID);
            case JSONB -> FACTORY.createSqlType(SqlTypeName.VARIANT);
            case ARRAY -> FACTORY.createArrayType(relType(type.element(), true), -1);
            case ROW -> rowType(new Schema(type.fields()));
            case NULL -> FACTORY.createSqlType(SqlTypeName.NULL);
        };
    }

    private static int lengthOf(DataType bignum) {
        return bignum.precision() == 0
                ? BIGNUM
                : LIMITED_BIGNUM | bignum.precision() << SCALE_BITS | bignum.scale() - LEAST_SCALE;
    }

    private static DataType ofBytes(int length) {
        if (length < LIMITED_BIGNUM) {
            return DataType.BYTEA;
        }
        int digits = length - LIMITED_BIGNUM;
        return length == BIGNUM
                ? DataType.BIGNUM
                : DataType.bignum(digits >> SCALE_BITS, (digits & (1 << SCALE_BITS) - 1) + LEAST_SCALE);
    }

    /** The row type of a schema. */
    public static RelDataType rowType(Schema schema) {
        List<RelDataType> types = new ArrayList<>(schema.size());
        List<String> names = new ArrayList<>(schema.size());
        for (Field field : schema.fields()) {
            types.add(relType(field.type(), field.nullable()));
            names.add(field.name());
        }
        return FACTORY.createStructType(types, names);
    }

    /** The schema of a row type. */
    public static Schema schema(RelDataType rowType) {
        List<Field> fields = new ArrayList<>(rowType.getFieldCount());
        for (RelDataTypeField field : rowType.getFieldList()) {
            fields.add(new Field(
                    field.getName(), dataType(field.getType()), field.getType().isNullable()));
        }
        return new Schema(fields);
    }

    /** Whether two Calcite types are one type of ours, nullability aside. */
    static boolean same(RelDataType a, RelDataType b) {
        return a.getSqlTypeName() == b.getSqlTypeName()
                && (a.equals(b) || dataType(a).equals(dataType(b)));
    }

    /** Our kind of a Calcite type. */
    static Kind kind(RelDataType type) {
        return dataType(type).kind();
    }
}

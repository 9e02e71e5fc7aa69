package dev.millrace.sql.syntax;

import dev.millrace.sql.catalog.RelationNames;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlTypeNameSpec;
import org.apache.calcite.sql.SqlWriter;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.apache.calcite.sql.validate.SqlValidator;
import org.apache.calcite.util.Litmus;

/** A type as written: {@code numeric(10, 2)}, {@code int4[]}; {@code bind.TypeNames} says what it is. */
public final class TypeSpec extends SqlTypeNameSpec {
    /** No number. */
    public static final int NONE = Integer.MIN_VALUE;

    private final int first;
    private final int second;
    private final int dimensions;
    private final List<SqlIdentifier> fieldNames;
    private final List<TypeSpec> fieldTypes;

    /** A type without fields. */
    public TypeSpec(SqlIdentifier name, int first, int second, int dimensions, SqlParserPos pos) {
        this(name, first, second, dimensions, List.of(), List.of(), pos);
    }

    /**
     * @param first the number in parentheses, {@link #NONE} without
     * @param second the one after the comma, {@link #NONE} without
     * @param dimensions how many {@code []} follow
     * @param fieldNames of a row type
     * @param fieldTypes of a row type
     */
    public TypeSpec(
            SqlIdentifier name,
            int first,
            int second,
            int dimensions,
            List<SqlIdentifier> fieldNames,
            List<? extends SqlTypeNameSpec> fieldTypes,
            SqlParserPos pos) {
        super(name, pos);
        this.first = first;
        this.second = second;
        this.dimensions = dimensions;
        this.fieldNames = List.copyOf(fieldNames);
        this.fieldTypes = fieldTypes.stream().map(TypeSpec.class::cast).toList();
    }

    /** The name, folded: with its schema if that is one that users made. */
    public String name() {
        List<String> names = getTypeName().names;
        return names.size() == 1 || RelationNames.isAlwaysThere(names.get(0))
                ? names.get(names.size() - 1)
                : RelationNames.written(names);
    }

    /** The numbers in parentheses, none to two. */
    public List<Integer> arguments() {
        List<Integer> arguments = new ArrayList<>(2);
        if (first != NONE) {
            arguments.add(first);
        }
        if (second != NONE) {
            arguments.add(second);
        }
        return arguments;
    }

    public int dimensions() {
        return dimensions;
    }

    /** The names of a row type's fields; empty for other types. */
    public List<SqlIdentifier> fieldNames() {
        return fieldNames;
    }

    /** The types of a row type's fields. */
    public List<TypeSpec> fieldTypes() {
        return fieldTypes;
    }

    @Override
    public RelDataType deriveType(SqlValidator validator) {
        throw new UnsupportedOperationException("types are resolved without Calcite's validator");
    }

    @Override
    public void unparse(SqlWriter writer, int leftPrec, int rightPrec) {
        writer.keyword(getTypeName().toString());
    }

    @Override
    public boolean equalsDeep(SqlTypeNameSpec other, Litmus litmus) {
        return other instanceof TypeSpec spec
                && spec.getTypeName().names.equals(getTypeName().names)
                && spec.arguments().equals(arguments())
                && spec.dimensions == dimensions
                && spec.fieldNames.toString().equals(fieldNames.toString())
                && spec.fieldTypes.toString().equals(fieldTypes.toString());
    }
}

package dev.millrace.sql.bind.query;

import dev.millrace.sql.bind.expression.FunctionNames;
import dev.millrace.sql.syntax.TypeSpec;
import java.util.Optional;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlDataTypeSpec;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlOrderBy;
import org.apache.calcite.sql.SqlSelect;
import org.apache.calcite.sql.SqlWith;
import org.apache.calcite.sql.fun.SqlCase;

/** The names that PostgreSQL gives to columns without an alias. */
final class OutputNames {
    private static final String NONE = "?column?";

    private OutputNames() {}

    static String of(SqlNode item) {
        if (item.getKind() == SqlKind.AS) {
            return ((SqlIdentifier) ((SqlCall) item).operand(1)).getSimple();
        }
        return strong(item).or(() -> weak(item)).orElse(NONE);
    }

    /** The name of a column or function. */
    private static Optional<String> strong(SqlNode node) {
        if (node instanceof SqlIdentifier identifier) {
            return Optional.of(identifier.names.get(identifier.names.size() - 1));
        }
        if (node instanceof SqlSelect select) {
            SqlNode first = select.getSelectList().get(0);
            boolean star = first instanceof SqlIdentifier name && name.isStar();
            return star ? Optional.empty() : Optional.of(of(first)).filter(name -> !name.equals(NONE));
        }
        if (node instanceof SqlOrderBy ordered) {
            return strong(ordered.query);
        }
        if (node instanceof SqlWith with) {
            return strong(with.body);
        }
        if (node.getKind() == SqlKind.VALUES) {
            return Optional.of("column1");
        }
        if (node instanceof SqlCase choice) {
            return strong(choice.getElseOperand());
        }
        if (!(node instanceof SqlCall call)) {
            return Optional.empty();
        }
        return switch (call.getKind()) {
            case OVER, FILTER, WITHIN_GROUP -> strong(call.operand(0));
            case CAST, SAFE_CAST -> strong(call.operand(0));
            case ITEM -> strong(call.operand(0)).or(() -> weak(call.operand(0))); // subscripts and slices
            case DOT -> strong(call.operand(1)); // fields
            case EXISTS -> Optional.of("exists");
            case ARRAY_VALUE_CONSTRUCTOR, ARRAY_QUERY_CONSTRUCTOR -> Optional.of("array");
            case ROW -> Optional.of("row");
            case OTHER ->
                call.getOperator().getName().equals("at time zone") ? Optional.of("timezone") : Optional.empty();
            default ->
                FunctionNames.of(call)
                        .map(name -> name.substring(name.lastIndexOf('.') + 1).replace(" from", ""));
        };
    }

    /** What is said of a cast or CASE without a better name. */
    private static Optional<String> weak(SqlNode node) {
        if (node instanceof SqlCase) {
            return Optional.of("case");
        }
        if ((node.getKind() == SqlKind.CAST || node.getKind() == SqlKind.SAFE_CAST)
                && ((SqlDataTypeSpec) ((SqlCall) node).operand(1)).getTypeNameSpec() instanceof TypeSpec type) {
            return Optional.of(
                    switch (type.name()) {
                        case "int", "integer" -> "int4";
                        case "bigint" -> "int8";
                        case "smallint" -> "int2";
                        case "boolean" -> "bool";
                        case "real" -> "float4";
                        case "double", "float" -> "float8";
                        case "decimal", "dec" -> "numeric";
                        case "char", "character" -> "bpchar";
                        default -> type.name();
                    });
        }
        return Optional.empty();
    }
}

package dev.millrace.sql.bind.file;

import dev.millrace.connector.query.FileCall;
import dev.millrace.connector.query.FileRelation;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.algebra.RelationTable;
import dev.millrace.sql.bind.expression.FunctionNames;
import dev.millrace.sql.bind.scope.From;
import dev.millrace.sql.bind.scope.QueryContext;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.bind.type.TypeNames;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.parser.StatementParser;
import dev.millrace.sql.syntax.FileFunctions;
import dev.millrace.sql.syntax.FromClauses;
import dev.millrace.sql.syntax.TypeSpec;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.calcite.plan.Convention;
import org.apache.calcite.rel.logical.LogicalTableScan;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlDataTypeSpec;
import org.apache.calcite.sql.SqlDynamicParam;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.type.SqlTypeName;

/**
 * Binds files in FROM, which the catalog looks at:
 *
 * <pre>
 * 'plugs.csv'
 * read_csv('plugs/*.csv', delim = ';', columns = {'at': 'timestamp', 'watts': 'int'})
 * read_parquet(ARRAY['a.parquet', 'b.parquet'], filename => true)
 * </pre>
 */
public final class FileBinder {
    private static final String COLUMNS = "columns";
    private static final Set<String> TYPES = Set.of(COLUMNS, "types", "dtypes", "column_types");

    private final QueryContext context;

    public FileBinder(QueryContext context) {
        this.context = context;
    }

    /** Whether an item of FROM is files. */
    public static boolean isCall(SqlNode item) {
        return item instanceof SqlCall table
                && table.getKind() == SqlKind.COLLECTION_TABLE
                && table.operand(0) instanceof SqlCall call
                && isOne(call);
    }

    private static boolean isOne(SqlCall call) {
        return FunctionNames.of(call).filter(FileFunctions::isOne).isPresent();
    }

    /** The rows of files, if a function's call reads such, or a text is their name. */
    public Optional<From> bind(SqlNode node) {
        if (node instanceof SqlLiteral literal && literal.getTypeName() == SqlTypeName.CHAR) {
            return Optional.of(files(call("", FileFunctions.BY_NAME, List.of(literal), literal), literal));
        }
        return node instanceof SqlCall call && isOne(call)
                ? FunctionNames.of(call)
                        .map(name -> files(
                                call(FileFunctions.plain(name).orElseThrow(), name, call.getOperandList(), call), call))
                : Optional.empty();
    }

    private From files(FileCall said, SqlNode call) {
        FileRelation found;
        try {
            found = context.catalog().files(said);
        } catch (MillraceException e) {
            throw Errors.at(e, call);
        }
        context.reads(found);
        Relation relation = new Relation(
                found.name(), Relation.Kind.STREAM, found.source().schema(), true, List.of(), Optional.empty());
        LogicalTableScan scan = new LogicalTableScan(
                context.cluster(),
                context.cluster().traitSetOf(Convention.NONE),
                List.of(),
                new RelationTable(relation));
        return From.of(scan, qualifier(said), relation.schema().names());
    }

    /** Files by their name are known by the first one's, without folders and what follows a point. */
    private static String qualifier(FileCall call) {
        String path = call.paths().get(0);
        String name = path.substring(path.lastIndexOf('/') + 1);
        return call.function().isEmpty() ? name.substring(0, name.indexOf('.')) : call.function();
    }

    /** @param called the name that the text has for the function */
    private static FileCall call(String function, String called, List<SqlNode> operands, SqlNode call) {
        List<String> paths = new ArrayList<>();
        Map<String, List<String>> options = new LinkedHashMap<>();
        Map<String, DataType> types = new LinkedHashMap<>();
        boolean isWhole = false;
        for (SqlNode operand : operands) {
            if (operand.getKind() != SqlKind.ARGUMENT_ASSIGNMENT) {
                if (!paths.isEmpty()) {
                    throw Errors.error(
                                    SqlState.UNDEFINED_FUNCTION, called + " takes files, and options by name", operand)
                            .withHint(called + "(ARRAY['a.csv', 'b.csv'], name => value)");
                }
                paths.addAll(texts(operand, "the files of " + called));
                continue;
            }
            SqlNode value = ((SqlCall) operand).operand(0);
            String name =
                    ((SqlIdentifier) ((SqlCall) operand).operand(1)).getSimple().toLowerCase(Locale.ROOT);
            if (TYPES.contains(name)) {
                types.putAll(types(value, name));
                isWhole |= name.equals(COLUMNS);
            } else if (options.put(name, texts(value, "option \"" + name + "\"")) != null) {
                throw Errors.error(SqlState.SYNTAX_ERROR, "option \"" + name + "\" is given twice", operand);
            }
        }
        boolean isNamed = paths.stream().anyMatch(path -> !path.isBlank());
        if (!isNamed) {
            throw Errors.error(
                    SqlState.UNDEFINED_FUNCTION, called + " takes the path of a file, or an array of such", call);
        }
        boolean hasKind = !function.isEmpty() || hasExtension(paths.get(0));
        if (!hasKind) {
            throw Errors.error(
                            SqlState.UNDEFINED_TABLE,
                            "'" + paths.get(0) + "' in FROM is a file, but its name does not say of which format",
                            call)
                    .withHint("a relation's name is in double quotes; read_csv('"
                            + paths.get(0).replace("'", "''")
                            + "') reads a file of any name, and read_json, read_parquet do");
        }
        return new FileCall(function, paths, options, types, isWhole);
    }

    private static boolean hasExtension(String path) {
        return path.toLowerCase(Locale.ROOT)
                .matches("(?s).*\\.(csv|tsv|txt|json|jsonl|ndjson|parquet|arrow|arrows|ipc|feather)(\\.gz)?");
    }

    // ---- constants -------------------------------------------------------------------------------------------------

    private static List<String> texts(SqlNode node, String what) {
        if (node.getKind() == SqlKind.ARRAY_VALUE_CONSTRUCTOR) {
            return ((SqlCall) node)
                    .getOperandList().stream()
                            .map(element -> text(element, what))
                            .toList();
        }
        return List.of(text(node, what));
    }

    private static String text(SqlNode node, String what) {
        if (node instanceof SqlLiteral literal && literal.getValue() != null) {
            return literal.getTypeName() == SqlTypeName.CHAR
                    ? literal.getValueAs(String.class)
                    : literal.toValue().toLowerCase(Locale.ROOT);
        }
        if (node.getKind() == SqlKind.MINUS_PREFIX) {
            return "-" + text(((SqlCall) node).operand(0), what);
        }
        if (node instanceof SqlDynamicParam) {
            throw Errors.notAvailableYet("a parameter in the place of " + what, node)
                    .withHint("columns are known when a statement is prepared, and so the files must be");
        }
        throw Errors.error(SqlState.SYNTAX_ERROR, what + " must be a constant, or an array of constants", node);
    }

    /** {@code {'at': 'timestamp', 'watts': 'int'}} */
    private static Map<String, DataType> types(SqlNode node, String option) {
        boolean isStruct = node instanceof SqlCall struct
                && FunctionNames.of(struct).equals(Optional.of(FromClauses.ROW_OF))
                && struct.operandCount() > 0;
        if (!isStruct) {
            throw Errors.error(SqlState.SYNTAX_ERROR, "option \"" + option + "\" takes columns and their types", node)
                    .withHint(option + " => {'at': 'timestamp', 'watts': 'int'}");
        }
        List<SqlNode> parts = ((SqlCall) node).getOperandList();
        Map<String, DataType> types = new LinkedHashMap<>();
        for (int i = 0; i + 1 < parts.size(); i += 2) {
            String column = parts.get(i) instanceof SqlIdentifier name
                    ? name.getSimple()
                    : text(parts.get(i), "the name of a column");
            if (types.put(column, type(parts.get(i + 1), column)) != null) {
                throw Errors.error(
                        SqlState.DUPLICATE_COLUMN, "column \"" + column + "\" specified more than once", parts.get(i));
            }
        }
        return types;
    }

    private static DataType type(SqlNode node, String column) {
        String cast = "CAST(NULL AS " + text(node, "the type of column \"" + column + "\"") + ")";
        try {
            SqlNode parsed = StatementParser.isExpression(cast) ? StatementParser.parseExpression(cast) : node;
            if (parsed instanceof SqlCall call
                    && call.getKind() == SqlKind.CAST
                    && call.operand(1) instanceof SqlDataTypeSpec spec
                    && spec.getTypeNameSpec() instanceof TypeSpec type) {
                return TypeNames.resolve(type);
            }
        } catch (MillraceException e) {
            throw Errors.error(e.sqlState(), e.getMessage(), node);
        }
        throw Errors.error(SqlState.UNDEFINED_OBJECT, "type of column \"" + column + "\" is none", node);
    }
}

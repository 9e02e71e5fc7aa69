package dev.millrace.sql.bind.query;

import dev.millrace.error.SqlState;
import dev.millrace.sql.bind.expression.FunctionNames;
import dev.millrace.sql.bind.scope.Scope;
import dev.millrace.sql.bind.scope.Scope.Column;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.syntax.FromClauses;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.apache.calcite.sql.util.SqlShuttle;

/**
 * DuckDB's stars that leave out, replace, rename or choose columns, and expressions over COLUMNS(..), which stand for one
 * expression per column:
 *
 * <pre>
 * * EXCLUDE (a) REPLACE (lower(b) AS b)     max(COLUMNS('price_.*'))
 * </pre>
 */
final class StarColumns {
    /** A column of the SELECT list. */
    record Expanded(SqlNode value, String name) {}

    private final Scope scope;

    StarColumns(Scope scope) {
        this.scope = scope;
    }

    /** What an item of the SELECT list stands for, or nothing if it holds no such star. */
    Optional<List<Expanded>> expand(SqlNode item) {
        Optional<SqlCall> star = find(item);
        if (star.isEmpty()) {
            return Optional.empty();
        }
        Optional<String> alias = item.getKind() == SqlKind.AS ? Optional.of(OutputNames.of(item)) : Optional.empty();
        SqlNode value = item.getKind() == SqlKind.AS ? ((SqlCall) item).operand(0) : item;
        List<Expanded> all = new ArrayList<>();
        for (Expanded column : columns(star.get())) {
            SqlNode replaced = value.accept(new SqlShuttle() {
                @Override
                public SqlNode visit(SqlCall call) {
                    return isStar(call) ? column.value : super.visit(call);
                }
            });
            all.add(new Expanded(replaced, alias.orElse(column.name)));
        }
        if (all.isEmpty()) {
            throw Errors.error(SqlState.SYNTAX_ERROR, "no column is left of the star", item);
        }
        return Optional.of(all);
    }

    private static boolean isStar(SqlNode node) {
        return node instanceof SqlCall call && FunctionNames.of(call).equals(Optional.of(FromClauses.STAR_COLUMNS));
    }

    private static Optional<SqlCall> find(SqlNode node) {
        if (!(node instanceof SqlCall call) || node.isA(SqlKind.QUERY)) {
            return Optional.empty();
        }
        return isStar(node)
                ? Optional.of(call)
                : call.getOperandList().stream()
                        .filter(operand -> operand != null)
                        .map(StarColumns::find)
                        .flatMap(Optional::stream)
                        .findFirst();
    }

    private List<Expanded> columns(SqlCall star) {
        String qualifier = text(star.operand(0));
        SqlParserPos position = star.getParserPosition();
        SqlIdentifier all = qualifier.isEmpty()
                ? SqlIdentifier.star(position)
                : SqlIdentifier.star(List.of(qualifier, ""), position, List.of(position, position));
        List<Expanded> columns = new ArrayList<>();
        for (Column column : scope.star(all)) {
            if (!column.qualifier().equals(FromClauses.UNPIVOTED)) {
                List<String> name = column.qualifier().isEmpty()
                        ? List.of(column.name())
                        : List.of(column.qualifier(), column.name());
                columns.add(new Expanded(new SqlIdentifier(name, position), column.name()));
            }
        }
        for (SqlNode modifier : star.getOperandList().subList(1, star.operandCount())) {
            columns = modified(columns, (SqlCall) modifier);
        }
        return columns;
    }

    private static List<Expanded> modified(List<Expanded> columns, SqlCall modifier) {
        List<SqlNode> operands = modifier.getOperandList();
        List<Expanded> result = new ArrayList<>(columns);
        switch (FunctionNames.of(modifier).orElse("")) {
            case "star exclude" ->
                operands.forEach(name -> {
                    place(result, name);
                    result.removeIf(column -> column.name.equals(text(name)) && isOf(column, name));
                });
            case "star without" -> operands.forEach(name -> result.removeIf(column -> column.name.equals(text(name))));
            case "star replace" -> {
                for (int i = 0; i + 1 < operands.size(); i += 2) {
                    String name = text(operands.get(i + 1));
                    result.set(place(result, operands.get(i + 1)), new Expanded(operands.get(i), name));
                }
            }
            case "star rename" -> {
                for (int i = 0; i + 1 < operands.size(); i += 2) {
                    int place = place(result, operands.get(i));
                    result.set(place, new Expanded(result.get(place).value, text(operands.get(i + 1))));
                }
            }
            case "star matching" -> {
                Pattern pattern = pattern(operands.get(0));
                result.removeIf(column -> !pattern.matcher(column.name).find());
            }
            case "star unlike" -> {
                Pattern pattern = pattern(operands.get(0));
                result.removeIf(column -> pattern.matcher(column.name).find());
            }
            case "star only" -> {
                List<Expanded> chosen = new ArrayList<>();
                operands.forEach(name -> chosen.add(result.get(place(result, name))));
                return chosen;
            }
            default ->
                throw Errors.error(SqlState.SYNTAX_ERROR, "a star is followed by EXCLUDE, REPLACE or RENAME", modifier);
        }
        return result;
    }

    /** Whether a column is of the relation that may stand before a name. */
    private static boolean isOf(Expanded column, SqlNode node) {
        if (!(node instanceof SqlIdentifier name) || name.isSimple()) {
            return true;
        }
        String relation = name.names.get(name.names.size() - 2);
        return column.value instanceof SqlIdentifier value
                && !value.isSimple()
                && value.names.get(0).equals(relation);
    }

    private static Pattern pattern(SqlNode node) {
        try {
            return Pattern.compile(text(node));
        } catch (PatternSyntaxException e) {
            throw Errors.error(
                    SqlState.INVALID_REGULAR_EXPRESSION,
                    "invalid regular expression in COLUMNS: " + e.getDescription(),
                    node);
        }
    }

    /** Where a column is that a modifier names. */
    private static int place(List<Expanded> columns, SqlNode node) {
        String name = text(node);
        for (int i = 0; i < columns.size(); i++) {
            if (columns.get(i).name.equals(name)) {
                return i;
            }
        }
        throw Errors.suggest(
                Errors.error(SqlState.UNDEFINED_COLUMN, "column \"" + name + "\" does not exist", node),
                name,
                columns.stream().map(Expanded::name).toList());
    }

    private static String text(SqlNode node) {
        return node instanceof SqlLiteral literal
                ? literal.getValueAs(String.class)
                : ((SqlIdentifier) node).names.get(((SqlIdentifier) node).names.size() - 1);
    }
}

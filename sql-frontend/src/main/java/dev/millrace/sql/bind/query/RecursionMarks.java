package dev.millrace.sql.bind.query;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.bind.type.Errors;
import dev.millrace.sql.parser.StatementParser;
import dev.millrace.sql.syntax.MarkedItem;
import dev.millrace.sql.syntax.PlainSelect;
import dev.millrace.sql.text.Identifiers;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.calcite.sql.SqlBasicCall;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlJoin;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlSelect;
import org.apache.calcite.sql.fun.SqlCase;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.jspecify.annotations.Nullable;

/**
 * SEARCH and CYCLE as what they stand for, as PostgreSQL's manual has it written by hand:
 *
 * <pre>
 *            SEARCH DEPTH        SEARCH BREADTH              CYCLE
 *   base     ARRAY[ROW(by)]      ROW(0, by)                  otherwise, ARRAY[ROW(by)]
 *   step     before || ROW(by)   ROW(before.f1 + 1, by)      CASE WHEN ROW(by) = ANY (before) ..., before || ROW(by)
 * </pre>
 */
final class RecursionMarks {
    private static final String ROWS = "millrace_rows";
    private static final String SEQUENCE = "millrace_sequence";
    private static final String PATH = "millrace_path";

    private final MarkedItem item;
    private final List<String> names;
    private final SqlParserPos position;

    /** @param names of the columns without those that are added */
    RecursionMarks(MarkedItem item, List<String> names) {
        this.item = item;
        this.names = names;
        this.position = item.getParserPosition();
        Set<String> all = new HashSet<>(names);
        item.search().ifPresent(search -> {
            requireColumns("search", search.by());
            requireNew("search sequence", search.sequence(), all);
        });
        item.cycle().ifPresent(cycle -> {
            requireColumns("cycle", cycle.by());
            requireNew("cycle mark", cycle.mark(), all);
            requireNew("cycle path", cycle.path(), all);
        });
    }

    private void requireColumns(String clause, List<SqlIdentifier> by) {
        Set<String> seen = new HashSet<>();
        for (SqlIdentifier column : by) {
            if (!names.contains(column.getSimple())) {
                throw Errors.error(
                        SqlState.SYNTAX_ERROR,
                        clause + " column \"" + column.getSimple() + "\" not in WITH query column list",
                        column);
            }
            if (!seen.add(column.getSimple())) {
                throw Errors.error(
                        SqlState.DUPLICATE_COLUMN,
                        clause + " column \"" + column.getSimple() + "\" specified more than once",
                        column);
            }
        }
    }

    private static void requireNew(String what, SqlIdentifier name, Set<String> all) {
        if (!all.add(name.getSimple())) {
            throw Errors.error(
                    SqlState.SYNTAX_ERROR,
                    what + " column name \"" + name.getSimple() + "\" is used for another column, too",
                    name);
        }
    }

    /** The names of all columns. */
    List<String> columns() {
        List<String> columns = new ArrayList<>(names);
        item.search().ifPresent(search -> columns.add(search.sequence().getSimple()));
        item.cycle().ifPresent(cycle -> {
            columns.add(cycle.mark().getSimple());
            columns.add(cycle.path().getSimple());
        });
        return columns;
    }

    SqlNode base(SqlNode base) {
        List<SqlNode> items = items();
        item.search()
                .ifPresent(search -> items.add(
                        search.depthFirst()
                                ? expression("ARRAY[" + row("", search.by()) + "]")
                                : expression(row("0::bigint, ", search.by()))));
        item.cycle().ifPresent(cycle -> {
            items.add(choice(expression("FALSE"), cycle));
            items.add(expression("ARRAY[" + row("", cycle.by()) + "]"));
        });
        return wrapped(base, names, items);
    }

    /** @throws MillraceException if it is no SELECT that reads the query in its FROM */
    SqlNode step(SqlNode step) {
        String name = item.name.getSimple();
        if (!(step instanceof SqlSelect select)) {
            throw Errors.error(
                    SqlState.FEATURE_NOT_SUPPORTED,
                    "with a SEARCH or CYCLE clause, the right side of the UNION must be a SELECT",
                    item);
        }
        String self = alias(select.getFrom(), name)
                .orElseThrow(() -> Errors.error(
                        SqlState.FEATURE_NOT_SUPPORTED,
                        "with a SEARCH or CYCLE clause, the recursive reference to WITH query \"" + name
                                + "\" must be at the top level of its right-hand SELECT",
                        item));
        SqlSelect inner = (SqlSelect) select.clone(select.getParserPosition());
        List<SqlNode> given = new ArrayList<>(select.getSelectList().getList());
        List<String> columns = new ArrayList<>(names);
        List<SqlNode> items = items();
        item.search().ifPresent(search -> {
            given.add(of(self, search.sequence()));
            columns.add(SEQUENCE);
            items.add(
                    search.depthFirst()
                            ? expression(quoted(SEQUENCE) + " || " + row("", search.by()))
                            : expression(row("(" + quoted(SEQUENCE) + ").f1 + 1, ", search.by())));
        });
        item.cycle().ifPresent(cycle -> {
            given.add(of(self, cycle.path()));
            columns.add(PATH);
            items.add(choice(expression(row("", cycle.by()) + " = ANY(" + quoted(PATH) + ")"), cycle));
            items.add(expression(quoted(PATH) + " || " + row("", cycle.by())));
            SqlNode goesOn = SqlStdOperatorTable.NOT_EQUALS.createCall(position, of(self, cycle.mark()), cycle.value());
            inner.setWhere(
                    select.getWhere() == null
                            ? goesOn
                            : SqlStdOperatorTable.AND.createCall(position, select.getWhere(), goesOn));
        });
        inner.setSelectList(new SqlNodeList(given, select.getSelectList().getParserPosition()));
        return wrapped(inner, columns, items);
    }

    /** By which name FROM has the query. */
    private static Optional<String> alias(@Nullable SqlNode from, String name) {
        if (from instanceof SqlIdentifier relation) {
            return relation.isSimple() && relation.getSimple().equals(name) ? Optional.of(name) : Optional.empty();
        } else if (from instanceof SqlJoin join) {
            return alias(join.getLeft(), name).or(() -> alias(join.getRight(), name));
        } else if (from instanceof SqlBasicCall call && call.getKind() == SqlKind.AS) {
            return alias(call.operand(0), name).map(found -> ((SqlIdentifier) call.operand(1)).getSimple());
        }
        return Optional.empty();
    }

    private SqlNode of(String relation, SqlIdentifier column) {
        return new SqlIdentifier(List.of(relation, column.getSimple()), position);
    }

    private List<SqlNode> items() {
        return names.stream().map(name -> expression(quoted(name))).collect(Collectors.toCollection(ArrayList::new));
    }

    private SqlNode wrapped(SqlNode query, List<String> columns, List<SqlNode> items) {
        List<SqlNode> named = new ArrayList<>();
        named.add(query);
        named.add(new SqlIdentifier(ROWS, position));
        columns.forEach(column -> named.add(new SqlIdentifier(column, position)));
        return PlainSelect.of(position, items, SqlStdOperatorTable.AS.createCall(position, named));
    }

    private SqlCall choice(SqlNode condition, MarkedItem.Cycle cycle) {
        return SqlCase.createSwitched(
                position, null, SqlNodeList.of(condition), SqlNodeList.of(cycle.value()), cycle.otherwise());
    }

    private static String row(String first, List<SqlIdentifier> by) {
        return by.stream()
                .map(column -> quoted(column.getSimple()))
                .collect(Collectors.joining(", ", "ROW(" + first, ")"));
    }

    private static String quoted(String column) {
        return Identifiers.quote(ROWS) + "." + Identifiers.quote(column);
    }

    private static SqlNode expression(String text) {
        return StatementParser.parseExpression(text);
    }
}

package dev.millrace.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.error.MillraceException;
import dev.millrace.plan.expression.Expression;
import dev.millrace.sql.algebra.AggregateTranslator;
import dev.millrace.sql.algebra.ExpressionTranslator;
import dev.millrace.sql.algebra.TypeMapper;
import dev.millrace.sql.algebra.WindowScan;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.text.ErrorText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Aggregate;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.Sort;
import org.apache.calcite.rel.core.TableScan;
import org.apache.calcite.rel.core.Values;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexOver;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What texts become, as golden files: statements after {@code >}, then what they are, or the error as a shell shows it.
 * {@code -Dmillrace.golden.update=true} writes the files anew, to be reviewed as a diff.
 */
class GoldenTest {
    private static final Path FOLDER = Path.of("src/test/resources/dev/millrace/sql");

    @ParameterizedTest
    @ValueSource(strings = {"nexmark", "statements", "queries", "expressions", "aggregates", "errors"})
    void textsBecomeWhatTheGoldenFileSays(String name) throws IOException {
        Path file = FOLDER.resolve(name + ".golden");
        String expected = Files.readString(file);
        String actual = statements(expected).stream()
                .map(statement -> statement.lines().map(line -> "> " + line).collect(Collectors.joining("\n"))
                        + "\n"
                        + describe(statement, name.equals("expressions"))
                        + "\n")
                .collect(Collectors.joining("\n"));
        if (Boolean.getBoolean("millrace.golden.update")) {
            Files.writeString(file, actual);
            return;
        }
        assertEquals(expected, actual);
    }

    static List<String> statements(String golden) {
        List<String> statements = new ArrayList<>();
        StringBuilder statement = new StringBuilder();
        for (String line : (golden + "\n\n").lines().toList()) {
            if (line.startsWith("> ")) {
                statement.append(statement.isEmpty() ? "" : "\n").append(line.substring(2));
            } else if (!statement.isEmpty()) {
                statements.add(statement.toString());
                statement.setLength(0);
            }
        }
        return statements;
    }

    private static String describe(String text, boolean columnsOnly) {
        try {
            Frontend frontend = new Frontend();
            List<String> described = new ArrayList<>();
            for (ParsedStatement parsed : frontend.parse(text)) {
                Statement statement = frontend.analyze(parsed, new TestCatalog(), Parameters.none());
                described.add(columnsOnly ? columns((Statement.Select) statement) : show(statement));
            }
            return String.join("\n", described);
        } catch (MillraceException e) {
            return ErrorText.render(e, text);
        }
    }

    /** The columns of a SELECT without much around it: name, type, expression. */
    private static String columns(Statement.Select select) {
        Project project = (Project) select.query().rel();
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < project.getProjects().size(); i++) {
            lines.add(select.query().schema().field(i) + " = "
                    + expression(project.getProjects().get(i)));
        }
        return String.join("\n", lines);
    }

    private static String show(Statement statement) {
        if (statement instanceof Statement.Select select) {
            return show(select.query());
        }
        // Records show their parts; of a query inside, its nodes' numbers would not be the same each time.
        return statement
                .toString()
                .replaceAll("rel=rel#.*?, schema=", "schema=")
                .replaceAll(
                        "relations=(\\[[^\\]]*\\]), named=\\1", "relations=$1"); // the same where there are no views
    }

    private static String show(Query query) {
        return "columns: " + query.schema() + "\n" + tree(query.rel(), "");
    }

    private static String tree(RelNode node, String indent) {
        StringBuilder text = new StringBuilder(indent).append(node(node));
        for (RelNode input : node.getInputs()) {
            text.append('\n').append(tree(input, indent + "  "));
        }
        return text.toString();
    }

    private static String node(RelNode node) {
        if (node instanceof TableScan scan) {
            return "scan " + String.join(".", scan.getTable().getQualifiedName());
        }
        if (node instanceof Filter filter) {
            return "filter " + expression(filter.getCondition());
        }
        if (node instanceof Project project) {
            return "project "
                    + project.getProjects().stream().map(GoldenTest::expression).collect(Collectors.joining(", "));
        }
        if (node instanceof Aggregate aggregate) {
            return "aggregate by " + aggregate.getGroupSets() + " "
                    + aggregate.getAggCallList().stream()
                            .map(call ->
                                    AggregateTranslator.translate(call, aggregate.getInput(), UnaryOperator.identity()))
                            .map(call -> call + " " + call.type())
                            .toList();
        }
        if (node instanceof Join join) {
            return join.getJoinType().lowerName + " join on " + expression(join.getCondition());
        }
        if (node instanceof Sort sort) {
            return "sort " + AggregateTranslator.orderKeys(sort.getCollation())
                    + (sort.fetch == null ? "" : " limit " + expression(sort.fetch))
                    + (sort.offset == null ? "" : " offset " + expression(sort.offset));
        }
        if (node instanceof Values values) {
            return "values " + values.getTuples();
        }
        return WindowScan.of(node)
                .map(window -> "window " + window.window() + " of $" + window.timeColumn()
                        + (window.partition().isEmpty() ? "" : " by " + window.partition()))
                .orElse(node.getRelTypeName());
    }

    private static String expression(RexNode node) {
        if (node instanceof RexOver) {
            return node.toString();
        }
        Expression expression = ExpressionTranslator.translate(node);
        assertEquals(expression.type(), TypeMapper.dataType(node.getType()));
        return expression.toString();
    }
}

package dev.millrace.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.error.MillraceException;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.PlannerContext.Mode;
import dev.millrace.planner.explain.LogicalText;
import dev.millrace.sql.statement.Query;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Plans as text, one file per query: the SQL, then what is planned for it in each setting. Rewritten by {@code
 * -Dmillrace.golden.update=true}; the diff is what a reviewer reads.
 */
@Tag("long")
class GoldenPlanTest {
    private static final Path FOLDER = Path.of("src/test/resources/plans");
    private static final boolean UPDATE = Boolean.getBoolean("millrace.golden.update");
    private static final String SECTION = "\n== ";

    static List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(FOLDER)) {
            return files.filter(file -> file.toString().endsWith(".plan.txt"))
                    .sorted()
                    .toList();
        }
    }

    @ParameterizedTest
    @MethodSource("files")
    void isPlannedAsBefore(Path file) throws IOException {
        String expected = Files.readString(file);
        int sections = expected.indexOf(SECTION);
        String sql = sections < 0 ? expected : expected.substring(0, sections + 1);
        String actual = sql.stripTrailing() + "\n" + sections(sql);
        if (UPDATE) {
            Files.writeString(file, actual);
        } else {
            assertEquals(expected, actual);
        }
    }

    private static String sections(String sql) {
        return section(sql, "logical", Mode.STANDING, 0)
                + section(sql, "standing", Mode.STANDING, 1)
                + section(sql, "standing, two tasks", Mode.STANDING, 2)
                + section(sql, "pull", Mode.PULL, 1);
    }

    private static String section(String sql, String title, Mode mode, int tasks) {
        return SECTION + title + "\n" + planned(sql, mode, tasks);
    }

    /** @param tasks none for the logical plan */
    private static String planned(String sql, Mode mode, int tasks) {
        Relations relations = new Relations();
        PlannerContext context = relations.context(mode, Math.max(1, tasks));
        try {
            Query query = relations.query(sql);
            if (tasks == 0) {
                return LogicalText.of(query);
            }
            PhysicalPlan plan = Planner.plan(query, context);
            assertSchema(query, plan.root());
            String key = plan.uniqueKey()
                    .map(columns -> "key ("
                            + columns.stream()
                                    .map(column ->
                                            plan.root().schema().field(column).name())
                                    .collect(Collectors.joining(", "))
                            + ")")
                    .orElse("no key");
            String emit = mode == Mode.PULL ? "" : plan.emit().toString().replaceAll("\\[.*", "") + ", ";
            return "-- " + emit + key + "\n" + Planner.explain(plan.root(), context);
        } catch (MillraceException refusal) {
            return "ERROR " + refusal.sqlState().code() + ": " + refusal.getMessage() + "\n"
                    + refusal.hint().map(hint -> "HINT: " + hint + "\n").orElse("");
        }
    }

    /** Whatever was rewritten, the columns are those that the front end promised. */
    private static void assertSchema(Query query, PlanNode root) {
        assertEquals(query.schema().names(), root.schema().names());
        for (int column = 0; column < query.schema().size(); column++) {
            assertEquals(query.schema().type(column), root.schema().type(column));
        }
    }
}

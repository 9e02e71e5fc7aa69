package dev.millrace.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.Millrace;
import dev.millrace.batch.Batch;
import dev.millrace.batch.text.ValueText;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.Session;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** docs/recipes.md says what is so: its files are there, what it quotes is in them, and its examples run. */
class RecipesTest {
    private static final Path PAGE = RepositoryTest.ROOT.resolve("docs/recipes.md");

    /** A step's file and the first thing that it quotes. */
    private static final Pattern STEP =
            Pattern.compile("^\\d+\\. \\[([^\\]]+)\\]\\(([^)]+)\\):\\s+`([^`]+)`", Pattern.MULTILINE);

    private static final Pattern NUMBER = Pattern.compile("^\\d+\\. ", Pattern.MULTILINE);
    private static final Pattern EXAMPLE = Pattern.compile("```sql\n(.*?)```", Pattern.DOTALL);
    private static final String ANSWER = "-- ";

    private record Recipe(String name, String text) {}

    private static List<Recipe> recipes() throws IOException {
        List<Recipe> recipes = new ArrayList<>();
        for (String part : Files.readString(PAGE).split("(?m)^## ")) {
            int end = part.indexOf('\n');
            recipes.add(new Recipe(part.substring(0, end), part.substring(end)));
        }
        return recipes.subList(1, recipes.size()); // before the first one is what the page is
    }

    @Test
    void thereIsARecipeForWhatIsAddedMostOften() throws IOException {
        assertEquals(
                List.of(
                        "A function",
                        "An aggregate",
                        "An operator",
                        "A planner rule",
                        "A connector",
                        "A statement",
                        "A setting",
                        "A relation of the system",
                        "A version of what is on disk"),
                recipes().stream()
                        .map(recipe -> recipe.name().replaceAll(":.*", ""))
                        .toList());
    }

    @TestFactory
    Stream<DynamicTest> everyStepIsWhereItSays() throws IOException {
        return recipes().stream()
                .map(recipe -> DynamicTest.dynamicTest(recipe.name(), () -> {
                    Matcher step = STEP.matcher(recipe.text());
                    int steps = 0;
                    while (step.find()) {
                        Path file = PAGE.resolveSibling(step.group(2)).normalize();
                        assertTrue(Files.exists(file), () -> file + " is not there");
                        assertTrue(
                                file.getFileName().toString().startsWith(step.group(1)),
                                () -> file + " is not " + step.group(1));
                        String quoted = step.group(3);
                        assertTrue(Files.readString(file).contains(quoted), () -> file + " has no " + quoted);
                        steps++;
                    }
                    assertTrue(steps >= 3, "steps of " + recipe.name());
                    assertEquals(
                            NUMBER.matcher(recipe.text()).results().count(),
                            steps,
                            "each step has a file and a quotation");
                }));
    }

    @TestFactory
    Stream<DynamicTest> everyExampleRuns() throws IOException {
        return recipes().stream()
                .map(recipe -> DynamicTest.dynamicTest(recipe.name(), () -> {
                    Matcher example = EXAMPLE.matcher(recipe.text());
                    assertTrue(example.find(), "an example of " + recipe.name());
                    List<String> lines = example.group(1).lines().toList();
                    String sql = String.join(
                            "\n",
                            lines.stream()
                                    .filter(line -> !line.startsWith(ANSWER))
                                    .toList());
                    List<String> answer = lines.stream()
                            .filter(line -> line.startsWith(ANSWER))
                            .map(line -> line.substring(ANSWER.length()))
                            .toList();
                    try (Database database = Millrace.open();
                            Session session = database.session()) {
                        assertAnswer(answer, answer(session, sql));
                    }
                }));
    }

    /** An answer that begins with a tilde is in one of the rows. */
    private static void assertAnswer(List<String> expected, List<String> rows) {
        if (expected.size() == 1 && expected.get(0).startsWith("~ ")) {
            String part = expected.get(0).substring(2);
            assertTrue(rows.stream().anyMatch(row -> row.contains(part)), () -> part + " in " + rows);
        } else {
            assertEquals(expected, rows);
        }
    }

    /** The rows of the last statement; what is computed from a stream is awaited. */
    private static List<String> answer(Session session, String sql) {
        List<String> rows = new ArrayList<>();
        try (StatementResults results = session.execute(sql)) {
            while (results.hasNext()) {
                rows.clear();
                if (results.next() instanceof StatementResult.Rows found) {
                    for (Optional<Batch> next = found.next(); next.isPresent(); next = found.next()) {
                        try (Batch batch = next.get()) {
                            addRows(batch, rows);
                        }
                    }
                }
            }
        }
        return rows;
    }

    private static void addRows(Batch batch, List<String> rows) {
        for (int row = 0; row < batch.rowCount(); row++) {
            List<String> values = new ArrayList<>();
            for (int column = 0; column < batch.columnCount(); column++) {
                values.add(ValueText.format(batch.schema().type(column), batch.column(column), row)
                        .orElse("NULL"));
            }
            assertFalse(values.isEmpty());
            rows.add(String.join("|", values));
        }
    }
}

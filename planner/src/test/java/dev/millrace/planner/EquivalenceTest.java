package dev.millrace.planner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.PlannerContext.Mode;
import dev.millrace.planner.algebra.Translation;
import dev.millrace.planner.reference.Interpreter;
import dev.millrace.sql.statement.Query;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever a plan was rewritten to, it has the rows of the algebra: for each golden query, over random rows. */
@Tag("long")
class EquivalenceTest {
    private static final int TRIALS = Integer.getInteger("millrace.equivalence.trials", 15);
    private static final long SEED = Long.getLong("millrace.equivalence.seed", 42);

    static List<Path> files() throws IOException {
        return GoldenPlanTest.files();
    }

    @ParameterizedTest
    @MethodSource("files")
    void hasTheRowsOfTheAlgebra(Path file) throws IOException {
        String text = Files.readString(file);
        check(text.substring(0, text.indexOf("\n== ")), TRIALS);
    }

    /** Texts that have no golden file: near misses of the rewrites, mostly. */
    static List<String> texts() throws IOException {
        return Files.readString(Path.of("src/test/resources/equivalence.sql"))
                .lines()
                .filter(line -> !line.isBlank() && !line.startsWith("--"))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("texts")
    void hasTheRowsOfTheAlgebra(String text) {
        check(text, TRIALS);
    }

    /** {@code -Dmillrace.equivalence.queries=N} checks as many. */
    @Test
    void holdsForRandomQueries() {
        int queries = Integer.getInteger("millrace.equivalence.queries", 100);
        int planned = 0;
        for (int i = 0; i < queries; i++) {
            String sql = new RandomQueries(new Random(SEED + i)).next();
            planned += check(sql, 10);
        }
        int plans = planned;
        assertTrue(plans > queries * 2, () -> "most random queries should be planned, not refused: " + plans);
    }

    /** The number of plans that were compared: none when the query was refused. */
    private static int check(String sql, int trials) {
        Relations relations = new Relations();
        Query query;
        PlanNode plain;
        try {
            query = relations.query(sql);
            plain = new Translation(relations.context(Mode.PULL, 1).relations(), true, false, UnaryOperator.identity())
                    .translate(query.rel());
        } catch (MillraceException refused) {
            return 0;
        }
        int plans = 0;
        for (Mode mode : Mode.values()) {
            for (int tasks = 1; tasks <= 2; tasks++) {
                PlanNode planned;
                try {
                    planned =
                            Planner.plan(query, relations.context(mode, tasks)).root();
                } catch (MillraceException refused) {
                    continue;
                } catch (RuntimeException | AssertionError bug) {
                    throw new AssertionError(mode + ", " + tasks + " tasks\n" + sql, bug);
                }
                plans++;
                for (int trial = 0; trial < trials; trial++) {
                    long seed = SEED + trial;
                    Interpreter interpreter = new Interpreter(relations.randomRows(new Random(seed)));
                    assertEquals(
                            counted(interpreter.rows(plain)),
                            counted(interpreter.rows(planned)),
                            () -> "seed " + seed + ", " + mode + "\n" + sql);
                }
            }
        }
        return plans;
    }

    private static Map<String, Long> counted(List<List<Object>> rows) {
        return rows.stream().collect(Collectors.groupingBy(List::toString, TreeMap::new, Collectors.counting()));
    }
}

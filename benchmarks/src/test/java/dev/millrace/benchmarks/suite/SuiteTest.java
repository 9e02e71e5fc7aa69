package dev.millrace.benchmarks.suite;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every query of every suite agrees with the oracle at the end of its streams, with one worker; {@link SuiteEpochsTest} has two.
 * {@code -Dmillrace.suite.seeds=N} with N > 1 has two here as well.
 */
@Tag("long")
class SuiteTest {
    static Stream<Arguments> suitesAndWorkersAtTheEnd() {
        return TestedSuites.withWorkers().filter(each -> SuiteEpochsTest.SEEDS > 1 || each.get()[1].equals(1));
    }

    @ParameterizedTest(name = "{0} with {1} workers")
    @MethodSource("suitesAndWorkersAtTheEnd")
    void theAnswersAtTheEndAreDuckDbs(String name, int workers) throws IOException {
        Suite suite = TestedSuites.suite(name);
        Inputs inputs = Inputs.of(suite, "check", Inputs.usualData());
        Map<String, String> wrong = new LinkedHashMap<>();
        try (EndCheck check = new EndCheck(suite, suite.queries(), inputs, workers)) {
            for (String query : suite.queries()) {
                try {
                    String differences = check.differences(query);
                    if (!differences.isEmpty()) {
                        wrong.put(query, differences);
                    } else if (workers == 1) {
                        compareWithFile(suite, query, check.kept(query));
                    }
                } catch (RuntimeException e) {
                    wrong.put(query, e.toString());
                }
            }
        }
        assertEquals(Map.of(), wrong);
    }

    private static void compareWithFile(Suite suite, String query, String answer) throws IOException {
        if (Boolean.getBoolean("millrace.golden.update")) {
            Path file = Path.of("src/main/resources/suites", suite.name(), "answers", query + ".txt");
            Files.createDirectories(file.getParent());
            Files.writeString(file, answer);
        } else {
            assertEquals(suite.keptAnswer(query).orElse("no file"), answer, query);
        }
    }
}

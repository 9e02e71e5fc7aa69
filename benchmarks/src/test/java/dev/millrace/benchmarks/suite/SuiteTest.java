package dev.millrace.benchmarks.suite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every query of every suite agrees with the oracle at the end of its streams and at random epochs, with one worker and with
 * more. {@code -Dmillrace.suite.seeds=N} checks epochs with as many seeds (1), {@code -Dmillrace.suites=ysb,pluto} names the
 * suites (all).
 */
@Tag("long")
class SuiteTest {
    private static final int SEEDS = Integer.getInteger("millrace.suite.seeds", 1);

    private static final List<String> SUITES = Optional.ofNullable(System.getProperty("millrace.suites"))
            .map(names -> List.of(names.split(",")))
            .orElse(Suite.NAMES);

    static Stream<Arguments> suitesAndWorkers() {
        return SUITES.stream().flatMap(name -> Stream.of(Arguments.of(name, 1), Arguments.of(name, 2)));
    }

    /** Files are read by two workers only, which is enough for their size. */
    static Stream<Arguments> suitesAndWorkersAtTheEnd() {
        return suitesAndWorkers()
                .filter(each -> each.get()[1].equals(2)
                        || !Suite.named((String) each.get()[0]).readsFiles());
    }

    /** The suite; skips the test, with a reason, where it has no data. */
    private static Suite suite(String name) {
        Suite suite = Suite.named(name);
        if (suite.readsFiles() && !Files.isDirectory(Inputs.usualData())) {
            String reason = "skipped because there is no real data at " + Inputs.usualData() + "; set MILLRACE_DATA";
            System.out.println(reason);
            Assumptions.abort(reason);
        }
        return suite;
    }

    @ParameterizedTest(name = "{0} with {1} workers")
    @MethodSource("suitesAndWorkersAtTheEnd")
    void theAnswersAtTheEndAreDuckDbs(String name, int workers) throws IOException {
        Suite suite = suite(name);
        Inputs inputs = Inputs.of(suite, "check", Inputs.usualData());
        Map<String, String> wrong = new LinkedHashMap<>();
        try (EndCheck check = new EndCheck(suite, suite.queries(), inputs, workers)) {
            for (String query : suite.queries()) {
                try {
                    String differences = check.differences(query);
                    if (!differences.isEmpty()) {
                        wrong.put(query, differences);
                    } else if (workers == 2) {
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

    @ParameterizedTest(name = "{0} with {1} workers")
    @MethodSource("suitesAndWorkers")
    void theAnswersAtRandomEpochsAreDuckDbs(String name, int workers) {
        Suite suite = suite(name);
        Inputs inputs = Inputs.of(suite, "epochs", Inputs.usualData());
        Feed feed = new Feed(suite, inputs);
        for (long seed = 1; seed <= SEEDS; seed++) {
            try (EpochCheck check =
                    new EpochCheck(suite, suite.queries(), inputs, feed, workers, 10 * seed + workers)) {
                assertEquals(Map.of(), check.differences(), "seed " + (10 * seed + workers));
                System.out.println(name + ": " + check.summary());
                assertFalse(check.summary().startsWith("0 epochs"));
            }
        }
    }
}

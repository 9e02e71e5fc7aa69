package dev.millrace.benchmarks.suite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every query of every suite agrees with the oracle at random epochs while its streams go on, with two workers;
 * {@code -Dmillrace.suite.seeds=N} checks as many seeds (1), with one worker too.
 */
@Tag("long")
class SuiteEpochsTest {
    static final int SEEDS = Integer.getInteger("millrace.suite.seeds", 1);

    static Stream<Arguments> suitesAndWorkers() {
        return TestedSuites.withWorkers().filter(each -> SEEDS > 1 || each.get()[1].equals(2));
    }

    @ParameterizedTest(name = "{0} with {1} workers")
    @MethodSource("suitesAndWorkers")
    void theAnswersAtRandomEpochsAreDuckDbs(String name, int workers) {
        Suite suite = TestedSuites.suite(name);
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

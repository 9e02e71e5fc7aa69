package dev.millrace.benchmarks.suite;

import java.nio.file.Files;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.provider.Arguments;

/** The suites that are compared with the oracle: {@code -Dmillrace.suites=ysb,pluto} names them (all). */
final class TestedSuites {
    private static final List<String> NAMES = Optional.ofNullable(System.getProperty("millrace.suites"))
            .map(names -> List.of(names.split(",")))
            .orElse(Suite.NAMES);

    private TestedSuites() {}

    /** Each with one worker and with two. */
    static Stream<Arguments> withWorkers() {
        return NAMES.stream().flatMap(name -> Stream.of(Arguments.of(name, 1), Arguments.of(name, 2)));
    }

    /** The suite; skips the test, with a reason, where it has no data. */
    static Suite suite(String name) {
        Suite suite = Suite.named(name);
        if (suite.readsFiles() && !Files.isDirectory(Inputs.usualData())) {
            String reason = "skipped because there is no real data at " + Inputs.usualData() + "; set MILLRACE_DATA";
            System.out.println(reason);
            Assumptions.abort(reason);
        }
        return suite;
    }
}

package dev.millrace.benchmarks.suite;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What a suite is run over.
 *
 * @param events of all kinds, where they are made
 * @param rate events per second of event time, where they are made
 * @param data the folder of real data
 * @param functions the jar of the suite's Java functions
 */
record Inputs(long events, long rate, Path data, Path functions) {
    /** The folder that {@code MILLRACE_DATA} names, or else {@code ../shared/data} beside the repository. */
    static Path usualData() {
        return Optional.ofNullable(System.getenv("MILLRACE_DATA")).map(Path::of).orElseGet(() -> {
            Path root = Path.of("").toAbsolutePath();
            while (root.getParent() != null && !Files.exists(root.resolve("GLOSSARY.md"))) {
                root = root.getParent();
            }
            return root.resolveSibling("shared").resolve("data");
        });
    }

    /** The inputs for comparing a suite with the oracle: {@code part} is {@code check} or {@code epochs}. */
    static Inputs of(Suite suite, String part, Path data) {
        return new Inputs(
                suite.number(part + ".events").orElse(0L),
                suite.number(part + ".rate").orElse(1L),
                data,
                FunctionJar.of(suite));
    }

    String fill(String sql) {
        return sql.replace("${events}", Long.toString(events))
                .replace("${rate}", Long.toString(rate))
                .replace("${step}", 1_000_000 / rate + "us")
                .replace("${data}", data.toString())
                .replace("${functions}", functions.toString());
    }
}

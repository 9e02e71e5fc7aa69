package dev.millrace.server.regression;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** What is told of a suite: a line of JSON for each part, one for all, and why statements are answered otherwise; each of them in a file. */
final class SuiteReport {
    private final String suite;
    private final Path folder;
    private final List<RegressionFile.Outcome> outcomes = new ArrayList<>();

    /**
     * @param suite its name in lines of JSON
     * @param folder where the statements are written that are answered otherwise, a file for each part
     */
    SuiteReport(String suite, Path folder) throws IOException {
        this.suite = suite;
        this.folder = Files.createDirectories(folder);
    }

    void add(String part, RegressionFile.Outcome outcome) throws IOException {
        outcomes.add(outcome);
        System.out.println(line(part, outcome.statements(), outcome.same()));
        Files.write(
                folder.resolve(part + ".txt"),
                outcome.differences().stream()
                        .flatMap(one -> Stream.of("==== " + one.place() + ": " + one.cause(), one.shown()))
                        .toList());
    }

    /** @param withCauses whether the causes are printed, too: they are in a file anyway */
    void end(boolean withCauses) throws IOException {
        System.out.println(line(
                "all",
                outcomes.stream().mapToInt(RegressionFile.Outcome::statements).sum(),
                outcomes.stream().mapToInt(RegressionFile.Outcome::same).sum()));
        List<String> causes = causes();
        Files.write(folder.resolve("causes.json"), causes);
        if (withCauses) {
            causes.forEach(System.out::println);
        }
    }

    private String line(String part, int statements, int same) {
        return String.format(
                Locale.ROOT,
                "{\"%s\":\"%s\",\"statements\":%d,\"same\":%d,\"percent\":%.1f}",
                suite,
                part,
                statements,
                same,
                statements == 0 ? 100.0 : 100.0 * same / statements);
    }

    /** A line for each cause, those of most statements first. */
    List<String> causes() {
        Map<String, Integer> counts = new LinkedHashMap<>();
        outcomes.forEach(outcome -> outcome.differences()
                .forEach(difference -> counts.merge(difference.cause(), difference.statements(), Integer::sum)));
        return counts.entrySet().stream()
                .sorted(Map.Entry.<String, Integer>comparingByValue()
                        .reversed()
                        .thenComparing(Map.Entry.comparingByKey()))
                .map(entry -> "{\"" + suite + "_cause\":\""
                        + entry.getKey()
                                .replace("\\", "\\\\")
                                .replace("\"", "\\\"")
                                .replace("\n", "\\n")
                        + "\",\"statements\":" + entry.getValue() + "}")
                .toList();
    }
}

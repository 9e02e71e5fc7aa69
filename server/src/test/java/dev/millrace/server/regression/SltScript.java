package dev.millrace.server.regression;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A file of sqllogictest as RisingWave writes it: statements with what is expected of them, files that are included in their places, and
 * what is for its own runner, which is passed over with what it concerns (programs of the system, conditions of one cluster).
 */
final class SltScript {
    private static final String SEPARATOR = "----";

    enum Expected {
        SUCCESS,
        ERROR,
        ROWS
    }

    /** How rows are compared: as they come, in any order, or all their values in any order. */
    enum Order {
        GIVEN,
        ROWS,
        VALUES
    }

    /**
     * @param place the file and the number of the first line
     * @param connection by name; nothing for that of most
     * @param rows the lines that are expected, if rows are
     */
    record Step(String place, String connection, String sql, Expected expected, Order order, List<String> rows) {}

    private final Path file;
    private final List<String> lines;
    private final List<Step> steps;
    private int at;

    private SltScript(Path file, List<Step> steps) throws IOException {
        this.file = file;
        this.lines = Files.readAllLines(file);
        this.steps = steps;
    }

    static List<Step> read(Path file) throws IOException {
        List<Step> steps = new ArrayList<>();
        new SltScript(file, steps).read();
        return steps;
    }

    private void read() throws IOException {
        boolean skipped = false;
        String connection = "";
        while (at < lines.size()) {
            String line = lines.get(at++).strip();
            String[] words = line.split("\\s+");
            switch (words[0]) {
                case "include" -> include(line.substring("include".length()).strip());
                case "halt" -> at = lines.size();
                case "onlyif" -> skipped = true;
                case "connection" -> connection = words[1];
                case "statement", "query", "system", "let" -> {
                    Step step = step(words, connection);
                    if (!skipped && (words[0].equals("statement") || words[0].equals("query"))) {
                        steps.add(step);
                    }
                    skipped = false;
                    connection = "";
                }
                default -> {} // comments, and what tells a runner how to wait
            }
        }
    }

    private Step step(String[] words, String connection) {
        String place = file.getFileName() + ":" + at;
        String kind = words.length > 1 ? words[1] : "";
        StringBuilder sql = new StringBuilder();
        while (at < lines.size()
                && !lines.get(at).isBlank()
                && !lines.get(at).strip().equals(SEPARATOR)) {
            sql.append(lines.get(at++)).append('\n');
        }
        List<String> rows = new ArrayList<>();
        if (at < lines.size() && lines.get(at).strip().equals(SEPARATOR)) {
            at++;
            boolean several = kind.equals("error"); // a message of several lines ends with two that are blank
            while (at < lines.size()
                    && (!lines.get(at).isBlank()
                            || several
                                    && at + 1 < lines.size()
                                    && !lines.get(at + 1).isBlank())) {
                rows.add(lines.get(at++));
            }
        }
        Expected expected =
                kind.equals("error") ? Expected.ERROR : words[0].equals("query") ? Expected.ROWS : Expected.SUCCESS;
        List<String> rest = List.of(words);
        Order order = rest.contains("rowsort") ? Order.ROWS : rest.contains("valuesort") ? Order.VALUES : Order.GIVEN;
        return new Step(place, connection, sql.toString().strip(), expected, order, rows);
    }

    /** The files of a pattern in their order; {@code **} is any number of folders, or none. */
    private void include(String pattern) throws IOException {
        Path base = file.getParent().resolve(pattern).normalize();
        Path folder = base.getParent();
        while (folder.toString().contains("*")) {
            folder = folder.getParent();
        }
        if (!Files.isDirectory(folder)) {
            return;
        }
        PathMatcher below = FileSystems.getDefault().getPathMatcher("glob:" + base);
        PathMatcher there = FileSystems.getDefault()
                .getPathMatcher("glob:" + base.toString().replace("**/", ""));
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path included : files.filter(Files::isRegularFile)
                    .filter(each -> below.matches(each) || there.matches(each))
                    .sorted()
                    .toList()) {
                new SltScript(included, steps).read();
            }
        }
    }
}

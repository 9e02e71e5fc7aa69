package dev.millrace.server.regression;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.ValueText;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.Session;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The steps of a file in a database of its own. */
final class SltRun implements AutoCloseable {
    private static final String TIMEOUT = "SET statement_timeout = '20s'";

    /** Whom RisingWave's runner is. */
    private static final String OWNER = "CREATE ROLE root SUPERUSER CREATEDB CREATEROLE LOGIN";

    private final Database database;
    private final Map<String, Session> sessions = new HashMap<>();

    SltRun(Database database) {
        this.database = database;
    }

    RegressionFile.Outcome run(List<SltScript.Step> steps) {
        int same = 0;
        List<RegressionFile.Difference> differences = new ArrayList<>();
        for (SltScript.Step step : steps) {
            Optional<Otherwise> otherwise = run(step);
            if (otherwise.isEmpty()) {
                same++;
            } else {
                String shown = step.sql() + "\n-- RisingWave\n" + String.join("\n", step.rows()) + "\n-- Millrace\n"
                        + otherwise.get().answer() + "\n";
                differences.add(new RegressionFile.Difference(
                        step.place(), 1, otherwise.get().cause(), shown));
            }
        }
        return new RegressionFile.Outcome(steps.size(), same, differences);
    }

    /** An answer that is not as expected. */
    private record Otherwise(String cause, String answer) {}

    /** How the step is not answered as expected, if so. */
    private Optional<Otherwise> run(SltScript.Step step) {
        List<List<String>> rows;
        try {
            rows = rows(step);
        } catch (RuntimeException e) {
            String message = String.valueOf(e.getMessage());
            return step.expected() == SltScript.Expected.ERROR
                    ? Optional.empty()
                    : Optional.of(new Otherwise(Answer.general(message), "ERROR:  " + message));
        }
        String given = rows.stream().map(row -> String.join(" ", row)).collect(Collectors.joining("\n"));
        return switch (step.expected()) {
            case SUCCESS -> Optional.empty();
            case ERROR -> Optional.of(new Otherwise("no error where one is expected", given));
            case ROWS -> {
                List<List<String>> expected = step.rows().stream()
                        .map(line -> List.of(line.strip().split("\\s+")))
                        .toList();
                yield shown(rows, step.order()).equals(shown(expected, step.order()))
                        ? Optional.empty()
                        : Optional.of(new Otherwise(
                                rows.size() == expected.size() ? "other values" : "another number of rows", given));
            }
        };
    }

    private static List<String> shown(List<List<String>> rows, SltScript.Order order) {
        Stream<String> lines = order == SltScript.Order.VALUES
                ? rows.stream().flatMap(List::stream).map(SltRun::normal)
                : rows.stream().map(row -> normal(String.join(" ", row)));
        return (order == SltScript.Order.GIVEN ? lines : lines.sorted()).toList();
    }

    /**
     * RisingWave writes the offset of a zone with its minutes, psql without if there are none; and parts of a second with three, six or nine
     * digits, psql without zeros behind them.
     */
    private static String normal(String text) {
        return Stream.of(text.strip().split("\\s+"))
                .map(word -> word.replaceFirst("(:\\d\\d(?:\\.\\d+)?[+-]\\d\\d):00$", "$1"))
                .map(word -> word.replaceFirst("(:\\d\\d\\.\\d*?[1-9])0+((?:[+-]\\d\\d(?::\\d\\d)*)?)$", "$1$2"))
                .collect(Collectors.joining(" "));
    }

    private List<List<String>> rows(SltScript.Step step) {
        Session session = sessions.computeIfAbsent(step.connection(), name -> {
            if (sessions.isEmpty()) {
                try (Session first = database.session()) {
                    drain(first, OWNER, new ArrayList<>());
                }
            }
            Session made = database.session("root");
            drain(made, TIMEOUT, new ArrayList<>());
            return made;
        });
        sessions.values().forEach(Session::flush);
        List<List<String>> rows = new ArrayList<>();
        drain(session, step.sql(), rows);
        return rows;
    }

    /** Rows as the session's client is shown them. */
    private static void drain(Session session, String sql, List<List<String>> rows) {
        try (StatementResults results = session.execute(sql)) {
            while (results.hasNext()) {
                if (results.next() instanceof StatementResult.Rows given) {
                    for (Optional<Batch> next = given.next(); next.isPresent(); next = given.next()) {
                        try (Batch batch = next.get()) {
                            for (int row = 0; row < batch.rowCount(); row++) {
                                int at = row;
                                rows.add(IntStream.range(0, batch.columnCount())
                                        .mapToObj(column -> ValueText.format(
                                                        batch,
                                                        column,
                                                        at,
                                                        session.settings().timeStyle())
                                                .map(text -> text.isEmpty() ? "(empty)" : text)
                                                .orElse("NULL"))
                                        .toList());
                            }
                        }
                    }
                }
            }
        }
    }

    @Override
    public void close() {
        sessions.values().forEach(Session::close);
    }
}

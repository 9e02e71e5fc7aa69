package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A page of documentation whose blocks of SQL have below each statement what becomes of it, in lines that begin with {@code --}: that it
 * works, a notice, or an error. {@code -Dmillrace.golden.update=true} writes them.
 */
record AnsweredPage(Path page) {
    private static final boolean UPDATE = Boolean.getBoolean("millrace.golden.update");
    private static final String ANSWER = "-- ";
    private static final String WORKS = ANSWER + "works";

    /** Executes the page from top to bottom. Nothing is a syntax error, and what is not there has a hint. */
    void check(TestDatabase database) throws IOException {
        List<String> lines = Files.readAllLines(page);
        List<String> answered = new ArrayList<>();
        List<String> statement = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        boolean inside = false;
        for (String line : lines) {
            if (line.startsWith("```")) {
                inside = line.equals("```sql");
                answered.add(line);
            } else if (!inside) {
                answered.add(line);
            } else if (!line.startsWith(ANSWER)) {
                statement.add(line);
                answered.add(line);
            } else if (!statement.isEmpty()) {
                answered.addAll(answers(database, String.join("\n", statement), problems));
                statement.clear();
            }
        }
        if (UPDATE) {
            Files.write(page, answered);
        }
        for (int i = 0; !UPDATE && i < Math.max(lines.size(), answered.size()); i++) {
            int line = i + 1;
            assertEquals(
                    i < lines.size() ? lines.get(i) : "",
                    i < answered.size() ? answered.get(i) : "",
                    () -> page + ":" + line + " (-Dmillrace.golden.update=true rewrites the file)");
        }
        assertEquals("", String.join("\n", problems));
    }

    /** What becomes of a statement in a session of its own: notices, and an error or that it works. */
    private static List<String> answers(TestDatabase database, String sql, List<String> problems) {
        List<String> answers = new ArrayList<>();
        try (Session session = database.database().session()) {
            session.onNotice(notice -> answers.add(ANSWER + "NOTICE: " + notice));
            try (StatementResults results = session.execute(sql, List.of())) {
                while (results.hasNext()) {
                    if (results.next() instanceof StatementResult.Rows rows) {
                        TestDatabase.texts(rows);
                    }
                }
            }
        } catch (MillraceException e) {
            String hint = e.hint().map(text -> " Hint: " + text).orElse("");
            String answer = e.sqlState().code() + ": " + e.getMessage() + "." + hint;
            boolean wrong = e.sqlState() == SqlState.SYNTAX_ERROR
                    || e.sqlState() == SqlState.INTERNAL_ERROR
                    || e.sqlState() == SqlState.FEATURE_NOT_SUPPORTED && hint.isEmpty();
            if (wrong) {
                problems.add(sql + " => " + answer);
            }
            answers.add(ANSWER + answer);
        }
        return answers.isEmpty() ? List.of(WORKS) : answers;
    }
}

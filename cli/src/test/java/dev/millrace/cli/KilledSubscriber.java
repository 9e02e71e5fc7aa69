package dev.millrace.cli;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A client of the subscription {@code told} to the view {@code sums}: it adds up what it is told, over all processes of a server that is
 * killed, and goes on behind the last whole epoch that it saw. One thread at a time.
 */
final class KilledSubscriber {
    private static final int MOST_FETCHES = 300; // of a tenth of a second each, if nothing comes

    private final Map<String, Integer> rows = new TreeMap<>();
    private String seen = ""; // the time of an epoch
    private long epochs;

    long epochs() {
        return epochs;
    }

    /** Reads until the server is dead. */
    void follow(ServerProcess server) {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            declare(statement);
            while (true) {
                fetch(statement);
            }
        } catch (SQLException dead) {
            return;
        }
    }

    /** What it was told adds up to the answer. While nobody writes. */
    void check(ServerProcess server, String seed) throws SQLException {
        try (Connection connection = server.connect();
                Statement statement = connection.createStatement()) {
            List<String> answer = new ArrayList<>();
            try (ResultSet all = statement.executeQuery("SELECT client, c, s FROM sums")) {
                while (all.next()) {
                    answer.add(all.getString(1) + "|" + all.getString(2) + "|" + all.getString(3));
                }
            }
            answer.sort(null);
            declare(statement);
            for (int fetches = 0; !List.copyOf(rows.keySet()).equals(answer); fetches++) {
                assertTrue(fetches < MOST_FETCHES, () -> "told " + rows + " of " + answer + ", " + seed);
                fetch(statement);
            }
            assertTrue(rows.values().stream().allMatch(count -> count == 1), () -> "twice: " + rows + ", " + seed);
            statement.execute("CLOSE told_now");
        }
    }

    private void declare(Statement statement) throws SQLException {
        statement.execute("DECLARE told_now CURSOR WITH HOLD FOR SUBSCRIBE TO told WITH (PROGRESS)"
                + (seen.isEmpty() ? "" : " AS OF '" + seen + "'"));
    }

    /** Takes whole epochs only: what comes before the row that ends one may be given again. */
    private void fetch(Statement statement) throws SQLException {
        List<String> open = new ArrayList<>();
        boolean whole = false;
        while (!whole) {
            boolean any = false;
            try (ResultSet changes = statement.executeQuery("FETCH 1 FROM told_now WITH (timeout = '100ms')")) {
                while (changes.next()) {
                    any = true;
                    String row = changes.getString(3) + "|" + changes.getString(4) + "|" + changes.getString(5);
                    switch (changes.getString(1)) {
                        case "+" -> open.add("+" + row);
                        case "-" -> open.add("-" + row);
                        default -> {
                            seen = changes.getString(2);
                            whole = true;
                        }
                    }
                }
            }
            if (!any && open.isEmpty()) {
                return;
            }
        }
        epochs++;
        for (String change : open) {
            rows.merge(change.substring(1), change.startsWith("+") ? 1 : -1, Integer::sum);
            rows.remove(change.substring(1), 0);
        }
    }
}

package dev.millrace.server.pgwire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.group.QueryGroups;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Definitions that a client sends one behind the other are made together, and answered as if they were not. */
@Timeout(60)
class DefinitionsAheadTest {
    @TempDir
    Path folder;

    private static byte[] create(String name, int above) {
        return RawClient.query(
                "CREATE CONTINUOUS QUERY " + name + " AS SELECT n FROM s WHERE d = 'x' AND n > " + above);
    }

    private static String answer(RawClient client) throws IOException {
        String answer = "";
        for (RawClient.Message next = client.next(); next.type() != 'Z'; next = client.next()) {
            answer = next.type() == 'E' ? next.field('C') : next.type() == 'C' ? "done" : answer;
        }
        return answer;
    }

    private static RawClient client(PgServer server) throws IOException {
        RawClient client = new RawClient(server.port());
        client.send(RawClient.startup("user", "millrace"));
        client.next('Z');
        return client;
    }

    @Test
    void eachIsAnsweredForItself() throws IOException {
        try (Database database =
                        Database.open(DatabaseOptions.defaults().withWorkers(2).withData(folder));
                PgServer server = PgServer.listen(database, PgServerOptions.local(0));
                RawClient client = client(server)) {
            client.send(RawClient.query("CREATE STREAM s (d TEXT, n INT)"));
            assertEquals("done", answer(client));
            for (int i = 0; i < QueryGroups.APART + 2; i++) {
                client.send(create("first_" + i, i));
                assertEquals("done", answer(client));
            }
            List<byte[]> messages = new ArrayList<>();
            List<String> expected = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                switch (i % 10) {
                    case 3 -> { // the one before it has the name
                        messages.add(create("q" + (i - 1), i));
                        expected.add("42P07");
                    }
                    case 5 -> {
                        messages.add(RawClient.query("DROP CONTINUOUS QUERY q" + (i - 1)));
                        expected.add("done");
                    }
                    case 6 -> {
                        messages.add(create("q" + (i - 2), -i));
                        expected.add("done");
                    }
                    case 8 -> {
                        messages.add(RawClient.query("CREATE CONTINUOUS QUERY q AS SELECT n FROM nothing WHERE n > 1"));
                        expected.add("42P01");
                    }
                    default -> {
                        messages.add(create("q" + i, i));
                        expected.add("done");
                    }
                }
            }
            client.send(messages.toArray(byte[][]::new));
            for (int i = 0; i < expected.size(); i++) {
                assertEquals(expected.get(i), answer(client), "message " + i);
            }
            assertTrue(database.catalog().object("q299").isPresent());
        }
        try (Database database =
                Database.open(DatabaseOptions.defaults().withWorkers(2).withData(folder))) {
            assertEquals(
                    1 + QueryGroups.APART + 2 + 6 * 30,
                    database.catalog().objects().size());
            assertTrue(
                    database.catalog().object("q4").orElseThrow().definition().endsWith("> -6"));
        }
    }
}

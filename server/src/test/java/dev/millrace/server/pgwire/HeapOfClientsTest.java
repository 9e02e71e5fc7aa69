package dev.millrace.server.pgwire;

import static dev.millrace.server.pgwire.RawClient.bind;
import static dev.millrace.server.pgwire.RawClient.message;
import static dev.millrace.server.pgwire.RawClient.parse;
import static dev.millrace.server.pgwire.RawClient.query;
import static dev.millrace.server.pgwire.RawClient.sync;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.server.heap.HeapShare;
import dev.millrace.testing.time.Eventually;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What clients send and have kept takes a part of the Java heap, and no more. */
@Timeout(120)
class HeapOfClientsTest {
    private static final String MEGABYTE = "x".repeat(1 << 20);

    private final TestServer server = new TestServer();
    private RawClient client;

    @BeforeEach
    void begin() throws IOException {
        client = newClient();
    }

    private RawClient newClient() throws IOException {
        RawClient made = new RawClient(server.port());
        made.send(RawClient.startup("user", "millrace"));
        made.next('Z');
        return made;
    }

    @AfterEach
    void stop() throws IOException {
        client.close();
        server.close();
    }

    /** Codes of errors and tags, up to ReadyForQuery. */
    private static List<String> answers(RawClient client) throws IOException {
        List<String> answers = new ArrayList<>();
        for (RawClient.Message next = client.next(); next.type() != 'Z'; next = client.next()) {
            if (next.type() == 'E') {
                answers.add(next.field('C'));
            } else if (next.type() == 'C') {
                answers.add(new String(next.body(), 0, next.body().length - 1, StandardCharsets.US_ASCII));
            }
        }
        return answers;
    }

    @Test
    void preparedStatementsAreRefusedBeforeTheyFillTheHeap() throws IOException {
        List<String> refused = List.of();
        int kept = 0;
        while (refused.isEmpty() && kept < 5_000) {
            client.send(parse("s" + kept, "SELECT '" + kept + MEGABYTE + "'"), sync());
            refused = answers(client);
            kept += refused.isEmpty() ? 1 : 0;
        }
        assertEquals(List.of("53200"), refused);
        assertTrue(kept > 10, kept + " were kept");
        client.send(query("SELECT 1"));
        assertEquals(List.of("SELECT 1"), answers(client));
        client.send(query("PREPARE another AS SELECT '" + MEGABYTE.repeat(2) + "'"));
        assertEquals(List.of("53200"), answers(client));
        client.send(query("DEALLOCATE s3"));
        assertEquals(List.of("DEALLOCATE"), answers(client));
        client.send(parse("again", "SELECT '" + MEGABYTE + "'"), sync());
        assertEquals(List.of(), answers(client));
        client.send(query("DEALLOCATE ALL"));
        assertEquals(List.of("DEALLOCATE ALL"), answers(client));
        client.send(parse("large", "SELECT '" + MEGABYTE.repeat(8) + "'"), sync());
        assertEquals(List.of(), answers(client));
    }

    @Test
    void soAreTheValuesOfPortals() throws IOException {
        client.send(parse("s", "SELECT $1::text"), query("BEGIN"));
        assertEquals(List.of("BEGIN"), answers(client));
        List<String> refused = List.of();
        int kept = 0;
        while (refused.isEmpty() && kept < 5_000) {
            client.send(bind("p" + kept, "s", MEGABYTE), sync());
            refused = answers(client);
            kept++;
        }
        assertEquals(List.of("53200"), refused);
        client.send(query("ROLLBACK"));
        assertEquals(List.of("ROLLBACK"), answers(client));
        client.send(query("BEGIN"), bind("p", "s", MEGABYTE.repeat(4)), sync());
        assertEquals(List.of("BEGIN"), answers(client));
        assertEquals(List.of(), answers(client));
    }

    @Test
    void aLargeMessageWithoutRoomIsAnErrorOfItsStatement() throws IOException {
        HeapShare room = server.database().roomForMessages();
        HeapShare.Held all = room.tryTake(room.mostBytes()).orElseThrow();
        client.send(query("SELECT '" + MEGABYTE + "'"));
        assertEquals(List.of("53200"), answers(client));
        client.send(parse("", "SELECT '" + MEGABYTE + "'"), bind("", ""), sync());
        assertEquals(List.of("53200"), answers(client));
        client.send(query("CREATE TABLE t (a TEXT)"), query("COPY t FROM STDIN"));
        assertEquals(List.of("CREATE TABLE"), answers(client));
        client.next('G');
        byte[] piece = message('d', out -> out.write((MEGABYTE + "\n").getBytes(StandardCharsets.US_ASCII)));
        client.send(piece, piece, message('c', out -> {}));
        assertEquals(List.of("53200"), answers(client));
        client.send(query("SELECT count(*) FROM t"));
        assertEquals(List.of("SELECT 1"), answers(client));
        all.close();
        client.send(query("COPY t FROM STDIN"), piece, piece, message('c', out -> {}));
        client.next('G');
        assertEquals(List.of("COPY 2"), answers(client));
        client.send(query("SELECT '" + MEGABYTE + "'"));
        assertEquals(List.of("SELECT 1"), answers(client));
        Eventually.holds("nothing is under way", () -> room.takenBytes() == 0);
    }

    @Test
    void aClientThatGoesGivesBackWhatItHad() throws IOException {
        HeapShare room = server.database().roomForMessages();
        try (RawClient other = newClient()) {
            byte[] whole = query("SELECT '" + MEGABYTE + "'");
            byte[] half = new byte[whole.length / 2];
            System.arraycopy(whole, 0, half, 0, half.length);
            other.send(half);
            Eventually.holds("half of it has come", () -> room.takenBytes() > 0);
        }
        Eventually.holds("it is gone", () -> room.takenBytes() == 0);
    }
}

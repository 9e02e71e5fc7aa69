package dev.millrace.server.pgwire;

import static dev.millrace.testing.jdbc.Statements.rows;
import static dev.millrace.testing.jdbc.Statements.run;
import static dev.millrace.testing.jdbc.Statements.state;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.StringReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.PGConnection;

/** Subscriptions over the wire: progress, going on where a client was, and clients that are too slow. */
@Tag("long")
@Timeout(120)
class SubscribeTest {
    private final TestServer server = new TestServer();

    @AfterEach
    void stop() {
        server.close();
    }

    private static String time(String row) {
        return row.split("\\|")[1];
    }

    private static String withoutTime(String row) {
        return row.replace("|" + time(row), "");
    }

    @Test
    void aClientGoesOnWhereItWas() throws SQLException {
        try (Connection writer = server.connect()) {
            run(
                    writer,
                    "CREATE STREAM s (k TEXT)",
                    "CREATE MATERIALIZED VIEW mv AS SELECT k, count(*) AS n FROM s GROUP BY k");
            run(writer, "INSERT INTO s VALUES ('before')");
            String last;
            try (Connection first = server.connect()) {
                run(first, "DECLARE c CURSOR FOR SUBSCRIBE TO mv WITH (SNAPSHOT, PROGRESS)");
                run(writer, "INSERT INTO s VALUES ('a')");
                List<String> seen = new ArrayList<>();
                while (seen.stream().noneMatch(row -> row.contains("|a|1"))) {
                    seen.addAll(rows(first, "FETCH 100 FROM c WITH (timeout = '1s')"));
                }
                seen.addAll(rows(first, "FETCH 100 FROM c WITH (timeout = '100ms')"));
                assertEquals("+|before|1", withoutTime(seen.get(0)));
                assertEquals("=|null|null", withoutTime(seen.get(1)));
                assertEquals(time(seen.get(0)), time(seen.get(1)));
                last = time(seen.get(seen.size() - 1));
            }
            run(writer, "INSERT INTO s VALUES ('b')", "INSERT INTO s VALUES ('a')");
            try (Connection second = server.connect()) {
                run(second, "DECLARE c CURSOR FOR SUBSCRIBE TO mv AS OF '" + last + "'");
                List<String> missed = new ArrayList<>();
                while (missed.size() < 3) {
                    missed.addAll(rows(second, "FETCH 100 FROM c WITH (timeout = '1s')"));
                }
                assertEquals(
                        List.of("+|b|1", "-|a|1", "+|a|2"),
                        missed.stream()
                                .map(SubscribeTest::withoutTime)
                                .sorted()
                                .sorted((x, y) -> x.contains("b") ? -1 : y.contains("b") ? 1 : y.compareTo(x))
                                .toList());
                assertTrue(time(missed.get(0)).compareTo(last) > 0);
                run(writer, "INSERT INTO s VALUES ('c')");
                assertEquals("+|c|1", withoutTime(rows(second, "FETCH 1 FROM c").get(0)));
                assertEquals(List.of(), rows(second, "FETCH 10 FROM c WITH (timeout = '50ms')"));
                assertEquals(
                        "72000", state(second, "DECLARE d CURSOR FOR SUBSCRIBE TO mv AS OF '2020-01-01 00:00:00+00'"));
                assertEquals(
                        "0A000",
                        state(second, "DECLARE d CURSOR FOR SUBSCRIBE TO mv WITH (SNAPSHOT) AS OF '" + last + "'"));
                assertEquals("0A000", state(second, "DECLARE d CURSOR FOR SUBSCRIBE TO s AS OF '" + last + "'"));
            }
        }
    }

    @Test
    void aHistoryThatIsTooLongForgetsItsBeginning() throws Exception {
        try (Connection writer = server.connect();
                Connection reader = server.connect()) {
            run(writer, "CREATE STREAM s (k TEXT)", "CREATE MATERIALIZED VIEW mv AS SELECT k FROM s");
            run(reader, "DECLARE c CURSOR FOR SUBSCRIBE TO mv WITH (PROGRESS)");
            run(writer, "INSERT INTO s VALUES ('first')");
            String first = time(rows(reader, "FETCH 1 FROM c").get(0));
            run(reader, "CLOSE c", "DECLARE c CURSOR FOR SUBSCRIBE TO mv AS OF '" + first + "'", "CLOSE c");
            String line = "x".repeat(1000) + "\n";
            for (int i = 0; i < 10; i++) {
                writer.unwrap(PGConnection.class)
                        .getCopyAPI()
                        .copyIn("COPY s FROM STDIN", new StringReader(line.repeat(3_000)));
                run(writer, "FLUSH");
            }
            assertEquals("72000", state(reader, "DECLARE c CURSOR FOR SUBSCRIBE TO mv AS OF '" + first + "'"));
        }
    }

    @Test
    void whoIsTooSlowIsToldWhatWasDropped() throws Exception {
        try (Connection writer = server.connect();
                Connection reader = server.connect()) {
            run(writer, "CREATE STREAM s (v BIGINT)", "CREATE MATERIALIZED VIEW mv AS SELECT v FROM s");
            run(reader, "DECLARE c CURSOR FOR SUBSCRIBE TO mv WITH (on_slow = 'drop_oldest', buffer = '32kB')");
            int sent = 0;
            for (int i = 0; i < 20; i++) {
                StringBuilder lines = new StringBuilder();
                for (int row = 0; row < 1000; row++) {
                    lines.append(sent++).append('\n');
                }
                writer.unwrap(PGConnection.class)
                        .getCopyAPI()
                        .copyIn("COPY s FROM STDIN", new StringReader(lines.toString()));
                run(writer, "FLUSH");
            }
            assertEquals(List.of("20000"), rows(writer, "SELECT count(*) FROM mv")); // the query never waited
            List<String> got = new ArrayList<>();
            try (Statement statement = reader.createStatement();
                    ResultSet rows = statement.executeQuery("FETCH ALL FROM c WITH (timeout = '500ms')")) {
                assertEquals("dropped", rows.getMetaData().getColumnName(3));
                while (rows.next()) {
                    got.add(rows.getString("op") + rows.getString("dropped") + " " + rows.getString("v"));
                }
                assertTrue(statement.getWarnings().getMessage().contains("rows were dropped"));
            }
            assertTrue(got.get(0).startsWith("!"), got.get(0));
            long dropped = Long.parseLong(got.get(0).substring(1, got.get(0).indexOf(' ')));
            assertEquals(20_000, dropped + got.size() - 1);
            assertEquals("+null 19999", got.get(got.size() - 1));
            assertEquals("22023", state(reader, "SUBSCRIBE TO mv WITH (on_slow = 'wait')"));
        }
    }

    @Test
    void whoDoesNotReadIsCutOffAndNobodyElseWaits() throws Exception {
        try (Connection writer = server.connect();
                Socket silent = new Socket("localhost", server.port())) {
            run(writer, "CREATE STREAM s (v TEXT)", "CREATE MATERIALIZED VIEW mv AS SELECT count(*) AS n FROM s");
            run(writer, "CREATE CONTINUOUS QUERY q AS SELECT v FROM s");
            DataOutputStream out = new DataOutputStream(silent.getOutputStream());
            ByteArrayOutputStream startup = new ByteArrayOutputStream();
            DataOutputStream packet = new DataOutputStream(startup);
            packet.writeInt(3 << 16);
            packet.write("user\0millrace\0\0".getBytes(StandardCharsets.US_ASCII));
            out.writeInt(startup.size() + 4);
            startup.writeTo(out);
            byte[] sql = "SUBSCRIBE TO q WITH (buffer = '1MB')\0".getBytes(StandardCharsets.US_ASCII);
            out.writeByte('Q');
            out.writeInt(sql.length + 4);
            out.write(sql);
            out.flush();
            DataInputStream in = new DataInputStream(silent.getInputStream());
            while (in.readByte() != 'T') { // it has begun when its columns are told
                in.skipNBytes(in.readInt() - 4);
            }
            String lines = ("y".repeat(1000) + "\n").repeat(4_000);
            for (int i = 0; i < 10; i++) {
                writer.unwrap(PGConnection.class).getCopyAPI().copyIn("COPY s FROM STDIN", new StringReader(lines));
            }
            assertEquals(List.of("40000"), rows(writer, "SELECT n FROM mv"));
            run(writer, "FLUSH"); // nothing more is to come for the silent one
            silent.setSoTimeout(60_000);
            byte[] all = in.readAllBytes(); // to the end: the connection was cut
            assertTrue(all.length < 40_000_000, all.length + " bytes");
            String tail = new String(
                    all, Math.max(0, all.length - 400), Math.min(400, all.length), StandardCharsets.US_ASCII);
            assertTrue(tail.contains("53400") || all.length > 100_000, tail);
        }
    }
}

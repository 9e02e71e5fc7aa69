package dev.millrace.benchmarks.wire;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Rows in and out and statements, against one server. In Millrace rows go into a stream with a windowed view on it; in
 * PostgreSQL into a table.
 */
final class WireBenchmark {
    private static final int PIECE_ROWS = 1000; // of a COPY
    private static final int BATCH = 100; // rows of an INSERT
    private static final int CLIENTS = 64;
    private static final int SELECTING = 8;

    private final Peer peer;
    private final String user;
    private final boolean postgresql;
    private final long rows;
    private final double seconds;
    private final Consumer<ResultLine> out;

    /**
     * A benchmark of a server.
     *
     * @param rows of a COPY
     * @param seconds for which statements are repeated
     */
    WireBenchmark(Peer peer, String user, boolean postgresql, long rows, double seconds, Consumer<ResultLine> out) {
        this.peer = peer;
        this.user = user;
        this.postgresql = postgresql;
        this.rows = rows;
        this.seconds = seconds;
        this.out = out;
    }

    void run(WireCase what) throws IOException, InterruptedException {
        switch (what) {
            case COPY_IN_TEXT -> copyIn(false);
            case COPY_IN_BINARY -> copyIn(true);
            case COPY_OUT -> copyOut();
            case INSERT_100 -> {
                inserts(BATCH, 1);
                inserts(BATCH, CLIENTS);
            }
            case INSERT_1 -> {
                inserts(1, 1);
                inserts(1, CLIENTS);
            }
            case SELECT_1 -> {
                selects(1);
                selects(SELECTING);
            }
            case SUBSCRIBE -> subscribe();
            case LATENCY -> {
                new Latency(peer, user, seconds).run(1_000).forEach(out);
                new Latency(peer, user, seconds).run(10_000).forEach(out);
            }
            case CROWD -> out.accept(new Crowd(peer, user, seconds).run());
        }
    }

    private WireClient client() throws IOException {
        return new WireClient(peer.port(), user);
    }

    /** Where rows go: anew for each case. */
    private void create(WireClient client) throws IOException {
        if (postgresql) {
            Readings.createTable(client, "wire_readings");
            return;
        }
        Readings.createStream(client, "wire_readings");
    }

    private void copyIn(boolean binary) throws IOException {
        List<byte[]> pieces = new ArrayList<>();
        for (long row = 0; row < rows; row += PIECE_ROWS) {
            long end = Math.min(rows, row + PIECE_ROWS);
            pieces.add(binary ? Readings.binary(row, end) : Readings.text(row, end));
        }
        for (int round = 0; round < 3; round++) { // the last one counts: the server's code is compiled by then
            try (WireClient client = client()) {
                create(client);
                double cpu = peer.cpuSeconds().orElse(Double.NaN);
                long start = System.nanoTime();
                client.copyIn("COPY wire_readings FROM STDIN" + (binary ? " (FORMAT binary)" : ""));
                if (binary) {
                    client.copyData(Readings.binaryHeader(), Readings.binaryHeader().length);
                }
                for (byte[] piece : pieces) {
                    client.copyData(piece, piece.length);
                }
                if (binary) {
                    client.copyData(Readings.binaryTrailer(), 2);
                }
                client.copyDone();
                double took = (System.nanoTime() - start) / 1e9;
                if (round == 2) {
                    report(new ResultLine(binary ? "copy_in_binary" : "copy_in_text", 1), "rows", rows, took, cpu);
                }
            }
        }
    }

    private void copyOut() throws IOException {
        try (WireClient client = client()) {
            client.run("DROP TABLE IF EXISTS wire_table");
            client.run("CREATE TABLE wire_table (" + Readings.COLUMNS + ")");
            client.copyIn("COPY wire_table FROM STDIN");
            for (long row = 0; row < rows; row += PIECE_ROWS) {
                byte[] piece = Readings.text(row, Math.min(rows, row + PIECE_ROWS));
                client.copyData(piece, piece.length);
            }
            client.copyDone();
            for (int round = 0; round < 3; round++) {
                double cpu = peer.cpuSeconds().orElse(Double.NaN);
                long start = System.nanoTime();
                client.run("COPY (SELECT * FROM wire_table) TO STDOUT");
                double took = (System.nanoTime() - start) / 1e9;
                if (round == 2) {
                    report(new ResultLine("copy_out_text", 1), "rows", rows, took, cpu);
                }
            }
            client.run("DROP TABLE wire_table");
        }
    }

    private void report(ResultLine result, String what, long count, double took, double cpuBefore) {
        result.rate(what, count, took);
        peer.cpuSeconds().ifPresent(cpu -> result.with("server_cpu_us_per_" + what, (cpu - cpuBefore) / count * 1e6));
        out.accept(result);
    }

    private void inserts(int batch, int clients) throws IOException, InterruptedException {
        try (WireClient client = client()) {
            create(client);
        }
        repeat(
                "insert_" + batch,
                clients,
                batch,
                "rows",
                number -> Readings.insert("wire_readings", number * batch, batch));
    }

    private void selects(int clients) throws IOException, InterruptedException {
        repeat("select_1", clients, 1, "statements", number -> "SELECT 1");
    }

    private interface Statements {
        String sql(long number);
    }

    /** Each client sends statements one after the other; a third of the time more goes by before counting begins. */
    private void repeat(String name, int clients, int weight, String what, Statements statements)
            throws IOException, InterruptedException {
        long total = new Repetition(this::client, clients, seconds)
                .count((client, number) -> client.run(statements.sql(number)));
        out.accept(new ResultLine(name, clients).rate(what, total * weight, seconds));
    }

    /** One subscriber of all rows of a stream, as fast as the generator makes them. */
    private void subscribe() throws IOException {
        try (WireClient client = client();
                WireClient other = client()) {
            client.run("DROP CONTINUOUS QUERY IF EXISTS wire_all");
            client.run("DROP STREAM IF EXISTS wire_made");
            client.run("CREATE STREAM wire_made (id BIGINT, n INTEGER, ts TIMESTAMP) WITH (connector = 'datagen')");
            client.run("CREATE CONTINUOUS QUERY wire_all AS SELECT id, n FROM wire_made");
            client.ask("SUBSCRIBE TO wire_all");
            client.rows(rows);
            double cpu = peer.cpuSeconds().orElse(Double.NaN);
            long start = System.nanoTime();
            client.rows(rows);
            double took = (System.nanoTime() - start) / 1e9;
            report(new ResultLine("subscribe", 1), "rows", rows, took, cpu);
            other.run("DROP CONTINUOUS QUERY wire_all CASCADE");
        }
    }
}

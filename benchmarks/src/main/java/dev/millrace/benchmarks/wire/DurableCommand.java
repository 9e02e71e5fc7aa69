package dev.millrace.benchmarks.wire;

import dev.millrace.benchmarks.storage.Folders;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code ./millrace bench durable DIR}: rows that are on disk before their client hears of them, beside PostgreSQL, by turns. */
@Command(
        name = "durable",
        description =
                "Inserts rows that are on disk when they are acknowledged, into Millrace and into PostgreSQL by turns, and into"
                        + " a Millrace in memory; one JSON line per case, in rows per second.",
        mixinStandardHelpOptions = true)
public final class DurableCommand implements Callable<Integer> {
    private static final int MANY = 64; // clients
    private static final int BATCH = 100; // rows of an INSERT
    private static final int COPY_ROWS = 10_000;
    private static final int COPY_MESSAGE_ROWS = 1_000;
    private static final String DURABLE = "durable";
    private static final String MEMORY = "memory";
    private static final String MILLRACE = "millrace";
    private static final String POSTGRESQL = "postgresql";

    @Parameters(
            paramLabel = "DIR",
            description = "A directory on the disk to be measured; new ones are made in it, and removed.")
    private Path directory;

    @Option(
            names = "--postgresql",
            paramLabel = "BIN",
            description =
                    "Where initdb and postgres are (default: where PATH finds them; without them, only Millrace is measured).")
    private @Nullable Path postgresql; // null: looked for

    @Option(
            names = "--rounds",
            defaultValue = "2",
            description = "In which each server has its turn (default: ${DEFAULT-VALUE}).")
    private int rounds;

    @Option(
            names = "--seconds",
            defaultValue = "3",
            description = "Of a turn, a third more to get warm (default: ${DEFAULT-VALUE}).")
    private double seconds;

    @Option(
            names = "--only",
            paramLabel = "PATTERN",
            defaultValue = ".*",
            description =
                    "Only cases whose name and clients this finds, as 'insert_1_stream 64' (a regular expression).")
    private Pattern only;

    /** What a client does once; returns how many rows that were. */
    private enum Way {
        INSERT_1,
        INSERT_100,
        COPY_IN;

        long rows() {
            return this == INSERT_1 ? 1 : this == INSERT_100 ? BATCH : COPY_ROWS;
        }
    }

    /** A server and the role to ask it as. */
    private record Server(Peer peer, String user) {
        WireClient client() throws IOException {
            return new WireClient(peer.port(), user);
        }
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Optional<PostgresqlProgram> program = PostgresqlProgram.find(Optional.ofNullable(postgresql));
        if (program.isEmpty()) {
            System.err.println("PostgreSQL is not measured: there is no initdb and postgres in PATH, see --postgresql");
        }
        Path place = Files.createTempDirectory(directory, "millrace-durable");
        try (Peer durable = Peer.start(
                        2 * MANY, List.of("--data", place.resolve("data").toString()));
                Peer memory = Peer.start(2 * MANY, List.of());
                PostgresqlServer other = PostgresqlServer.start(program, directory, 2 * MANY)) {
            Map<String, Server> servers = new LinkedHashMap<>();
            servers.put(DURABLE, new Server(durable, MILLRACE));
            servers.put(MEMORY, new Server(memory, MILLRACE));
            other.peer().ifPresent(peer -> servers.put(POSTGRESQL, new Server(peer, "postgres")));
            for (Way way : Way.values()) { // the servers' code is compiled after that
                turn(new Server(durable, MILLRACE), way, MANY, false, false);
                turn(new Server(memory, MILLRACE), way, MANY, false, false);
            }
            for (boolean stream : new boolean[] {false, true}) {
                for (Way way : Way.values()) {
                    for (int clients : new int[] {1, MANY}) {
                        if (only.matcher(name(way, stream) + " " + clients).find()) {
                            System.out.println(measure(servers, way, clients, stream));
                        }
                    }
                }
            }
        } finally {
            Folders.remove(place);
        }
        return 0;
    }

    private ResultLine measure(Map<String, Server> servers, Way way, int clients, boolean stream)
            throws IOException, InterruptedException {
        Map<String, Double> rates = new LinkedHashMap<>();
        for (int round = 0; round < rounds; round++) {
            for (Map.Entry<String, Server> server : servers.entrySet()) {
                double rate = turn(
                        server.getValue(), way, clients, stream, server.getKey().equals(POSTGRESQL));
                rates.merge(server.getKey(), rate / rounds, Double::sum);
            }
        }
        ResultLine line = new ResultLine(name(way, stream), clients);
        rates.forEach((name, rate) -> line.with(name, Math.round(rate)));
        if (rates.containsKey(POSTGRESQL)) {
            line.with(
                    "durable_to_postgresql",
                    rates.getOrDefault(DURABLE, 0.0) / rates.getOrDefault(POSTGRESQL, Double.NaN));
        }
        return line.with(
                "durable_to_memory", rates.getOrDefault(DURABLE, 0.0) / rates.getOrDefault(MEMORY, Double.NaN));
    }

    private static String name(Way way, boolean stream) {
        return way.name().toLowerCase(Locale.ROOT) + (stream ? "_stream" : "_table");
    }

    private double turn(Server server, Way way, int clients, boolean stream, boolean isPostgresql)
            throws IOException, InterruptedException {
        boolean isTable = isPostgresql || !stream;
        String relation = isTable ? "wire_rows" : "wire_readings";
        try (WireClient client = server.client()) {
            if (isTable) {
                Readings.createTable(client, relation);
            } else {
                Readings.createStream(client, relation);
            }
        }
        byte[][] messages = new byte[COPY_ROWS / COPY_MESSAGE_ROWS][];
        for (int i = 0; i < messages.length; i++) {
            messages[i] = Readings.text((long) i * COPY_MESSAGE_ROWS, (i + 1L) * COPY_MESSAGE_ROWS);
        }
        Repetition repetition = new Repetition(server::client, clients, seconds);
        long times = repetition.count((client, number) -> {
            if (way == Way.COPY_IN) {
                client.copyIn("COPY " + relation + " FROM STDIN");
                for (byte[] message : messages) {
                    client.copyData(message, message.length);
                }
                client.copyDone();
            } else {
                client.run(Readings.insert(relation, number * way.rows(), (int) way.rows()));
            }
        });
        return times * way.rows() / seconds;
    }
}

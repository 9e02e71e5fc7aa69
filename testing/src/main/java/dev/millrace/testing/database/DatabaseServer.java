package dev.millrace.testing.database;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * A database of its own in a folder of its own, which goes with it. It can be stopped, or killed, and begun again at the same address. All
 * calls wait for a minute at most. Needs a JDBC driver on the test's class path. Owned by one thread.
 */
public final class DatabaseServer implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 60;
    private static final Path POSTGRESQL_HOME = Path.of("/usr/lib/postgresql");

    private interface Kind {
        /** Makes the files; once. */
        void make(Path folder) throws IOException;

        /** What runs it. */
        List<String> command(Path folder, int port);

        String url(int port);

        String user();

        /** By which it ends in order, without that clients have to go. */
        String endSignal();
    }

    private final Kind kind;
    private final Path folder;
    private final int port;
    private Optional<Process> process = Optional.empty(); // while it runs

    private DatabaseServer(Kind kind) {
        this.kind = kind;
        try {
            this.folder = Files.createTempDirectory("millrace-database");
            try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                this.port = socket.getLocalPort();
            }
            kind.make(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        begin();
    }

    // ---- which there are -------------------------------------------------------------------------------------------

    /** Where PostgreSQL's programs are, the newest; empty if it is not installed. */
    private static Optional<Path> postgresPrograms() {
        if (!Files.isDirectory(POSTGRESQL_HOME)) {
            return Optional.empty();
        }
        try (Stream<Path> versions = Files.list(POSTGRESQL_HOME)) {
            return versions.map(version -> version.resolve("bin"))
                    .filter(bin -> Files.isExecutable(bin.resolve("postgres")))
                    .max(Comparator.naturalOrder());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static Optional<Path> program(String name) {
        return Stream.of("/usr/sbin", "/usr/bin", "/usr/local/bin")
                .map(folder -> Path.of(folder, name))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /** Whether PostgreSQL is installed. */
    public static boolean hasPostgres() {
        return postgresPrograms().isPresent();
    }

    /** Whether MariaDB is installed. */
    public static boolean hasMariaDb() {
        return program("mariadbd").isPresent() && program("mariadb-install-db").isPresent();
    }

    /** A PostgreSQL that runs, whose log can be followed. */
    public static DatabaseServer postgres() {
        return new DatabaseServer(new Postgres(postgresPrograms().orElseThrow()));
    }

    /** A MariaDB that runs, whose log can be followed, with a database {@code test}. */
    public static DatabaseServer mariaDb() {
        DatabaseServer server = new DatabaseServer(new MariaDb(
                program("mariadbd").orElseThrow(), program("mariadb-install-db").orElseThrow()));
        server.run("CREATE DATABASE IF NOT EXISTS test");
        return server;
    }

    // ---- what can be done with it ----------------------------------------------------------------------------------

    public int port() {
        return port;
    }

    /** Its JDBC address. */
    public String url() {
        return kind.url(port);
    }

    /** Who may do anything, without a password. */
    public String user() {
        return kind.user();
    }

    /** A connection, which the caller closes. */
    public Connection connect() throws SQLException {
        return DriverManager.getConnection(url(), user(), "");
    }

    /** Executes statements one by one, each in a transaction of its own. */
    public void run(String... statements) {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    /** The rows of a query, in its order, values between bars, NULL as nothing. */
    public List<String> rows(String sql) {
        List<String> rows = new ArrayList<>();
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet results = statement.executeQuery(sql)) {
            int columns = results.getMetaData().getColumnCount();
            while (results.next()) {
                StringBuilder row = new StringBuilder();
                for (int column = 1; column <= columns; column++) {
                    String value = results.getString(column);
                    row.append(column == 1 ? "" : "|").append(value == null ? "" : value);
                }
                rows.add(row.toString());
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
        return rows;
    }

    /** Runs it, again after {@link #stop} or {@link #kill}; returns when it can be spoken to. */
    public void begin() {
        Process begun = process();
        long since = System.nanoTime();
        while (true) {
            try (Connection connection = connect()) {
                return;
            } catch (SQLException e) {
                if (System.nanoTime() - since > TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS)) {
                    throw new IllegalStateException(
                            "the database does not answer: " + e.getMessage() + "; it said: " + said());
                }
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
                if (!begun.isAlive()) { // it would not begin while processes of the one that was killed are there
                    begun = process();
                }
            }
        }
    }

    private Process process() {
        try {
            Process begun = new ProcessBuilder(kind.command(folder, port))
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(
                            folder.resolve("output").toFile()))
                    .start();
            process = Optional.of(begun);
            return begun;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String said() {
        try {
            return Files.readString(folder.resolve("output"));
        } catch (IOException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /** Ends it in order; its files stay. */
    public void stop() {
        process.ifPresent(running -> signal(running, kind.endSignal()));
        awaitEnd();
    }

    /** Ends it as a crash does, with those who answer its clients; its files stay. */
    public void kill() {
        process.ifPresent(running -> {
            List<String> command = new ArrayList<>(List.of("kill", "-KILL"));
            Stream.concat(Stream.of(running.toHandle()), running.descendants())
                    .forEach(each -> command.add(Long.toString(each.pid())));
            execute(command, false);
        });
        awaitEnd();
    }

    /** The database itself is a child of what became another user, if there is such a one. */
    private static void signal(Process running, String signal) {
        List<ProcessHandle> children = running.children().toList();
        List<ProcessHandle> told =
                children.isEmpty() || !running.info().command().orElse("").endsWith("runuser")
                        ? List.of(running.toHandle())
                        : children;
        for (ProcessHandle each : told) {
            execute(List.of("kill", "-" + signal, Long.toString(each.pid())), false);
        }
    }

    private void awaitEnd() {
        process.ifPresent(running -> {
            try {
                if (!running.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                    running.destroyForcibly();
                    throw new IllegalStateException("the database does not end");
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
        });
        process = Optional.empty();
    }

    @Override
    public void close() {
        try {
            kill();
        } finally {
            execute(List.of("rm", "-rf", folder.toString()), false);
        }
    }

    // ---- how they are begun ----------------------------------------------------------------------------------------

    private static void execute(List<String> command, boolean mustSucceed) {
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String said = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
            if (process.waitFor() != 0 && mustSucceed) {
                throw new IllegalStateException(String.join(" ", command) + ": " + said);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private static boolean isRoot() {
        return "root".equals(System.getProperty("user.name"));
    }

    /** Neither database runs as root. */
    private static List<String> as(String user, List<String> command) {
        List<String> all = new ArrayList<>();
        if (isRoot()) {
            all.addAll(List.of("runuser", "-u", user, "--"));
        }
        all.addAll(command);
        return all;
    }

    private static void giveTo(String user, Path folder) {
        if (isRoot()) {
            execute(List.of("chown", "-R", user, folder.toString()), true);
        }
    }

    private record Postgres(Path programs) implements Kind {
        private static final String OWNER = "postgres";

        @Override
        public void make(Path folder) {
            giveTo(OWNER, folder);
            List<String> command = List.of(
                    programs.resolve("initdb").toString(),
                    "-D",
                    folder.resolve("data").toString(),
                    "-U",
                    user(),
                    "-A",
                    "trust",
                    "-E",
                    "UTF8",
                    "--no-locale",
                    "--no-sync");
            execute(as(OWNER, command), true);
        }

        @Override
        public List<String> command(Path folder, int port) {
            List<String> command = new ArrayList<>(List.of(
                    programs.resolve("postgres").toString(),
                    "-D",
                    folder.resolve("data").toString(),
                    "-p",
                    Integer.toString(port),
                    "-k",
                    folder.toString()));
            for (String setting : List.of(
                    "listen_addresses=127.0.0.1",
                    "fsync=off",
                    "wal_level=logical",
                    "max_wal_senders=20",
                    "max_replication_slots=20",
                    "deadlock_timeout=100ms",
                    "shared_buffers=16MB")) {
                command.addAll(List.of("-c", setting));
            }
            return as(OWNER, command);
        }

        @Override
        public String url(int port) {
            return "jdbc:postgresql://127.0.0.1:" + port + "/postgres";
        }

        @Override
        public String user() {
            return "millrace";
        }

        @Override
        public String endSignal() {
            return "INT";
        }
    }

    private record MariaDb(Path server, Path install) implements Kind {
        private static final String OWNER = "mysql";

        @Override
        public void make(Path folder) {
            giveTo(OWNER, folder);
            List<String> command = List.of(
                    install.toString(),
                    "--no-defaults",
                    "--datadir=" + folder.resolve("data"),
                    "--auth-root-authentication-method=normal",
                    "--skip-test-db");
            execute(as(OWNER, command), true);
        }

        @Override
        public List<String> command(Path folder, int port) {
            List<String> command = new ArrayList<>(List.of(
                    server.toString(),
                    "--no-defaults",
                    "--datadir=" + folder.resolve("data"),
                    "--port=" + port,
                    "--socket=" + folder.resolve("socket"),
                    "--pid-file=" + folder.resolve("pid"),
                    "--bind-address=127.0.0.1",
                    "--server-id=1",
                    "--log-bin=binlog",
                    "--binlog-format=ROW",
                    "--binlog-row-image=FULL",
                    "--loose-slave-connections-needed-for-purge=0",
                    "--character-set-server=utf8mb4",
                    "--innodb-flush-log-at-trx-commit=2",
                    "--innodb-buffer-pool-size=32M",
                    "--innodb-log-file-size=16M",
                    "--innodb-lock-wait-timeout=2"));
            return as(OWNER, command);
        }

        @Override
        public String url(int port) {
            return "jdbc:mariadb://127.0.0.1:" + port + "/";
        }

        @Override
        public String user() {
            return "root";
        }

        @Override
        public String endSignal() {
            return "TERM";
        }
    }
}

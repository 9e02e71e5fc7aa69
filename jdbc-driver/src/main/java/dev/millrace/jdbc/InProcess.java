package dev.millrace.jdbc;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.Millrace;
import dev.millrace.error.MillraceException;
import dev.millrace.server.pgwire.PgServer;
import dev.millrace.server.pgwire.PgServerOptions;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import javax.net.SocketFactory;
import org.postgresql.PGProperty;

/**
 * A connection's share in a database inside this program, which is opened for the first and closed after the last of them.
 * Safe on any thread. The only class that needs the server's.
 */
final class InProcess implements AutoCloseable {
    static final String WORKERS = "workers";

    @GuardedBy("RUNNING") private static final Map<String, Running> RUNNING = new HashMap<>();

    private final String location;

    @GuardedBy("RUNNING") private boolean closed;

    /** A database that is open. */
    private static final class Running {
        final Database database;
        final PgServer server;
        int shares;

        Running(Database database) {
            this.database = database;
            this.server = PgServer.inProcess(database, PgServerOptions.local(0));
        }

        void close() {
            server.close();
            database.close();
        }
    }

    private InProcess(String location) {
        this.location = location;
    }

    /** @param location of the URL: nothing, {@code mem:NAME} or a directory */
    static InProcess open(String location, Properties info) throws SQLException {
        boolean inMemory = location.isEmpty() || location.startsWith("mem:");
        String key = inMemory
                ? location
                : Path.of(location).toAbsolutePath().normalize().toString();
        synchronized (RUNNING) {
            Running running = RUNNING.get(key);
            if (running == null) {
                running = new Running(
                        open(inMemory ? options(info) : options(info).withData(Path.of(key))));
                RUNNING.put(key, running);
            }
            running.shares++;
        }
        return new InProcess(key);
    }

    private static Database open(DatabaseOptions options) throws SQLException {
        try {
            return Millrace.open(options);
        } catch (MillraceException e) {
            throw new SQLException(e.getMessage(), e.sqlState().code(), e);
        }
    }

    private static DatabaseOptions options(Properties info) throws SQLException {
        DatabaseOptions defaults = DatabaseOptions.defaults();
        String workers = info.getProperty(WORKERS);
        if (workers == null) {
            return defaults;
        }
        if (!workers.matches("[1-9][0-9]{0,3}")) {
            throw new SQLException("property " + WORKERS + " is a number of threads, not \"" + workers + "\"", "22023");
        }
        return defaults.withWorkers(Integer.parseInt(workers));
    }

    /** Makes pgjdbc come through a pipe. */
    void addTo(Properties properties) {
        PGProperty.SOCKET_FACTORY.set(properties, Pipes.class.getName());
        PGProperty.SOCKET_FACTORY_ARG.set(properties, location);
        PGProperty.SSL_MODE.set(properties, "disable");
        PGProperty.GSS_ENC_MODE.set(properties, "disable");
    }

    /** Gives the share back. */
    @Override
    public void close() {
        synchronized (RUNNING) {
            Running running = RUNNING.get(location);
            if (!closed && running != null && --running.shares == 0) {
                RUNNING.remove(location);
                running.close();
            }
            closed = true;
        }
    }

    /** What pgjdbc makes sockets with, found by its name. */
    public static final class Pipes extends SocketFactory {
        private final String location;

        public Pipes(Properties info) {
            this.location = PGProperty.SOCKET_FACTORY_ARG.getOrDefault(info);
        }

        @Override
        public Socket createSocket() {
            synchronized (RUNNING) {
                return Objects.requireNonNull(RUNNING.get(location)).server.connect();
            }
        }

        @Override
        public Socket createSocket(String host, int port) {
            return createSocket();
        }

        @Override
        public Socket createSocket(String host, int port, InetAddress localHost, int localPort) {
            return createSocket();
        }

        @Override
        public Socket createSocket(InetAddress host, int port) {
            return createSocket();
        }

        @Override
        public Socket createSocket(InetAddress address, int port, InetAddress localAddress, int localPort) {
            return createSocket();
        }
    }
}

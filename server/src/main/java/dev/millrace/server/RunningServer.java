package dev.millrace.server;

import dev.millrace.Millrace;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.python.PythonWorkers;
import dev.millrace.server.config.ServerConfig;
import dev.millrace.server.config.ServerConfig.AuthMethod;
import dev.millrace.server.gateway.EdgeGateway;
import dev.millrace.server.http.HttpOptions;
import dev.millrace.server.http.HttpServer;
import dev.millrace.server.log.EventLog;
import dev.millrace.server.pgwire.Authentication;
import dev.millrace.server.pgwire.PgServer;
import dev.millrace.server.pgwire.PgServerOptions;
import dev.millrace.server.role.Roles;
import dev.millrace.server.role.ScramSecret;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import dev.millrace.server.settings.Setting;
import dev.millrace.server.storage.DataDirectory;
import dev.millrace.server.storage.ServerAddress;
import dev.millrace.server.tls.Tls;
import dev.millrace.server.tls.TlsMode;
import dev.millrace.server.tls.TlsOptions;
import dev.millrace.sql.statement.Statement.ObjectKind;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** A database and the ports that lead to it, from start to stop; what a program needs that is a server. Used by one thread. */
public final class RunningServer implements AutoCloseable {
    /** The environment's variable with the password of the superuser. */
    public static final String PASSWORD_VARIABLE = "MILLRACE_PASSWORD";

    private static final EventLog LOG = EventLog.named("server");

    private final ServerConfig config;
    private final Database database;
    private final PgServer postgres;
    private final Optional<HttpServer> http;
    private final Optional<EdgeGateway> edge;
    private final Authentication authentication;

    private RunningServer(
            ServerConfig config,
            Database database,
            PgServer postgres,
            Optional<HttpServer> http,
            Optional<EdgeGateway> edge,
            Authentication authentication) {
        this.authentication = authentication;
        this.config = config;
        this.database = database;
        this.postgres = postgres;
        this.http = http;
        this.edge = edge;
    }

    /**
     * Opens the database, runs the script, then lets clients in. Without a script PostgreSQL's clients come in as soon as definitions are
     * there: what they ask for waits for what it needs. When this returns all is there.
     *
     * @param script SQL to run before clients are let in
     * @throws MillraceException if one of that fails; then nothing is left open
     * @throws IOException if the script cannot be read
     */
    public static RunningServer start(ServerConfig config, Optional<Path> script) throws IOException {
        Optional<RunningServer> started = start(config, script, script.isEmpty());
        return started.isPresent()
                ? started.get()
                : start(config, script, false).orElseThrow();
    }

    /** @return none if it has to be without early sessions */
    private static Optional<RunningServer> start(ServerConfig config, Optional<Path> script, boolean early)
            throws IOException {
        Start start = new Start();
        boolean restores = config.data().filter(DataDirectory::holdsDefinitions).isPresent(); // which takes its time
        Optional<Ports> ports = restores ? Optional.of(Ports.listen(config, start)) : Optional.empty();
        Optional<Database> database = Optional.empty();
        try {
            PythonWorkers.all().use(config.python());
            DatabaseOptions wanted =
                    DatabaseOptions.defaults().withEngine(config.engine()).withRestoring(start);
            DatabaseOptions options = restores && early ? wanted.withEarlySessions() : wanted;
            database = Optional.of(
                    Millrace.open(config.data().map(options::withData).orElse(options)));
            if (ports.isEmpty()) { // the certificate may be kept in the directory, which is there only now
                ports = Optional.of(Ports.listen(config, start));
            }
            RunningServer server = start(config, script, ports.get(), database.get());
            if (database.get().awaitOpen()) {
                server.serveHttp();
                return Optional.of(server);
            }
            ports.get().close();
            database.get().close();
            return Optional.empty();
        } catch (RuntimeException | IOException | Error e) {
            ports.ifPresent(Ports::close);
            database.ifPresent(Database::close);
            throw e;
        }
    }

    /** Where PostgreSQL's clients are served. */
    public int port() {
        return postgres.port();
    }

    /** How far the start is, for who comes meanwhile. Written by the thread that starts the server, read by any. */
    private static final class Start implements DatabaseOptions.Restoring {
        private volatile int done;
        private volatile int all;
        private volatile long rows;

        @Override
        public void restored(int newDone, int newAll) {
            done = newDone;
            all = newAll;
        }

        @Override
        public void cameAgain(long newRows) {
            rows = newRows;
        }

        String json() {
            return "{\"definitions\":" + done + ",\"of\":" + all + ",\"rows\":" + rows + "}";
        }

        String sentence() {
            return done + " of " + all + " definitions are there, " + rows
                    + " rows came again from the log; try again soon";
        }
    }

    /** What leads to a database, or will when there is one. */
    private record Ports(PgServer postgres, Optional<HttpServer> http, Optional<Tls> tls) {
        /** Listens, and says to who comes how far the start is. */
        static Ports listen(ServerConfig config, Start start) {
            Optional<Tls> tls = RunningServer.tls(config);
            PgServer postgres = PgServer.starting(
                    new PgServerOptions(
                            config.addresses(),
                            config.port(),
                            config.limits().connections(),
                            config.limits().messageBytes(),
                            config.auth().timeout(),
                            tls,
                            new Authentication.Trust()), // until there is a database that knows passwords
                    start::sentence);
            try {
                return new Ports(postgres, RunningServer.http(config, tls, start::json), tls);
            } catch (RuntimeException | Error e) {
                postgres.close();
                throw e;
            }
        }

        void close() {
            postgres.close();
            http.ifPresent(HttpServer::close);
        }
    }

    private static RunningServer start(ServerConfig config, Optional<Path> script, Ports ports, Database database)
            throws IOException {
        if (script.isPresent()) {
            try (Session session = database.session()) {
                session.execute(Files.readString(script.get())).drain();
            }
        }
        PgServer postgres = ports.postgres();
        Optional<HttpServer> http = ports.http();
        Optional<Tls> tls = ports.tls();
        Authentication authentication = authentication(config, database);
        database.catalog()
                .describeServer(Map.of(
                        Setting.LISTEN_ADDRESSES.settingName(),
                        String.join(",", config.addresses()),
                        Setting.PORT.settingName(),
                        "" + postgres.port(),
                        Setting.HTTP_PORT.settingName(),
                        "" + http.map(HttpServer::port).orElse(0),
                        Setting.HTTP_CONNECTIONS_PER_ADDRESS.settingName(),
                        "" + config.http().limits().mostPerAddress(),
                        Setting.HTTP_HEADER_TIMEOUT.settingName(),
                        seconds(config.http().limits().headers()),
                        Setting.HTTP_BODY_TIMEOUT.settingName(),
                        seconds(config.http().limits().body()),
                        Setting.HTTP_IDLE_TIMEOUT.settingName(),
                        seconds(config.http().limits().idle()),
                        Setting.MAX_CONNECTIONS.settingName(),
                        "" + config.limits().connections(),
                        Setting.SSL.settingName(),
                        tls.isPresent() ? "on" : "off",
                        Setting.DATA_DIRECTORY.settingName(),
                        config.data()
                                .map(directory -> directory.toAbsolutePath().toString())
                                .orElse("")));
        config.data().ifPresent(directory -> ServerAddress.write(directory, ownHost(config), postgres.port()));
        tls.ifPresent(Tls::prepare); // the first client that wants TLS waits for what is left of it
        LOG.info(
                "started",
                "port",
                postgres.port(),
                "http_port",
                http.map(HttpServer::port).orElse(0),
                "tls",
                tls.map(Tls::mode).orElse(TlsMode.OFF),
                "workers",
                config.engine().workers(),
                "memory_bytes",
                config.engine().memoryLimitBytes());
        Optional<EdgeGateway> edge = edge(config, database, authentication, tls);
        postgres.serve(database, authentication);
        return new RunningServer(config, database, postgres, http, edge, authentication);
    }

    private static Optional<EdgeGateway> edge(
            ServerConfig config, Database database, Authentication authentication, Optional<Tls> tls) {
        int connections = config.limits().connections();
        if (config.edgePort() < 0) {
            return config.edgeBroker()
                    .map(broker -> EdgeGateway.atBroker(database, authentication, connections, broker));
        }
        EdgeGateway gateway =
                EdgeGateway.listen(database, authentication, config.addresses(), config.edgePort(), connections, tls);
        return Optional.of(config.edgeBroker().map(gateway::andAt).orElse(gateway));
    }

    /** Where devices are served; none if they are not, or by a broker alone. */
    public OptionalInt edgePort() {
        return edge.stream()
                .mapToInt(EdgeGateway::port)
                .filter(port -> port >= 0)
                .findFirst();
    }

    /** Who asks for the server's health is told that it is well, and no more how far it is. */
    private void serveHttp() {
        http.ifPresent(server -> server.serve(database, authentication));
    }

    /** How programs on this machine call it. */
    private static String ownHost(ServerConfig config) {
        return config.addresses().stream()
                .filter(address -> !List.of("*", "0.0.0.0", "::").contains(address))
                .findFirst()
                .orElse("localhost");
    }

    private static String seconds(Duration duration) {
        return duration.toMillis() % 1000 == 0 ? duration.toSeconds() + "s" : duration.toMillis() + "ms";
    }

    /** The second port, from which so far only the server's health is told. */
    private static Optional<HttpServer> http(ServerConfig config, Optional<Tls> tls, Supplier<String> progress) {
        if (!config.http().enabled()) {
            return Optional.empty();
        }
        int next = config.port() == 0 ? 0 : config.port() + 1;
        return Optional.of(HttpServer.starting(
                new HttpOptions(
                        config.addresses(),
                        config.http().port() < 0 ? next : config.http().port(),
                        config.limits().connections(),
                        (int) config.http().mostBodyBytes(),
                        config.http().mostRows(),
                        config.http().corsOrigin(),
                        tls,
                        new Authentication.Trust(), // until there is a database that knows passwords
                        config.http().limits()),
                progress));
    }

    private static Optional<Tls> tls(ServerConfig config) {
        if (config.tls().mode() == TlsMode.OFF) {
            return Optional.empty();
        }
        List<String> names = new ArrayList<>();
        try {
            names.add(InetAddress.getLocalHost().getHostName());
        } catch (UnknownHostException e) {
            LOG.debug("this machine has no name", "reason", String.valueOf(e.getMessage()));
        }
        config.addresses().stream().filter(address -> !address.equals("*")).forEach(names::add);
        TlsOptions options = config.data().map(config.tls()::withDirectory).orElse(config.tls());
        return Optional.of(Tls.open(options, names));
    }

    /** With a password in the environment every role proves who it is, and that is the superuser's. */
    private static Authentication authentication(ServerConfig config, Database database) {
        Optional<String> password = Optional.ofNullable(System.getenv(PASSWORD_VARIABLE));
        password.ifPresent(text -> database.catalog()
                .roles()
                .change(Roles.OWNER, role -> role.withPassword(Optional.of(ScramSecret.of(text)))));
        AuthMethod method = config.auth().method();
        boolean trust = method == AuthMethod.TRUST || method == AuthMethod.AUTO && password.isEmpty();
        if (trust && !config.loopbackOnly()) {
            throw MillraceException.user(
                            SqlState.INVALID_AUTHORIZATION,
                            "listening on " + String.join(", ", config.addresses())
                                    + " would let anyone in without a password")
                    .withHint("set " + PASSWORD_VARIABLE + ", or listen on localhost");
        }
        if (trust && config.edgeBroker().filter(broker -> !broker.isLoopback()).isPresent()) {
            throw MillraceException.user(
                            SqlState.INVALID_AUTHORIZATION,
                            "devices that send by a broker elsewhere would not have to prove who they are")
                    .withHint("set " + PASSWORD_VARIABLE);
        }
        return trust ? new Authentication.Trust() : new Authentication.Scram(database::secretOf, database.decoys());
    }

    /** How to connect, and what is kept. */
    public String greeting() {
        String kept = config.data()
                .map(directory -> "millrace: " + directory
                        + " keeps all of it: definitions, rows, and what queries made of them\n")
                .orElse("");
        String scheme = config.tls().mode() == TlsMode.REQUIRE ? "https" : "http";
        String web = http.map(server -> "\nmillrace: metrics, health and SQL over HTTP at " + scheme + "://localhost:"
                        + server.port() + " (/metrics, /health, /api/v1)")
                .orElse("");
        String devices = edge.map(RunningServer::devices).orElse("");
        return kept + "millrace: listening on " + String.join(", ", config.addresses()) + ":" + postgres.port()
                + "; connect with: psql -h localhost -p " + postgres.port() + " -U millrace" + web + devices;
    }

    private static String devices(EdgeGateway gateway) {
        String port = gateway.port() < 0 ? "" : " to port " + gateway.port();
        String broker = gateway.broker().map(at -> " by " + at).orElse("");
        return "\nmillrace: devices send" + port + broker;
    }

    /** Ends sessions as {@link PgServer#stop} says, and lets sinks have all that was accepted, as far as time permits. */
    public void stop() {
        long end = System.nanoTime() + config.stopTimeout().toNanos();
        postgres.stop(config.stopTimeout());
        http.ifPresent(server -> server.stop(Duration.ofNanos(Math.max(0, end - System.nanoTime()))));
        flush(Duration.ofNanos(Math.max(0, end - System.nanoTime())));
    }

    private void flush(Duration timeout) {
        if (database.catalog().objects(ObjectKind.SINK).isEmpty()) {
            return; // nobody would have anything of it
        }
        try (Session session = database.session()) {
            CompletableFuture<Void> flushed =
                    CompletableFuture.runAsync(session::flush, task -> new Thread(task, "flush").start());
            try {
                flushed.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                LOG.warning("not all that was accepted is in sinks", "reason", "no time left");
                session.cancel();
                flushed.exceptionally(failure -> null).join();
            } catch (ExecutionException e) {
                LOG.warning("not all that was accepted is in sinks", "reason", String.valueOf(e.getCause()));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Ends at once what still runs. */
    @Override
    public void close() {
        edge.ifPresent(EdgeGateway::close);
        http.ifPresent(HttpServer::close);
        postgres.close();
        config.data().ifPresent(ServerAddress::remove);
        database.close();
    }
}

package dev.millrace.server;

import dev.millrace.Millrace;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.pgwire.Authentication;
import dev.millrace.server.pgwire.PgServer;
import dev.millrace.server.pgwire.PgServerOptions;
import dev.millrace.server.role.Roles;
import dev.millrace.server.role.ScramSecret;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/** {@code millrace server}: one database for PostgreSQL clients, until it is told to stop. */
final class ServerCommand {
    private static final String PASSWORD_VARIABLE = "MILLRACE_PASSWORD";
    private static final int DEFAULT_CONNECTIONS = 1000;
    private static final int DEFAULT_MESSAGE_MEGABYTES = 64;

    private ServerCommand() {}

    static CommandSpec spec() {
        CommandSpec spec = CommandSpec.create().name("server");
        spec.usageMessage()
                .description(
                        "Serves PostgreSQL clients: psql -h localhost -p " + PgServerOptions.DEFAULT_PORT + ".",
                        "Everything is in memory: what the server holds is gone when it stops.");
        spec.addOption(OptionSpec.builder("--host")
                .paramLabel("NAME")
                .description("The interface to listen on (default: localhost). Any other asks for a password.")
                .type(String.class)
                .build());
        spec.addOption(OptionSpec.builder("-p", "--port")
                .paramLabel("N")
                .description("The port for clients (default: " + PgServerOptions.DEFAULT_PORT + "; 0: any).")
                .type(Integer.class)
                .build());
        spec.addOption(OptionSpec.builder("--max-connections")
                .paramLabel("N")
                .description("Clients at once (default: " + DEFAULT_CONNECTIONS + ").")
                .type(Integer.class)
                .build());
        spec.addOption(OptionSpec.builder("--max-message-mb")
                .paramLabel("N")
                .description("The longest statement or piece of a COPY (default: " + DEFAULT_MESSAGE_MEGABYTES + ").")
                .type(Integer.class)
                .build());
        spec.addOption(OptionSpec.builder("-f", "--file")
                .paramLabel("FILE")
                .description("SQL to run before clients are let in.")
                .type(Path.class)
                .build());
        spec.usageMessage()
                .footer(
                        "",
                        "With " + PASSWORD_VARIABLE
                                + " set, that is the password of role millrace, and every client proves",
                        "that it knows its role's (SCRAM-SHA-256); without it, anyone on this machine",
                        "may connect as any role that there is, and nobody else can.");
        return spec;
    }

    /** Serves until the program is told to stop; returns the exit code. */
    static int run(ParseResult arguments) throws InterruptedException {
        CountDownLatch stopped = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        Runtime.getRuntime()
                .addShutdownHook(new Thread(
                        () -> {
                            stopped.countDown();
                            await(closed);
                        },
                        "millrace-stop"));
        try (Database database = Millrace.open(DatabaseOptions.defaults())) {
            Optional<Path> script = Optional.ofNullable(arguments.matchedOptionValue("--file", null));
            if (script.isPresent()) {
                try (Session session = database.session()) {
                    session.execute(Files.readString(script.get())).drain();
                }
            }
            PgServerOptions options = options(arguments, database);
            try (PgServer server = PgServer.listen(database, options)) {
                System.err.println("millrace: listening on " + options.host() + ":" + server.port()
                        + "; connect with: psql -h localhost -p " + server.port() + " -U millrace");
                stopped.await();
            }
        } catch (MillraceException e) {
            System.err.println("millrace: " + e.getMessage()
                    + e.hint().map(hint -> "; " + hint).orElse(""));
            return 1;
        } catch (IOException e) {
            System.err.println("millrace: cannot read " + e.getMessage());
            return 1;
        } finally {
            closed.countDown();
        }
        return 0;
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static PgServerOptions options(ParseResult arguments, Database database) {
        String host = arguments.matchedOptionValue("--host", "localhost");
        int port = arguments.matchedOptionValue("--port", PgServerOptions.DEFAULT_PORT);
        int connections = arguments.matchedOptionValue("--max-connections", DEFAULT_CONNECTIONS);
        int megabytes = arguments.matchedOptionValue("--max-message-mb", DEFAULT_MESSAGE_MEGABYTES);
        Optional<String> password = Optional.ofNullable(System.getenv(PASSWORD_VARIABLE));
        if (password.isEmpty() && !isLoopback(host)) {
            throw MillraceException.user(
                            SqlState.INVALID_AUTHORIZATION,
                            "listening on " + host + " would let anyone in without a password")
                    .withHint("set " + PASSWORD_VARIABLE + ", or listen on localhost");
        }
        // With it every role proves who it is, and this is the superuser's.
        password.ifPresent(text -> database.catalog()
                .roles()
                .change(Roles.OWNER, role -> role.withPassword(Optional.of(ScramSecret.of(text)))));
        Authentication authentication =
                password.isPresent() ? new Authentication.Scram(database::secretOf) : new Authentication.Trust();
        return new PgServerOptions(host, port, connections, megabytes << 20, Optional.empty(), authentication);
    }

    private static boolean isLoopback(String host) {
        try {
            return InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }
}

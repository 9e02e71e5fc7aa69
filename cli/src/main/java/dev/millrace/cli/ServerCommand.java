package dev.millrace.cli;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.RunningServer;
import dev.millrace.server.config.ConfigFile;
import dev.millrace.server.config.ServerConfig;
import dev.millrace.server.log.EventLog;
import dev.millrace.server.log.Logs;
import dev.millrace.server.pgwire.PgServerOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/** {@code millrace server}: one database for PostgreSQL clients, until it is told to stop. */
final class ServerCommand {
    private static final EventLog LOG = EventLog.named("server");

    /** Options that stand for one of the configuration. */
    private static final Map<String, String> SHORT_FORMS = Map.of(
            "--host", "listen.addresses",
            "--port", "listen.port",
            "--http-port", "http.port",
            "--edge-port", "edge.port",
            "--data", "data",
            "--workers", "engine.workers",
            "--tls", "tls.mode",
            "--tls-cert", "tls.certificate",
            "--tls-key", "tls.key",
            "--max-connections", "limits.connections");

    private ServerCommand() {}

    static CommandSpec spec() {
        CommandSpec spec = CommandSpec.create().name("server");
        spec.usageMessage()
                .description(
                        "Serves PostgreSQL clients: psql -h localhost -p " + PgServerOptions.DEFAULT_PORT
                                + " -U millrace.",
                        "Without --data all is in memory: it is gone when the server stops.");
        option(spec, "The interfaces to listen on (default: localhost). Others ask for a password.", "NAME", "--host");
        option(
                spec,
                "The port for PostgreSQL clients (default: " + PgServerOptions.DEFAULT_PORT + "; 0: any).",
                "N",
                "-p",
                "--port");
        option(spec, "The port for HTTP (default: the one after --port; 0: any).", "N", "--http-port");
        option(spec, "The port for devices (default: none; 0: any).", "N", "--edge-port");
        spec.addOption(OptionSpec.builder("--no-http")
                .description("Do not listen for HTTP.")
                .type(boolean.class)
                .build());
        option(
                spec,
                "The directory that keeps all of it: definitions, rows, and what queries made of them.",
                "DIR",
                "--data");
        option(spec, "Threads that run queries (default: one per core).", "N", "--workers");
        option(spec, "Encrypted connections: off, allow (default) or require.", "MODE", "--tls");
        option(spec, "The server's certificate, in PEM (default: one of its own).", "FILE", "--tls-cert");
        option(spec, "The certificate's private key, in PEM.", "FILE", "--tls-key");
        option(spec, "Clients at once (default: 1000).", "N", "--max-connections");
        spec.addOption(OptionSpec.builder("--max-message-mb")
                .paramLabel("N")
                .description("The longest statement or piece of a COPY (default: 64).")
                .type(Integer.class)
                .build());
        option(spec, "The configuration (default: " + ConfigFile.NAME + " in the data directory).", "FILE", "--config");
        spec.addOption(OptionSpec.builder("--set")
                .paramLabel("NAME=VALUE")
                .description("Any option of the configuration (may be repeated).")
                .type(List.class)
                .auxiliaryTypes(String.class)
                .build());
        spec.addOption(OptionSpec.builder("--print-config")
                .description("Print all options of the configuration with their defaults, and leave.")
                .type(boolean.class)
                .build());
        spec.addOption(OptionSpec.builder("-f", "--file")
                .paramLabel("FILE")
                .description("SQL to run before clients are let in.")
                .type(Path.class)
                .build());
        spec.usageMessage()
                .footer(
                        "",
                        "With " + RunningServer.PASSWORD_VARIABLE
                                + " set, that is the password of role millrace, and every client proves",
                        "that it knows its role's (SCRAM-SHA-256); without it, anyone on this machine",
                        "may connect as any role that there is, and nobody else can.");
        return spec;
    }

    private static void option(CommandSpec spec, String description, String label, String... names) {
        spec.addOption(OptionSpec.builder(names)
                .paramLabel(label)
                .description(description)
                .type(String.class)
                .build());
    }

    /** Serves until the program is told to stop; returns the exit code. */
    static int run(ParseResult arguments) throws InterruptedException {
        if (arguments.hasMatchedOption("--print-config")) {
            System.out.print(ConfigFile.reference());
            return 0;
        }
        HeapGuard.begin();
        CountDownLatch stopped = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        Runtime.getRuntime()
                .addShutdownHook(new Thread(
                        () -> {
                            stopped.countDown();
                            await(closed);
                        },
                        "millrace-stop"));
        try {
            ServerConfig config = config(arguments);
            Logs.begin(config.log(), System.err);
            Optional<Path> script = Optional.ofNullable(arguments.matchedOptionValue("--file", null));
            try (RunningServer server = RunningServer.start(config, script)) {
                System.err.println(server.greeting());
                stopped.await();
                LOG.info("stopping", "timeout", config.stopTimeout());
                server.stop();
            }
            LOG.info("stopped");
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

    private static ServerConfig config(ParseResult arguments) {
        Map<String, String> given = new LinkedHashMap<>();
        for (String setting : arguments.matchedOptionValue("--set", List.<String>of())) {
            int equals = setting.indexOf('=');
            if (equals <= 0) {
                throw MillraceException.user(
                        SqlState.CONFIG_FILE_ERROR, "--set takes NAME=VALUE, not \"" + setting + "\"");
            }
            given.put(
                    setting.substring(0, equals).strip(),
                    setting.substring(equals + 1).strip());
        }
        SHORT_FORMS.forEach((option, name) -> {
            String value = arguments.matchedOptionValue(option, null);
            if (value != null) {
                given.put(name, value);
            }
        });
        if (arguments.hasMatchedOption("--max-message-mb")) {
            given.put("limits.message", arguments.matchedOptionValue("--max-message-mb", 0) + "m");
        }
        if (arguments.hasMatchedOption("--no-http")) {
            given.put("http.enabled", "false");
        }
        Optional<Path> file = Optional.<String>ofNullable(arguments.matchedOptionValue("--config", null))
                .map(Path::of);
        return ConfigFile.read(file, given);
    }
}

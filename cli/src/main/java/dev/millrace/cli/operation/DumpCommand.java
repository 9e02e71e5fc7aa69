package dev.millrace.cli.operation;

import dev.millrace.error.MillraceException;
import dev.millrace.server.operation.DirectoryDump;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;

/** {@code millrace dump DIR|SERVER}. Exit codes: 0, 1 after an error, 2 for wrong arguments. */
public final class DumpCommand {
    private DumpCommand() {}

    public static CommandSpec spec() {
        CommandSpec spec = CommandSpec.create().name("dump");
        spec.usageMessage()
                .description(
                        "Prints SQL that makes again what a database has: roles, settings, functions, streams, tables, views,",
                        "indexes, queries, sinks, privileges. Into an empty server: psql -f FILE, or ./millrace sql -f FILE.",
                        "A directory must not be in use; of a server that runs give its address.")
                .footer("", ServerConnection.PASSWORD_NOTE);
        spec.addPositional(PositionalParamSpec.builder()
                .paramLabel("DIR|SERVER")
                .description("A data directory; or host:port, or a URL of JDBC.")
                .arity("1")
                .required(true)
                .type(String.class)
                .build());
        spec.addOption(OptionSpec.builder("--rows")
                .description("The rows of tables, too.")
                .type(boolean.class)
                .build());
        spec.addOption(OptionSpec.builder("-o", "--output")
                .paramLabel("FILE")
                .description("Write there instead of to standard output.")
                .type(String.class)
                .build());
        spec.addOption(OptionSpec.builder("-U", "--user")
                .paramLabel("NAME")
                .description("The superuser to connect as (default: millrace).")
                .type(String.class)
                .build());
        return spec;
    }

    /** Returns the exit code. */
    public static int run(ParseResult arguments, OutputStream standardOutput, PrintStream err) {
        Optional<Path> file = Optional.<String>ofNullable(arguments.matchedOptionValue("--output", null))
                .map(Path::of);
        try (OutputStream out = new BufferedOutputStream(
                file.isPresent() ? Files.newOutputStream(file.get()) : standardOutput, 1 << 16)) {
            dump(arguments, out);
            return 0;
        } catch (MillraceException e) {
            err.println("millrace dump: " + e.getMessage()
                    + e.hint().map(hint -> "; " + hint).orElse(""));
        } catch (SQLException | IOException e) {
            err.println("millrace dump: " + e.getMessage());
        }
        return 1;
    }

    private static void dump(ParseResult arguments, OutputStream out) throws SQLException, IOException {
        String from = arguments.matchedPositionalValue(0, "");
        boolean rows = arguments.hasMatchedOption("--rows");
        if (!Files.isDirectory(Path.of(from.startsWith("jdbc:") ? "" : from)) || from.startsWith("jdbc:")) {
            try (Connection server = ServerConnection.open(from, arguments.matchedOptionValue("--user", "millrace"))) {
                new DumpText(out, server).write(DumpText.definitions(server), rows);
            }
        } else if (rows) {
            dumpWithRows(Path.of(from), out);
        } else {
            new DumpText(out).write(DirectoryDump.script(Path.of(from)), false);
        }
    }

    /** The rows are read by a database over a copy, in which nothing but the tables is. */
    private static void dumpWithRows(Path directory, OutputStream out) throws SQLException, IOException {
        Path copy = Files.createTempDirectory("millrace-dump-");
        try {
            DirectoryDump.copyTables(directory, copy);
            String url = "jdbc:millrace:" + URLEncoder.encode(copy.toString(), StandardCharsets.UTF_8);
            try (Connection tables = ServerConnection.open(url, "millrace")) {
                new DumpText(out, tables).write(DirectoryDump.script(directory), true);
            }
        } finally {
            delete(copy);
        }
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            List<Path> innermostFirst = files.sorted(Comparator.reverseOrder()).toList();
            for (Path file : innermostFirst) {
                Files.delete(file);
            }
        }
    }
}

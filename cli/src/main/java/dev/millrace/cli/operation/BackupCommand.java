package dev.millrace.cli.operation;

import dev.millrace.error.MillraceException;
import dev.millrace.server.backup.DirectoryBackup;
import dev.millrace.server.storage.DataPlace;
import dev.millrace.server.storage.ServerAddress;
import dev.millrace.sql.text.Identifiers;
import dev.millrace.time.Clock;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;

/** {@code millrace backup DIR|SERVER TARGET}. Exit codes: 0, 1 if there is no backup, 2 for wrong arguments. */
public final class BackupCommand {
    private BackupCommand() {}

    public static CommandSpec spec() {
        CommandSpec spec = CommandSpec.create().name("backup");
        spec.usageMessage()
                .description(
                        "Copies a data directory, of a server that runs or that nobody has open, to a directory that is not there.",
                        "All that was answered before is in the copy; clients go on. ./millrace restore makes a data directory of it.")
                .footer("", ServerConnection.PASSWORD_NOTE);
        spec.addPositional(PositionalParamSpec.builder()
                .paramLabel("DIR|SERVER")
                .description("The data directory; or host:port, or a URL of JDBC.")
                .index("0")
                .required(true)
                .type(String.class)
                .build());
        spec.addPositional(PositionalParamSpec.builder()
                .paramLabel("TARGET")
                .description("Where the backup will be; of a server, on its machine.")
                .index("1")
                .required(true)
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
    public static int run(ParseResult arguments, PrintStream out, PrintStream err) {
        String from = arguments.matchedPositionalValue(0, "");
        String user = arguments.matchedOptionValue("--user", "millrace");
        Path target = Path.of(arguments.matchedPositionalValue(1, ""));
        try {
            boolean isDirectory = !from.startsWith("jdbc:") && Files.isDirectory(Path.of(from));
            out.println(isDirectory ? ofDirectory(Path.of(from), target, user, err) : ofServer(from, user, target));
            out.flush();
            return 0;
        } catch (MillraceException e) {
            err.println("millrace backup: " + e.getMessage()
                    + e.hint().map(hint -> "; " + hint).orElse(""));
        } catch (SQLException | IOException e) {
            err.println("millrace backup: " + e.getMessage());
        }
        return 1;
    }

    private static String ofDirectory(Path directory, Path target, String user, PrintStream err)
            throws SQLException, IOException {
        Path growing = target.resolveSibling(target.getFileName() + ".partial");
        Optional<String> process = DataPlace.user(directory);
        try (CopyProgress progress = new CopyProgress(growing, CopyProgress.bytes(directory), err)) {
            if (process.isEmpty()) {
                return DirectoryBackup.run(directory, target, Clock.system()).toString();
            }
            String server = ServerAddress.read(directory)
                    .orElseThrow(() -> new IOException("the data directory " + directory + " is in use by process "
                            + process.get() + ", which is no server: have it execute BACKUP TO 'TARGET'"));
            return ofServer(server, user, target, Optional.of(directory));
        }
    }

    private static String ofServer(String server, String user, Path target) throws SQLException, IOException {
        return ofServer(server, user, target, Optional.empty());
    }

    /** @param expected the directory that the server is to have */
    private static String ofServer(String server, String user, Path target, Optional<Path> expected)
            throws SQLException, IOException {
        try (Connection connection = ServerConnection.open(server, user);
                Statement statement = connection.createStatement()) {
            if (expected.isPresent()) {
                requireServerOf(expected.get(), server, statement);
            }
            String path = target.toAbsolutePath().normalize().toString();
            statement.execute("BACKUP TO " + Identifiers.quoteText(path));
            return Optional.ofNullable(statement.getWarnings())
                    .map(SQLWarning::getMessage)
                    .orElse(path);
        }
    }

    private static void requireServerOf(Path directory, String server, Statement statement)
            throws SQLException, IOException {
        try (ResultSet rows = statement.executeQuery("SHOW data_directory")) {
            String found = rows.next() ? rows.getString(1) : "";
            if (found.isEmpty() || !Files.isSameFile(Path.of(found), directory)) {
                throw new IOException(
                        "the server at " + server + " has another data directory (" + found + ") than " + directory);
            }
        }
    }
}

package dev.millrace.cli.shell;

import dev.millrace.Millrace;
import dev.millrace.cli.format.ResultFormat;
import dev.millrace.error.MillraceException;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.DatabaseOptions;
import dev.millrace.server.session.Session;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/**
 * {@code millrace sql}. Exit codes: 0, 1 after an error of SQL, 2 for wrong arguments.
 *
 * <p>Options are described without annotations, which spares the reflection at each start.
 */
public final class SqlCommand {
    private SqlCommand() {}

    public static CommandSpec spec() {
        CommandSpec spec = CommandSpec.create().name("sql");
        spec.usageMessage()
                .description("Runs SQL: interactively, or from -c, -f or standard input.")
                .footer(
                        "",
                        "Results go to standard output, everything else to standard error.",
                        "Before each SELECT of a script all that was accepted is waited for, files to their end.",
                        "COPY t FROM STDIN takes the lines behind it, up to \\.; with -c those of standard input.");
        spec.addOption(OptionSpec.builder("-c", "--command")
                .paramLabel("SQL")
                .description("Run these statements (may be repeated), then leave.")
                .type(List.class)
                .auxiliaryTypes(String.class)
                .build());
        spec.addOption(OptionSpec.builder("-f", "--file")
                .paramLabel("FILE")
                .description("Run a file (may be repeated; - is standard input), then leave.")
                .type(List.class)
                .auxiliaryTypes(String.class)
                .build());
        spec.addOption(OptionSpec.builder("--format")
                .paramLabel("FORMAT")
                .description("table (default), expanded, csv or json.")
                .type(String.class)
                .defaultValue("table")
                .build());
        spec.addOption(OptionSpec.builder("--workers")
                .paramLabel("N")
                .description("Threads that run queries (default: one per core).")
                .type(Integer.class)
                .build());
        spec.addOption(OptionSpec.builder("--data")
                .paramLabel("DIR")
                .description("The directory that keeps all of it: definitions, rows, and what queries made of them.")
                .type(String.class)
                .build());
        spec.addOption(flag("--keep-going", "Go on after an error of a script."));
        spec.addOption(flag("--timing", "Say how long each statement took."));
        spec.addOption(flag("-q", "--quiet", "Leave out command tags such as CREATE STREAM."));
        return spec;
    }

    private static OptionSpec flag(String name, String description) {
        return OptionSpec.builder(name)
                .description(description)
                .type(boolean.class)
                .build();
    }

    private static OptionSpec flag(String name, String longName, String description) {
        return OptionSpec.builder(name, longName)
                .description(description)
                .type(boolean.class)
                .build();
    }

    /** One script: a text or a file. */
    private record Script(String name, Optional<String> text) {}

    /** Runs the shell; returns the exit code. */
    public static int run(ParseResult arguments) throws IOException {
        Streams streams = Streams.ofProcess();
        ResultFormat format;
        try {
            format = BackslashCommands.format(arguments.matchedOptionValue("--format", "table"));
        } catch (MillraceException e) {
            streams.err().println("millrace sql: " + e.getMessage());
            return 2;
        }
        int workers =
                arguments.matchedOptionValue("--workers", Runtime.getRuntime().availableProcessors());
        if (workers < 1) {
            streams.err().println("millrace sql: --workers must be at least 1, not " + workers);
            return 2;
        }
        List<Script> scripts = scripts(arguments, streams);
        boolean interactive = scripts.isEmpty();
        ShellMode mode = new ShellMode(
                format,
                arguments.matchedOptionValue("--timing", false),
                arguments.matchedOptionValue("--keep-going", false),
                !interactive,
                arguments.matchedOptionValue("--quiet", false));
        DatabaseOptions options = DatabaseOptions.defaults().withWorkers(workers);
        Database database;
        try {
            Optional<String> data = Optional.ofNullable(arguments.matchedOptionValue("--data", null));
            database = Millrace.open(data.map(Path::of).map(options::withData).orElse(options));
        } catch (MillraceException e) {
            streams.err().println("millrace sql: " + e.getMessage());
            return 1;
        }
        if (arguments.hasMatchedOption("--data") && interactive) {
            streams.err()
                    .println(
                            "NOTICE:  definitions, roles, settings and the rows of tables are kept; the state of queries is in memory");
        }
        database.notRestored().forEach(line -> streams.err().println("WARNING:  not restored: " + line));
        try (Session session = database.session();
                Shell shell = new Shell(session, options.clock(), streams, mode)) {
            return interactive ? InteractiveShell.run(shell, session) : runAll(scripts, shell, streams);
        } finally {
            close(database);
        }
    }

    /** What goes wrong when all is done is a defect to be logged, not a failure of the user's statements. */
    private static void close(Database database) {
        try {
            database.close();
        } catch (RuntimeException | AssertionError e) {
            System.getLogger(SqlCommand.class.getPackageName()).log(System.Logger.Level.ERROR, "closing failed", e);
        }
    }

    private static List<Script> scripts(ParseResult arguments, Streams streams) {
        Iterator<String> commands =
                arguments.matchedOptionValue("-c", List.<String>of()).iterator();
        Iterator<String> files =
                arguments.matchedOptionValue("-f", List.<String>of()).iterator();
        List<Script> scripts = new ArrayList<>();
        // An option is in here once for each time it was given, so the order of the command line is kept.
        for (ArgSpec given : arguments.matchedArgs()) {
            if (given instanceof OptionSpec option && option.longestName().equals("--command")) {
                scripts.add(new Script("-c", Optional.of(commands.next())));
            } else if (given instanceof OptionSpec option
                    && option.longestName().equals("--file")) {
                scripts.add(new Script(files.next(), Optional.empty()));
            }
        }
        if (scripts.isEmpty() && !streams.inIsTerminal()) {
            scripts.add(new Script("-", Optional.empty()));
        }
        return scripts;
    }

    private static int runAll(List<Script> scripts, Shell shell, Streams streams) throws IOException {
        int code = 0;
        BufferedReader standardInput = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (Script script : scripts) {
            try {
                code = Math.max(code, run(script, shell, standardInput));
            } catch (MillraceException e) {
                streams.err().println(ErrorReport.render(e, ""));
                code = 1;
            }
            if (code != 0 && !shell.mode().keepGoing()) {
                return code;
            }
        }
        return code;
    }

    /** A command's COPY FROM STDIN reads standard input, a file's what follows it in the file, as with psql. */
    private static int run(Script script, Shell shell, BufferedReader standardInput) throws IOException {
        if (script.text().isPresent()) {
            BufferedReader text =
                    new BufferedReader(new StringReader(script.text().get()));
            return shell.runScript(text, standardInput);
        } else if (script.name().equals("-")) {
            return shell.runScript(standardInput, standardInput);
        }
        try (Reader file = BackslashCommands.open(script.name())) {
            return shell.runScript(file);
        }
    }
}

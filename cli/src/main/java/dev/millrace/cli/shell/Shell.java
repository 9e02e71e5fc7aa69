package dev.millrace.cli.shell;

import dev.millrace.cli.format.ResultFormat;
import dev.millrace.cli.format.RowWriter;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.server.result.Warning;
import dev.millrace.server.session.Session;
import dev.millrace.sql.text.SqlText;
import dev.millrace.time.Clock;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Reader;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.IntSupplier;
import java.util.regex.Pattern;
import org.apache.arrow.memory.BufferAllocator;

/** Runs statements and backslash commands and writes what comes of them. Knows no terminal but by its {@link Streams}. */
final class Shell implements AutoCloseable {
    private static final Pattern QUERY = Pattern.compile("(?is)\\s*(?:(?:\\(\\s*)*(?:select|values|with|table)\\b|"
            + "copy\\b(?!\\s*\\(\\s*subscribe\\b).*\\bto\\s+stdout\\b).*");
    private static final double NANOS_PER_MILLI = 1e6;

    private final Session session;
    private final Clock clock;
    private Streams streams;
    private final ProgressBar progress;
    private final BackslashCommands commands;
    private final FailedQueries failedQueries;
    private ShellMode mode;
    private Optional<CopyLines.Source> copySource = Optional.empty();

    Shell(Session session, Clock clock, Streams streams, ShellMode mode) {
        this.session = session;
        this.clock = clock;
        this.streams = streams;
        this.mode = mode;
        this.progress = new ProgressBar(session, clock, streams.err(), streams.errIsTerminal());
        this.commands = new BackslashCommands(this, session, streams);
        this.failedQueries = new FailedQueries(session.database());
        session.onNotice(notice -> {
            progress.end();
            streams.err()
                    .println(Warning.in(notice).map(text -> "WARNING:  " + text).orElse("NOTICE:  " + notice));
        });
    }

    /** Tells how wide the terminal is, once there is one. */
    void columns(IntSupplier columns) {
        streams = streams.withColumns(columns);
    }

    ShellMode mode() {
        return mode;
    }

    void mode(ShellMode newMode) {
        mode = newMode;
    }

    /** Stops the statement under way. For signal handlers: on any thread. */
    void interrupt() {
        session.cancel();
    }

    /**
     * Runs a script to its end or its first error: statements, backslash commands on lines of their own, and behind a COPY
     * FROM STDIN its rows.
     *
     * @return the exit code: 0, or 1 if something failed, or what {@code \q} asked for
     */
    int runScript(Reader script) throws IOException {
        BufferedReader lines = new BufferedReader(script);
        return runScript(lines, lines);
    }

    /** Runs a script whose COPY FROM STDIN takes rows from {@code input}, which stays open. */
    int runScript(BufferedReader script, BufferedReader input) throws IOException {
        Optional<CopyLines.Source> outer = copySource;
        copySource = Optional.of(() -> Optional.ofNullable(input.readLine()));
        try {
            return runLines(script);
        } finally {
            copySource = outer;
        }
    }

    private int runLines(BufferedReader lines) throws IOException {
        StringBuilder open = new StringBuilder();
        boolean failed = false;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            boolean ok = true;
            if (open.length() == 0 && line.stripLeading().startsWith("\\")) {
                OptionalInt exit = OptionalInt.empty();
                try {
                    exit = commands.run(line.strip());
                } catch (MillraceException e) {
                    ok = false;
                    report(e, "");
                }
                if (exit.isPresent()) {
                    return failed ? 1 : exit.getAsInt();
                }
            } else {
                open.append(line).append('\n');
                if (line.indexOf(';') >= 0) {
                    SqlText.Input input = SqlText.split(open.toString());
                    open.setLength(0);
                    open.append(input.rest());
                    ok = executeAll(input.statements());
                } else if (open.toString().isBlank()) {
                    open.setLength(0);
                }
            }
            failed |= !ok;
            if (failed && !mode.keepGoing()) {
                return 1;
            }
        }
        String rest = SqlText.split(open.toString()).rest();
        failed |= !rest.isBlank() && !execute(rest);
        failed |= !finish();
        return failed ? 1 : 0;
    }

    /** At a script's end its sinks get what its files have; false if a query has failed that nobody asked for. */
    private boolean finish() {
        boolean flushed = true;
        if (failedQueries.hasSinks()) {
            try {
                progress.begin();
                session.flush();
            } catch (MillraceException e) {
                report(e, "");
                flushed = false;
            } finally {
                progress.end();
            }
        }
        return tellFailedQueries() && flushed;
    }

    /** A line for each query that has failed since the last time; false if there was one. */
    private boolean tellFailedQueries() {
        List<MillraceException> failures = failedQueries.untold();
        failures.forEach(failure -> report(failure, ""));
        return failures.isEmpty();
    }

    private boolean executeAll(Iterable<SqlText.Part> statements) throws IOException {
        boolean ok = true;
        for (SqlText.Part statement : statements) {
            ok &= execute(statement.text());
            if (!ok && !mode.keepGoing()) {
                return false;
            }
        }
        return ok;
    }

    /** Executes one statement and writes its result or its error; false after an error. */
    boolean execute(String sql) throws IOException {
        long startNanos = clock.nanoTime();
        progress.begin();
        try {
            if (mode.flushBeforeSelect() && QUERY.matcher(sql).matches()) {
                session.flush();
            }
            try (StatementResults results = session.execute(sql)) {
                while (results.hasNext()) {
                    write(results.next());
                }
            }
            progress.end();
            return true;
        } catch (MillraceException e) {
            progress.end();
            streams.out().flush();
            report(e, sql);
            failedQueries.toldOf(e);
            return false;
        } finally {
            streams.out().flush();
            if (!mode.flushBeforeSelect()) {
                tellFailedQueries();
            }
            if (mode.timing()) {
                double millis = (clock.nanoTime() - startNanos) / NANOS_PER_MILLI;
                streams.err().println(String.format(Locale.ROOT, "Time: %.3f ms", millis));
            }
        }
    }

    private void report(MillraceException error, String sql) {
        streams.err().println(ErrorReport.render(error, sql));
    }

    private void write(StatementResult result) throws IOException {
        if (result instanceof StatementResult.Rows rows) {
            writeRows(rows);
        } else if (result instanceof StatementResult.Changes changes) {
            progress.end();
            follow(changes);
        } else if (result instanceof StatementResult.CopyIn copy) {
            progress.end();
            tell(CopyLines.in(session, copy, copySource));
        } else if (result instanceof StatementResult.CopyOut copy) {
            progress.end();
            tell(CopyLines.out(copy, session, streams.out()));
        } else if (result instanceof StatementResult.Command command) {
            progress.end();
            tell(command);
        }
    }

    private void tell(StatementResult.Command command) {
        if (!mode.quiet()) {
            streams.err().println(command);
        }
    }

    /** Shows a subscription until it ends; that it is cancelled is how most of them end. */
    private void follow(StatementResult.Changes changes) throws IOException {
        try {
            if (streams.outIsTerminal() && mode.format() == ResultFormat.TABLE) {
                int width = streams.columns().getAsInt();
                new LiveTable(changes, session.settings().timeStyle(), clock, streams.out(), () -> width).run();
            } else {
                BufferAllocator allocator = session.database().engine().allocator();
                new ChangeLines(changes, mode.format(), session.settings().timeStyle(), allocator, streams.out()).run();
            }
        } catch (MillraceException e) {
            if (e.sqlState() != SqlState.QUERY_CANCELED) {
                throw e;
            }
            streams.err().println();
        }
    }

    private void writeRows(StatementResult.Rows rows) throws IOException {
        try (rows) {
            var batch = rows.next();
            progress.end();
            RowWriter writer =
                    mode.format().open(rows.schema(), session.settings().timeStyle(), streams.out());
            for (; batch.isPresent(); batch = rows.next()) {
                try (var held = batch.get()) {
                    writer.write(held);
                }
            }
            writer.end();
        }
    }

    /** Runs a backslash command; a value is the exit code that it asks for. */
    OptionalInt command(String line) throws IOException {
        try {
            return commands.run(line);
        } catch (MillraceException e) {
            report(e, "");
            return OptionalInt.empty();
        }
    }

    @Override
    public void close() {
        progress.close();
    }
}

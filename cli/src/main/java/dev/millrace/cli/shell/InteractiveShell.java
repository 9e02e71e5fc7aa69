package dev.millrace.cli.shell;

import dev.millrace.server.session.Session;
import dev.millrace.sql.text.SqlText;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.LineReaderBuilder;
import org.jline.reader.UserInterruptException;
import org.jline.terminal.Terminal;
import org.jline.terminal.Terminal.Signal;
import org.jline.terminal.TerminalBuilder;

/** The shell in a terminal: line editing, history, completion; Ctrl-C stops the statement, not the shell. */
final class InteractiveShell {
    private static final String NAME = "millrace";
    private static final int DEFAULT_COLUMNS = 80;

    private InteractiveShell() {}

    /** Reads and runs until the user leaves; returns the exit code. */
    static int run(Shell shell, Session session) throws IOException {
        try (Terminal terminal =
                TerminalBuilder.builder().name(NAME).system(true).build()) {
            terminal.handle(Signal.INT, signal -> shell.interrupt());
            shell.columns(() -> terminal.getWidth() > 0 ? terminal.getWidth() : DEFAULT_COLUMNS);
            LineReader reader = LineReaderBuilder.builder()
                    .terminal(terminal)
                    .appName(NAME)
                    .parser(new LineParser())
                    .completer(new SqlCompleter(session.database().catalog()))
                    .highlighter(new SqlHighlighter())
                    .variable(LineReader.HISTORY_FILE, historyFile())
                    .variable(LineReader.SECONDARY_PROMPT_PATTERN, NAME + "%M> ")
                    .variable(LineReader.INDENTATION, 0)
                    .option(LineReader.Option.DISABLE_EVENT_EXPANSION, true)
                    .option(LineReader.Option.HISTORY_TIMESTAMPED, false)
                    .option(LineReader.Option.CASE_INSENSITIVE, true)
                    .build();
            terminal.writer().println("Millrace. \\? is help, \\q quits; a statement ends with a semicolon.");
            return loop(shell, reader);
        }
    }

    private static int loop(Shell shell, LineReader reader) throws IOException {
        while (true) {
            String text;
            try {
                text = reader.readLine(NAME + "=> ");
            } catch (UserInterruptException e) {
                continue; // Ctrl-C while typing: begin anew
            } catch (EndOfFileException e) {
                return 0;
            }
            OptionalInt exit = run(shell, text);
            if (exit.isPresent()) {
                return exit.getAsInt();
            }
        }
    }

    private static OptionalInt run(Shell shell, String text) throws IOException {
        if (text.stripLeading().startsWith("\\")) {
            return shell.command(text.strip());
        }
        for (SqlText.Part statement : SqlText.split(text).statements()) {
            if (!shell.execute(statement.text())) {
                break;
            }
        }
        return OptionalInt.empty();
    }

    private static Path historyFile() {
        return Optional.ofNullable(System.getenv("MILLRACE_HISTORY"))
                .map(Path::of)
                .orElseGet(() -> Path.of(System.getProperty("user.home"), ".millrace_history"));
    }
}

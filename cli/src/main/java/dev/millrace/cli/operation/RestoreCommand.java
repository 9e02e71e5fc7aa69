package dev.millrace.cli.operation;

import dev.millrace.error.MillraceException;
import dev.millrace.server.backup.Restore;
import java.io.PrintStream;
import java.nio.file.Path;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;

/** {@code millrace restore BACKUP DIR}. Exit codes: 0, 1 if nothing was restored, 2 for wrong arguments. */
public final class RestoreCommand {
    private RestoreCommand() {}

    public static CommandSpec spec() {
        CommandSpec spec = CommandSpec.create().name("restore");
        spec.usageMessage()
                .description(
                        "Makes a data directory of a backup, and holds every byte of it to the backup's checksums.",
                        "Then: ./millrace server --data DIR");
        spec.addPositional(PositionalParamSpec.builder()
                .paramLabel("BACKUP")
                .description("What ./millrace backup wrote.")
                .index("0")
                .required(true)
                .type(String.class)
                .build());
        spec.addPositional(PositionalParamSpec.builder()
                .paramLabel("DIR")
                .description("The data directory that will be: empty, or not there.")
                .index("1")
                .required(true)
                .type(String.class)
                .build());
        return spec;
    }

    /** Returns the exit code. */
    public static int run(ParseResult arguments, PrintStream out, PrintStream err) {
        Path backup = Path.of(arguments.matchedPositionalValue(0, ""));
        Path directory = Path.of(arguments.matchedPositionalValue(1, ""));
        try (CopyProgress progress = new CopyProgress(directory, CopyProgress.bytes(backup), err)) {
            out.println(Restore.run(backup, directory));
            out.flush();
            return 0;
        } catch (MillraceException e) {
            err.println("millrace restore: " + e.getMessage()
                    + e.hint().map(hint -> "; " + hint).orElse(""));
            return 1;
        }
    }
}

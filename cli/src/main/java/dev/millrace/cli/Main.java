package dev.millrace.cli;

import dev.millrace.cli.demo.DemoCommand;
import dev.millrace.cli.edge.EdgeCommand;
import dev.millrace.cli.operation.BackupCommand;
import dev.millrace.cli.operation.DumpCommand;
import dev.millrace.cli.operation.RestoreCommand;
import dev.millrace.cli.operation.VerifyCommand;
import dev.millrace.cli.plot.PlotCommand;
import dev.millrace.cli.shell.SqlCommand;
import dev.millrace.cli.sketch.SketchCommand;
import dev.millrace.server.planning.HeadStart;
import dev.millrace.server.settings.ProductVersion;
import java.io.PrintWriter;
import java.util.logging.Level;
import java.util.logging.Logger;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** The program {@code millrace}: parses the command line and calls the sub-command. */
public final class Main {
    private Main() {}

    public static void main(String[] args) throws Exception {
        Logger.getLogger("").setLevel(Level.SEVERE); // libraries' chatter is no part of a result
        int code = run(args);
        System.out.flush();
        Runtime.getRuntime().exit(code);
    }

    private static int run(String[] args) throws Exception {
        if (args.length == 1 && args[0].equals("warm-up")) {
            return run(
                    WarmUp.arguments()); // the launcher's: loads what first statements need, for its archive of classes
        }
        if (args.length > 0 && args[0].equals("help")) {
            return run(args.length == 1 ? new String[] {"--help"} : new String[] {args[1], "--help"});
        }
        if (args.length > 0 && args[0].equals("sql")) {
            HeadStart.begin(); // while the command line is read
        }
        CommandLine program = new CommandLine(spec());
        ParseResult arguments;
        try {
            arguments = program.parseArgs(args);
        } catch (ParameterException e) {
            PrintWriter err = new PrintWriter(System.err, true);
            err.println("millrace: " + e.getMessage());
            if (!UnmatchedArgumentException.printSuggestions(e, err)) {
                err.println("Try --help.");
            }
            return 2;
        }
        ParseResult sub = arguments.hasSubcommand() ? arguments.subcommand() : arguments;
        CommandLine command = sub.commandSpec().commandLine();
        if (sub.isUsageHelpRequested() || !arguments.hasSubcommand() && !arguments.isVersionHelpRequested()) {
            command.usage(System.out);
            return 0;
        }
        if (arguments.isVersionHelpRequested()) {
            return version();
        }
        return switch (sub.commandSpec().name()) {
            case "sql" -> SqlCommand.run(sub);
            case "server" -> ServerCommand.run(sub);
            case "demo" -> DemoCommand.run(sub);
            case "sketch" -> SketchCommand.run(sub);
            case "edge" -> EdgeCommand.run(sub);
            case "plot" -> PlotCommand.run(sub, System.out, System.err);
            case "backup" -> BackupCommand.run(sub, System.out, System.err);
            case "restore" -> RestoreCommand.run(sub, System.out, System.err);
            case "dump" -> DumpCommand.run(sub, System.out, System.err);
            case "verify" -> VerifyCommand.run(sub, System.out, System.err);
            case "version" -> version();
            default -> bench();
        };
    }

    private static CommandSpec spec() {
        CommandSpec root = CommandSpec.create().name("millrace").mixinStandardHelpOptions(true);
        root.usageMessage()
                .description("A streaming database: state a question once in SQL; its answer stays current.")
                .synopsisSubcommandLabel("COMMAND");
        root.addSubcommand("sql", help(SqlCommand.spec()));
        root.addSubcommand("server", help(ServerCommand.spec()));
        root.addSubcommand("demo", help(DemoCommand.spec()));
        root.addSubcommand("sketch", help(SketchCommand.spec()));
        root.addSubcommand("edge", help(EdgeCommand.spec()));
        root.addSubcommand("plot", help(PlotCommand.spec()));
        root.addSubcommand("backup", help(BackupCommand.spec()));
        root.addSubcommand("restore", help(RestoreCommand.spec()));
        root.addSubcommand("dump", help(DumpCommand.spec()));
        root.addSubcommand("verify", help(VerifyCommand.spec()));
        root.addSubcommand("bench", help(named("bench", "Runs the benchmarks (see bench --help).")));
        root.addSubcommand("version", help(named("version", "Says which version this is.")));
        root.addSubcommand("help", help(named("help", "Says what there is.")));
        return root;
    }

    private static CommandSpec named(String name, String description) {
        CommandSpec spec = CommandSpec.create().name(name);
        spec.usageMessage().description(description);
        return spec;
    }

    private static CommandSpec help(CommandSpec spec) {
        return spec.mixinStandardHelpOptions(true);
    }

    private static int bench() {
        System.err.println("millrace: the benchmarks are in the repository, not in what is shipped: ./millrace bench");
        return 2;
    }

    private static int version() {
        System.out.println("millrace " + ProductVersion.TEXT + " (java " + System.getProperty("java.version") + ")");
        return 0;
    }
}

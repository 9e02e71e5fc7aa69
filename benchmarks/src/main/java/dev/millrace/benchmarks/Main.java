package dev.millrace.benchmarks;

import dev.millrace.benchmarks.csv.CsvCommand;
import dev.millrace.benchmarks.decode.DecodeCommand;
import dev.millrace.benchmarks.edge.EdgeBenchCommand;
import dev.millrace.benchmarks.groups.QueryGroupsCommand;
import dev.millrace.benchmarks.kafka.KafkaCommand;
import dev.millrace.benchmarks.kernels.KernelsCommand;
import dev.millrace.benchmarks.latency.CreateCommand;
import dev.millrace.benchmarks.latency.LatencyCommand;
import dev.millrace.benchmarks.latency.NeighboursCommand;
import dev.millrace.benchmarks.mqtt.MqttCommand;
import dev.millrace.benchmarks.restart.RestartCommand;
import dev.millrace.benchmarks.scheduling.EdgeWiseCommand;
import dev.millrace.benchmarks.scheduling.GroupsCommand;
import dev.millrace.benchmarks.scheduling.KlinkCommand;
import dev.millrace.benchmarks.scheduling.PoliciesCommand;
import dev.millrace.benchmarks.scheduling.TurnsCommand;
import dev.millrace.benchmarks.sizes.SizesCommand;
import dev.millrace.benchmarks.sketch.CompareCommand;
import dev.millrace.benchmarks.sketch.FiguresCommand;
import dev.millrace.benchmarks.sketch.PastCommand;
import dev.millrace.benchmarks.sketch.SketchBenchCommand;
import dev.millrace.benchmarks.sketch.TransferCommand;
import dev.millrace.benchmarks.storage.LogCommand;
import dev.millrace.benchmarks.storage.SegmentsCommand;
import dev.millrace.benchmarks.storage.SpillCommand;
import dev.millrace.benchmarks.suite.CheckpointsCommand;
import dev.millrace.benchmarks.suite.Suite;
import dev.millrace.benchmarks.suite.SuiteCommand;
import dev.millrace.benchmarks.templates.TemplatesCommand;
import dev.millrace.benchmarks.wire.DefinitionsCommand;
import dev.millrace.benchmarks.wire.DurableCommand;
import dev.millrace.benchmarks.wire.ReadsCommand;
import dev.millrace.benchmarks.wire.WireCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** {@code ./millrace bench}. */
@Command(
        name = "millrace bench",
        description = "Measures Millrace on this machine.",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            CsvCommand.class,
            LatencyCommand.class,
            CreateCommand.class,
            NeighboursCommand.class,
            KernelsCommand.class,
            WireCommand.class,
            ReadsCommand.class,
            DurableCommand.class,
            DefinitionsCommand.class,
            SketchBenchCommand.class,
            CompareCommand.class,
            FiguresCommand.class,
            TransferCommand.class,
            PastCommand.class,
            LogCommand.class,
            SegmentsCommand.class,
            SpillCommand.class,
            CheckpointsCommand.class,
            RestartCommand.class,
            DecodeCommand.class,
            KafkaCommand.class,
            MqttCommand.class,
            EdgeBenchCommand.class,
            TemplatesCommand.class,
            QueryGroupsCommand.class,
            SizesCommand.class,
            TurnsCommand.class,
            KlinkCommand.class,
            PoliciesCommand.class,
            GroupsCommand.class,
            EdgeWiseCommand.class
        })
public final class Main implements Runnable {
    @Override
    public void run() {
        CommandLine.usage(this, System.err);
    }

    public static void main(String[] arguments) {
        System.exit(commandLine().execute(arguments));
    }

    /** The command with all its sub-commands, the suites among them. */
    static CommandLine commandLine() {
        CommandLine command = new CommandLine(new Main());
        Suite.NAMES.forEach(name -> command.addSubcommand(name, SuiteCommand.of(Suite.named(name))));
        return command.setCaseInsensitiveEnumValuesAllowed(true);
    }
}

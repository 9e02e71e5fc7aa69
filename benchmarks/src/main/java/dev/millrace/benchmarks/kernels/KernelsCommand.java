package dev.millrace.benchmarks.kernels;

import java.util.List;
import java.util.concurrent.Callable;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code ./millrace bench kernels [NAME...]}: runs the JMH benchmarks of this package. */
@Command(
        name = "kernels",
        description = "Runs JMH benchmarks of single operators: nanoseconds per row of one thread.",
        mixinStandardHelpOptions = true)
public final class KernelsCommand implements Callable<Integer> {
    @Parameters(paramLabel = "NAME", description = "Parts of names of benchmarks; all by default.")
    private List<String> names = List.of(OperatorBenchmark.class.getSimpleName());

    @Override
    public Integer call() throws RunnerException {
        ChainedOptionsBuilder options = new OptionsBuilder().shouldFailOnError(true);
        names.forEach(options::include);
        new Runner(options.build()).run();
        return 0;
    }
}

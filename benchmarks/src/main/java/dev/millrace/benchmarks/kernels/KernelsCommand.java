package dev.millrace.benchmarks.kernels;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.VerboseMode;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code ./millrace bench kernels [NAME...]}: runs the JMH benchmarks of this package, each in a process of its own. One
 * JSON line per result on stdout: the mean of the iterations and the best of them, which is what a busy machine disturbs
 * least.
 */
@Command(
        name = "kernels",
        description = "Runs JMH benchmarks of single operators: nanoseconds per row of one thread.",
        mixinStandardHelpOptions = true)
public final class KernelsCommand implements Callable<Integer> {
    @Parameters(paramLabel = "NAME", description = "Which: ${COMPLETION-CANDIDATES}; all by default.", arity = "0..*")
    private List<BenchmarkPlan> plans = List.of(BenchmarkPlan.values());

    @Option(names = "--iterations", defaultValue = "5", description = "Of a second each (default: ${DEFAULT-VALUE}).")
    private int iterations;

    @Option(names = "--verbose", description = "JMH's own report, too.")
    private boolean verbose;

    @Override
    public Integer call() throws RunnerException {
        for (BenchmarkPlan plan : plans) { // one by one: a line as soon as it is known
            Options options = new OptionsBuilder()
                    .include(OperatorBenchmark.class.getSimpleName())
                    .param("plan", plan.name())
                    .measurementIterations(iterations)
                    .verbosity(verbose ? VerboseMode.NORMAL : VerboseMode.SILENT)
                    .shouldFailOnError(true)
                    .build();
            new Runner(options).run().forEach(result -> System.out.println(json(result)));
        }
        return 0;
    }

    private static String json(RunResult result) {
        BenchmarkParams params = result.getParams();
        double best = result.getBenchmarkResults().stream()
                .flatMap(KernelsCommand::scores)
                .min(Double::compare)
                .orElse(Double.NaN);
        return String.format(
                Locale.ROOT,
                "{\"kernel\":\"%s\",\"ns_per_row\":%.2f,\"best_ns_per_row\":%.2f,\"iterations\":%d}",
                params.getParam("plan").toLowerCase(Locale.ROOT),
                result.getPrimaryResult().getScore(),
                best,
                params.getMeasurement().getCount());
    }

    private static Stream<Double> scores(BenchmarkResult result) {
        return result.getIterationResults().stream()
                .map(iteration -> iteration.getPrimaryResult().getScore());
    }
}

package dev.millrace.benchmarks.sketch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code ./millrace sketch compare [FILE..]}. */
@Command(
        name = "sketch-compare",
        description =
                "Compares the sizes of sketches with other compressions at the same bound, in bytes per observation:"
                        + " of CSV files, or of all the real sets.",
        mixinStandardHelpOptions = true)
public final class CompareCommand implements Callable<Integer> {
    @Parameters(paramLabel = "FILE", description = "CSV files; without any, the sets in --data.")
    private List<Path> files = new ArrayList<>();

    @Option(names = "--data", paramLabel = "DIR", description = "Where the real sets are.")
    private Path data = DataSets.defaultRoot();

    @Option(
            names = "--bound",
            paramLabel = "PERCENT",
            description = "The bound as a percentage of each feature's range (default: ${DEFAULT-VALUE}).")
    private double percent = 1;

    @Option(names = "--png", paramLabel = "FILE", description = "Draw sizes against raw.")
    private @Nullable Path png;

    @Override
    public Integer call() throws IOException {
        List<TimeSeries> sets = files.isEmpty()
                ? new DataSets(data).all()
                : files.stream().map(DataSets::file).toList();
        List<Sizes> all = new ArrayList<>();
        System.out.printf(
                "| set (features) | raw | gzip | lz4hc | zstd19 | Gorilla | LEC | AdaM | PMC | Swing | published | queryable |"
                        + " archival | H1 | q/H | a/H | raw/q | zstd/q | exact time |%n"
                        + "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|%n");
        for (TimeSeries series : sets) {
            Sizes s = Sizes.of(series, percent / 100);
            all.add(s);
            System.out.printf(
                    Locale.ROOT,
                    "| %s (%d) | %.0f | %.3g | %.3g | %.3g | %.3g | %.3g | %.3g | %.3g | %.3g | %.3g | %.3g | %.3g | %.3g |"
                            + " %.2f | %.2f | %.0f | %.1f | %.3f |%n",
                    s.name(),
                    s.features(),
                    s.raw(),
                    s.gzip(),
                    s.lz4(),
                    s.zstd(),
                    s.gorilla(),
                    s.lec(),
                    s.adam(),
                    s.pmc(),
                    s.swing(),
                    s.published(),
                    s.queryable(),
                    s.archival(),
                    s.entropy(),
                    s.queryable() / s.entropy(),
                    s.archival() / s.entropy(),
                    s.raw() / s.queryable(),
                    s.zstd() / s.queryable(),
                    s.time());
        }
        summary("one feature", all.stream().filter(s -> s.features() == 1).toList());
        summary("several features", all.stream().filter(s -> s.features() > 1).toList());
        if (png != null) {
            Files.write(png, plot(all, percent));
        }
        return 0;
    }

    private static void summary(String what, List<Sizes> sizes) {
        if (!sizes.isEmpty()) {
            System.out.printf(
                    Locale.ROOT,
                    "%s: median %.0f times smaller than raw, at least %.1f; median %.1f times smaller than zstd-19; median"
                            + " %.2f (queryable) and %.2f (archival) times the order-1 entropy%n",
                    what,
                    median(sizes, s -> s.raw() / s.queryable()),
                    sizes.stream()
                            .mapToDouble(s -> s.raw() / s.queryable())
                            .min()
                            .orElse(0),
                    median(sizes, s -> s.zstd() / s.queryable()),
                    median(sizes, s -> s.queryable() / s.entropy()),
                    median(sizes, s -> s.archival() / s.entropy()));
        }
    }

    private static double median(List<Sizes> sizes, ToDoubleFunction<Sizes> of) {
        double[] sorted = sizes.stream().mapToDouble(of).sorted().toArray();
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }

    private static byte[] plot(List<Sizes> all, double percent) {
        return Chart.dots(
                String.format(Locale.ROOT, "Sizes of the sets, bound %.3g %% of each feature's range", percent),
                "times smaller than raw",
                all.stream().map(Sizes::name).toList(),
                List.of(
                        dots(all, "zstd-19", s -> s.raw() / s.zstd()),
                        dots(all, "Gorilla", s -> s.raw() / s.gorilla()),
                        dots(all, "LEC", s -> s.raw() / s.lec()),
                        dots(all, "published", s -> s.raw() / s.published()),
                        dots(all, "queryable", s -> s.raw() / s.queryable()),
                        dots(all, "archival", s -> s.raw() / s.archival()),
                        dots(all, "order-1 entropy", s -> s.raw() / s.entropy())));
    }

    private static Chart.Dots dots(List<Sizes> all, String name, ToDoubleFunction<Sizes> of) {
        return new Chart.Dots(name, all.stream().mapToDouble(of).boxed().toList());
    }
}

package dev.millrace.server.metrics;

import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * What is measured: a metric has a value for each of them.
 *
 * @param labels tell them apart
 * @param into where their metrics go
 */
record Subjects<T>(List<T> subjects, Function<T, Labels> labels, List<MetricSnapshot> into) {
    /** Adds a metric that only rises. */
    void counter(String name, String help, ToDoubleFunction<T> value) {
        CounterSnapshot.Builder builder = CounterSnapshot.builder().name(name).help(help);
        for (T subject : subjects) {
            builder.dataPoint(CounterDataPointSnapshot.builder()
                    .labels(labels.apply(subject))
                    .value(Math.max(0, value.applyAsDouble(subject)))
                    .build());
        }
        into.add(builder.build());
    }

    /** Adds a metric that rises and falls. */
    void gauge(String name, String help, ToDoubleFunction<T> value) {
        GaugeSnapshot.Builder builder = GaugeSnapshot.builder().name(name).help(help);
        for (T subject : subjects) {
            builder.dataPoint(GaugeDataPointSnapshot.builder()
                    .labels(labels.apply(subject))
                    .value(value.applyAsDouble(subject))
                    .build());
        }
        into.add(builder.build());
    }
}

package dev.millrace.benchmarks.sketch;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Made-up sets of three kinds, the same every time. */
public enum SyntheticSeries {
    /** One feature that stays for hundreds of rows: an appliance that switches. */
    QUIET(1) {
        @Override
        double[] feature(Random random, int rows) {
            double[] values = new double[rows];
            double level = 0;
            for (int i = 0; i < rows; i++) {
                level = random.nextInt(300) == 0 ? random.nextInt(6) * 40 : level;
                values[i] = level + random.nextGaussian() * .05;
            }
            return values;
        }
    },
    /** One feature that never stays: a wandering level under noise of several bounds. */
    NOISY(1) {
        @Override
        double[] feature(Random random, int rows) {
            double[] values = new double[rows];
            double level = 0;
            for (int i = 0; i < rows; i++) {
                level += random.nextGaussian() * .7 - level * .002;
                values[i] = level + random.nextGaussian();
            }
            return values;
        }
    },
    /** Twelve features, each of its own kind of noise. */
    WIDE(12) {
        @Override
        double[] feature(Random random, int rows) {
            return NOISY.feature(random, rows);
        }
    };

    private final int features;

    SyntheticSeries(int features) {
        this.features = features;
    }

    abstract double[] feature(Random random, int rows);

    public TimeSeries make(int rows) {
        Random random = new Random(42);
        List<double[]> all = new ArrayList<>();
        for (int f = 0; f < features; f++) {
            all.add(feature(random, rows));
        }
        long[] micros = new long[rows];
        Arrays.setAll(micros, i -> 1_700_000_000_000_000L + i * 1_000_000L);
        return new TimeSeries(name().toLowerCase(java.util.Locale.ROOT), micros, all);
    }
}

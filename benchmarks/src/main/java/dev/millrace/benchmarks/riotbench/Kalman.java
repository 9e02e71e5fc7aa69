package dev.millrace.benchmarks.riotbench;

import java.util.List;

/**
 * {@code kalman(double precision[]) RETURNS DOUBLE PRECISION}: what a one-dimensional Kalman filter estimates after measurements,
 * in their order; NULLs are measurements that are missing.
 */
public final class Kalman {
    private static final double PROCESS_NOISE = 0.125;
    private static final double SENSOR_NOISE = 0.32;
    private static final double FIRST_ERROR = 30;

    private Kalman() {}

    public static Double kalman(List<Double> measurements) {
        double estimate = 0;
        double error = FIRST_ERROR;
        for (Double measured : measurements) {
            if (measured != null) {
                error += PROCESS_NOISE;
                double gain = error / (error + SENSOR_NOISE);
                estimate += gain * (measured - estimate);
                error *= 1 - gain;
            }
        }
        return estimate;
    }
}

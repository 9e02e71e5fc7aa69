package dev.millrace.cli.demo;

import java.util.Arrays;

/** The newest values of one measure, oldest first. */
final class MeasureSeries {
    private final double[] values;
    private int size;

    MeasureSeries(int capacity) {
        values = new double[capacity];
    }

    void add(double value) {
        if (size == values.length) {
            System.arraycopy(values, 1, values, 0, size - 1);
            size--;
        }
        values[size++] = value;
    }

    double[] values() {
        return Arrays.copyOf(values, size);
    }

    boolean isEmpty() {
        return size == 0;
    }

    /** The newest value, or 0 before the first. */
    double last() {
        return size == 0 ? 0 : values[size - 1];
    }

    double max() {
        return Arrays.stream(values, 0, size).max().orElse(0);
    }
}

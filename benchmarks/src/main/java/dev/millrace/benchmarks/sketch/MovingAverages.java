package dev.millrace.benchmarks.sketch;

/** Of each feature the average of the last minute of readings: what the processor of figure 6.14 computes. One thread. */
final class MovingAverages {
    private static final int ROWS = 60;

    private final double[][] last;
    private final double[] sums;
    private long rows;
    private double checksum;

    MovingAverages(int features) {
        this.last = new double[features][ROWS];
        this.sums = new double[features];
    }

    int features() {
        return sums.length;
    }

    void add(int feature, double value) {
        int at = (int) (rows % ROWS);
        double known = Double.isNaN(value) ? 0 : value;
        sums[feature] += known - last[feature][at];
        last[feature][at] = known;
        checksum += sums[feature] / ROWS;
    }

    void endRow() {
        rows++;
    }

    long rows() {
        return rows;
    }

    /** What nothing that was computed can be left out of. */
    double checksum() {
        return checksum;
    }
}

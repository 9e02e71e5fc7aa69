package dev.millrace.plan.expression;

/** PostgreSQL's interval: three parts that do not convert into each other except when compared (30 days, 24 hours). */
public record IntervalValue(int months, int days, long micros) {
    /** Microseconds when a month is 30 days and a day 24 hours: the order of intervals. */
    public long comparableMicros() {
        return Math.addExact(Math.multiplyExact(months * 30L + days, 86_400_000_000L), micros);
    }

    @Override
    public String toString() {
        return "interval(" + months + " months " + days + " days " + micros + " us)";
    }
}

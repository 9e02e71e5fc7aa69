package dev.millrace.expressions.function.time;

/** The result of an interval function. Each call in generated code has one. */
public final class Interval {
    public int months;
    public int days;
    public long micros;

    void set(int newMonths, int newDays, long newMicros) {
        months = newMonths;
        days = newDays;
        micros = newMicros;
    }
}

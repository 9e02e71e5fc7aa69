package dev.millrace.text;

/** How intervals are written: PostgreSQL's setting of this name, whose values these are in small letters. */
public enum IntervalStyle {
    /** {@code 1 year 2 mons -3 days +04:05:06}. */
    POSTGRES,
    /** {@code @ 1 year 2 mons -3 days 4 hours 5 mins 6 secs}. */
    POSTGRES_VERBOSE,
    /** {@code +1-2 -3 +4:05:06}; where all is of one sign, and months alone or none, shorter. */
    SQL_STANDARD,
    /** {@code P1Y2M-3DT4H5M6S}. */
    ISO_8601
}

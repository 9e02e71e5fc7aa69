package dev.millrace.sql.statement;

/** The EMIT clause. */
public sealed interface Emit {
    /** Nothing said: windows of append-only streams at their close, everything else as changes. */
    record Unspecified() implements Emit {}

    /** EMIT ON WINDOW CLOSE. */
    record OnWindowClose() implements Emit {}

    /** EMIT CHANGES. */
    record Changes() implements Emit {}

    /** EMIT EVERY INTERVAL: changes, gathered over a period. */
    record Every(long periodMicros) implements Emit {
        public Every {
            if (periodMicros <= 0) {
                throw new IllegalArgumentException("a period must be positive, not " + periodMicros + " us");
            }
        }
    }
}

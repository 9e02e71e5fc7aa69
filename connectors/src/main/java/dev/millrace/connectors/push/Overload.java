package dev.millrace.connectors.push;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;

/** What is thrown away when more comes than can wait, from peers that do not wait. */
public enum Overload {
    /** What has waited longest: those who look at the newest see it. */
    DROP_OLDEST,
    /** What comes. */
    DROP_NEWEST;

    /** The option {@code overload}. */
    public static Overload read(Options options) {
        return options.oneOf("overload", DROP_OLDEST);
    }

    public static OptionDescription description() {
        return new OptionDescription(
                "overload",
                "drop_oldest",
                "what is thrown away when more comes than can wait, from senders that do not wait: drop_oldest or"
                        + " drop_newest; millrace.sources counts it (shed_records)");
    }
}

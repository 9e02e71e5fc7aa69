package dev.millrace.sql.algebra;

/** The operators that expressions are made of. */
public final class Rex {
    static final String TUMBLE = "TUMBLE";
    static final String HOP = "HOP";
    static final String CUMULATE = "CUMULATE";
    static final String SESSION = "SESSION";

    private Rex() {}
}

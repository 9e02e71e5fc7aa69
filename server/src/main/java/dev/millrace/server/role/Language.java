package dev.millrace.server.role;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/**
 * What functions are written in. All but SQL make the server run what they are given: a superuser grants {@code USAGE ON LANGUAGE} to
 * whoever else may create them.
 */
public enum Language {
    SQL(14, true),
    JAVA(13_090, false),
    /** WebAssembly: in a sandbox, so that who may create functions in it gets no further than his queries do. */
    WASM(13_091, true),
    /** In a process that may do what the server may. */
    PYTHON(13_092, false);

    private final int oid;
    private final boolean trusted;

    Language(int oid, boolean trusted) {
        this.oid = oid;
        this.trusted = trusted;
    }

    public int oid() {
        return oid;
    }

    /** Whether functions in it reach nothing that is not theirs, in PostgreSQL's sense. */
    public boolean isTrusted() {
        return trusted;
    }

    /** As it is written in SQL. */
    public String sqlName() {
        return name().toLowerCase(Locale.ROOT);
    }

    public static Optional<Language> named(String name) {
        return Arrays.stream(values())
                .filter(language -> language.sqlName().equals(name))
                .findFirst();
    }

    public static Optional<Language> numbered(int oid) {
        return Arrays.stream(values()).filter(language -> language.oid == oid).findFirst();
    }
}

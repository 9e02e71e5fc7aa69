package dev.millrace.server.storage;

/** One change of what is kept. */
public sealed interface CatalogChange {

    /** An object is there, or is another from now on. */
    record Define(KeptObject object) implements CatalogChange {}

    /** An object is gone. */
    record Drop(String name) implements CatalogChange {}

    /** A query stands still, or goes on. */
    record Pause(String name, boolean paused) implements CatalogChange {}
}

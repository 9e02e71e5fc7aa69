package dev.millrace.server.storage;

import dev.millrace.sql.statement.Commented;
import java.util.Optional;
import java.util.OptionalLong;

/** One change of what is kept. */
public sealed interface CatalogChange {

    /** An object is there, or is another from now on. */
    record Define(KeptObject object) implements CatalogChange {}

    /** An object is gone. */
    record Drop(String name) implements CatalogChange {}

    /**
     * A query stands still, or goes on.
     *
     * @param since the number of the last record of the log of rows before it stands still; none if it goes on
     */
    record Pause(String name, OptionalLong since) implements CatalogChange {}

    /** Somebody says something of a thing; nothing any more without a text. What is dropped has no comments, also when it is defined again. */
    record Comment(Commented on, Optional<String> text) implements CatalogChange {}
}

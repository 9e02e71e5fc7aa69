package dev.millrace.sql.catalog;

import dev.millrace.connector.query.FileCall;
import dev.millrace.connector.query.FileRelation;
import dev.millrace.error.MillraceException;
import dev.millrace.type.PlainNumeric;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * The relations a statement may name. Called by the thread that analyses a statement, several at once; answers should
 * come from memory and should not change during one analysis (pass a snapshot).
 */
public interface Catalog {
    /** The relation that a name without a schema means, or one with the schema {@code pg_temp}. */
    Optional<Relation> relation(String name);

    /** The relation that has this very name in the catalog; see {@link RelationNames}. */
    default Optional<Relation> exactRelation(String name) {
        return relation(name);
    }

    /** Whether names mean something else to the session than to most: it has temporary relations, or looks in other schemas. */
    default boolean hasOwnNames() {
        return false;
    }

    /** Whether there is a schema of this name. */
    default boolean isSchema(String name) {
        return RelationNames.isAlwaysThere(name);
    }

    /** The schema of what has a name in the catalog. */
    default String schemaOf(String name) {
        if (RelationNames.isOfSession(name)) {
            return RelationNames.TEMPORARY;
        }
        String prefix = RelationNames.prefix(name);
        return !prefix.isEmpty() && isSchema(prefix) ? prefix : RelationNames.PUBLIC;
    }

    /** A name of the catalog without its schema. */
    default String withoutSchema(String name) {
        String schema = schemaOf(name);
        return schema.equals(RelationNames.PUBLIC) ? name : name.substring(name.indexOf('.') + 1);
    }

    /** The same as texts see it that are kept: a name without a schema means what is in {@code public}, whoever asks. */
    default Catalog ofDefinitions() {
        return this;
    }

    /**
     * Files as a query names them. They are looked at now; what is found is the statement's until it ends.
     *
     * @throws dev.millrace.error.MillraceException if there are none, they cannot be read, an option is not there, or (42501) the role may
     *     not read files of the server
     */
    default FileRelation files(FileCall call) {
        throw MillraceException.notAvailableYet("files in FROM");
    }

    /** All names that {@link #relation} knows, for suggestions; asked only when a name was not found. */
    Collection<String> relationNames();

    /**
     * What a function that describes the session gives, such as {@code version()}, {@code current_user()} or {@code
     * current_setting('server_version')}; empty when there is no such function. It becomes a constant of the query.
     */
    default Optional<String> sessionFunction(String name, List<String> arguments) {
        return Optional.empty();
    }

    /** The relation whose changes a durable subscription keeps, by the subscription's name. */
    default Optional<String> subscribed(String subscription) {
        return Optional.empty();
    }

    /** The text of the query that a user's view is, of the name of a {@link Relation.Kind#VIEW}. */
    default Optional<String> viewQuery(String name) {
        return Optional.empty();
    }

    /** What NUMERIC without digits means in the text of a user's view, and in the rules of a table, of this name. */
    default PlainNumeric numericIn(String relation) {
        return PlainNumeric.UNLIMITED;
    }

    /**
     * The next value of a column whose values the server makes, as text: a number or a random UUID. Nobody else gets it.
     */
    default Optional<String> nextValue(String relation, String column) {
        return Optional.empty();
    }

    /** The query, as a function without parameters, that a relation is short for whose rows depend on who reads it. */
    default Optional<UserFunction> view(String name) {
        return Optional.empty();
    }

    /** A function that a user made, or one over the catalog that is short for an expression, by its name. */
    default Optional<UserFunction> userFunction(String name) {
        return Optional.empty();
    }

    /** Whether a function of that name is one that a user made, and so of the schema public. */
    default boolean isMadeByUser(String function) {
        return userFunction(function).isPresent();
    }
}

package dev.millrace.sql.catalog;

import dev.millrace.sql.text.Identifiers;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * A constraint of a table: the values that its rows have in some columns are, but for NULLs, those of a key of some row of a table, the
 * same or another.
 *
 * @param name of the constraint; empty where it is still to be given one
 * @param columns of the referencing table
 * @param table the referenced one, by its name in the catalog
 * @param referenced its columns, as many; empty where they are still to be found, as those of the primary key
 * @param onDelete what becomes of rows whose referenced row is deleted
 * @param onUpdate the same where its key changes
 * @param full MATCH FULL: of several columns all or none are NULL; else one NULL is enough for a row not to be asked
 */
public record ForeignKey(
        String name,
        List<String> columns,
        String table,
        List<String> referenced,
        Action onDelete,
        Action onUpdate,
        boolean full,
        Timing timing) {
    /** What becomes of referencing rows, with the letter that PostgreSQL's catalog has for it. */
    public enum Action {
        /** It is an error if they are there when the constraint is checked. */
        NO_ACTION('a'),
        /** The same at the end of the statement, whatever else the transaction does. */
        RESTRICT('r'),
        CASCADE('c'),
        SET_NULL('n'),
        SET_DEFAULT('d');

        private final char letter;

        Action(char letter) {
            this.letter = letter;
        }

        /** As {@code pg_constraint.confdeltype} has it. */
        public String letter() {
            return String.valueOf(letter);
        }

        /** As a statement says it. */
        public String words() {
            return name().replace('_', ' ');
        }
    }

    /** When it is checked. */
    public enum Timing {
        /** At the end of each statement. */
        NOT_DEFERRABLE(""),
        /** The same, unless SET CONSTRAINTS says that COMMIT is early enough. */
        DEFERRABLE(" DEFERRABLE"),
        /** By COMMIT, unless SET CONSTRAINTS says otherwise. */
        DEFERRED(" DEFERRABLE INITIALLY DEFERRED");

        private final String words;

        Timing(String words) {
            this.words = words;
        }
    }

    public ForeignKey {
        columns = List.copyOf(columns);
        referenced = List.copyOf(referenced);
    }

    /** The same under a name, over columns that are known. */
    public ForeignKey known(String newName, List<String> newReferenced) {
        return new ForeignKey(newName, columns, table, newReferenced, onDelete, onUpdate, full, timing);
    }

    public ForeignKey withTable(String newTable) {
        return new ForeignKey(name, columns, newTable, referenced, onDelete, onUpdate, full, timing);
    }

    /** The same with other names of the columns of the referencing table. */
    public ForeignKey withColumns(UnaryOperator<String> names) {
        return new ForeignKey(
                name, columns.stream().map(names).toList(), table, referenced, onDelete, onUpdate, full, timing);
    }

    /** The same of the referenced table. */
    public ForeignKey withReferenced(UnaryOperator<String> names) {
        return known(name, referenced.stream().map(names).toList());
    }

    /** What stands behind the name of the constraint, with the names of the catalog. */
    public String text() {
        return text(RelationNames.quoted(table));
    }

    /** The same, the referenced table written in another way. */
    public String text(String writtenTable) {
        return "FOREIGN KEY (" + list(columns) + ") REFERENCES " + writtenTable + "(" + list(referenced) + ")"
                + (full ? " MATCH FULL" : "")
                + (onUpdate == Action.NO_ACTION ? "" : " ON UPDATE " + onUpdate.words())
                + (onDelete == Action.NO_ACTION ? "" : " ON DELETE " + onDelete.words())
                + timing.words;
    }

    /** As an element of CREATE TABLE. */
    public String element() {
        return "CONSTRAINT " + Identifiers.quote(name) + " " + text();
    }

    private static String list(List<String> names) {
        return names.stream().map(Identifiers::quote).collect(Collectors.joining(", "));
    }
}

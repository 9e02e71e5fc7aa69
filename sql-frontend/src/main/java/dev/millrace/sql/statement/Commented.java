package dev.millrace.sql.statement;

import java.util.Comparator;
import java.util.NavigableMap;

/**
 * What can have a comment, as the catalog knows it. Those about one thing are beside each other in their order.
 *
 * @param name of the thing in the catalog, or of the relation that it is part of; of the database empty, which no other name is
 * @param part of a column or constraint its name; of a primary key, whose name is made of its table's, empty
 */
public record Commented(Kind kind, String name, String part) implements Comparable<Commented> {
    /** The database itself. */
    public static final Commented DATABASE = thing("");

    private static final Comparator<Commented> ORDER =
            Comparator.comparing(Commented::name).thenComparing(Commented::kind).thenComparing(Commented::part);

    /** What part of a thing it is. */
    public enum Kind {
        THING,
        COLUMN,
        CONSTRAINT
    }

    /** A thing as a whole. */
    public static Commented thing(String name) {
        return new Commented(Kind.THING, name, "");
    }

    /** The same of a thing of another name. */
    public Commented of(String otherName) {
        return new Commented(kind, otherName, part);
    }

    /** Of these what is about one thing and its parts: a view. */
    public static <T> NavigableMap<Commented, T> about(NavigableMap<Commented, T> all, String name) {
        return all.subMap(thing(name), true, thing(name + '\0'), false); // which is the next name
    }

    @Override
    public int compareTo(Commented other) {
        return ORDER.compare(this, other);
    }
}

package dev.millrace.sql.statement;

import dev.millrace.sql.catalog.RelationNames;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Something that privileges are about. Relations, sinks, templates and functions of a schema share one space of names. */
public record Securable(Kind kind, String name) {
    /** Kinds, with the privileges that there are. */
    public enum Kind {
        /** A stream, table, continuous query, view or sink. */
        RELATION(EnumSet.range(Privilege.SELECT, Privilege.TRIGGER)),
        FUNCTION(EnumSet.of(Privilege.EXECUTE)),
        SCHEMA(EnumSet.of(Privilege.USAGE, Privilege.CREATE)),
        DATABASE(EnumSet.of(Privilege.CREATE, Privilege.CONNECT, Privilege.TEMPORARY)),
        LANGUAGE(EnumSet.of(Privilege.USAGE));

        private final Set<Privilege> privileges;

        Kind(Set<Privilege> privileges) {
            this.privileges = Set.copyOf(privileges);
        }

        public Set<Privilege> privileges() {
            return privileges;
        }
    }

    public static Securable relation(String name) {
        return new Securable(Kind.RELATION, name);
    }

    public static Securable function(String name) {
        return new Securable(Kind.FUNCTION, name);
    }

    /** All that may be what has a name in the catalog. */
    public static List<Securable> named(String name) {
        return RelationNames.isSchema(name)
                ? List.of(new Securable(Kind.SCHEMA, RelationNames.shown(name)))
                : List.of(relation(name), function(name));
    }
}

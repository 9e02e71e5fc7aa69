package dev.millrace.server.role;

import dev.millrace.sql.statement.Securable;
import dev.millrace.sql.statement.Statement.ObjectKind;
import java.util.List;
import java.util.Optional;

/**
 * Objects that are not there yet.
 *
 * @param role who makes them
 * @param schema where; none means everywhere
 * @param only the kind of relations; none means all that {@code kind} says
 */
public record DefaultTarget(String role, Optional<String> schema, Securable.Kind kind, Optional<ObjectKind> only) {
    /** The access list that they have if nothing was said; one that only adds to another has nothing. */
    List<AccessItem> byItself() {
        return schema.isEmpty() && only.isEmpty() ? AccessDefaults.of(new Securable(kind, "")) : List.of();
    }

    boolean isOf(String owner, Optional<String> place, Securable.Kind of, ObjectKind made) {
        return role.equals(owner)
                && kind == of
                && (schema.isEmpty() || schema.equals(place))
                && (only.isEmpty() || only.get() == made);
    }
}

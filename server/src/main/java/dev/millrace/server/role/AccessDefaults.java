package dev.millrace.server.role;

import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.Privilege;
import dev.millrace.sql.statement.Securable;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** What PUBLIC may do with an object before anybody says otherwise: as PostgreSQL 15 has it. */
final class AccessDefaults {
    /** What {@code pg_write_all_data} gives. */
    static final Set<Privilege> WRITES = Set.copyOf(EnumSet.of(Privilege.INSERT, Privilege.UPDATE, Privilege.DELETE));

    private AccessDefaults() {}

    static List<AccessItem> of(Securable object) {
        return switch (object.kind()) {
            case RELATION -> List.of();
            case FUNCTION -> List.of(toPublic(Privilege.EXECUTE));
            case SCHEMA -> RelationNames.isAlwaysThere(object.name()) ? List.of(toPublic(Privilege.USAGE)) : List.of();
            case DATABASE -> List.of(toPublic(Privilege.CONNECT), toPublic(Privilege.TEMPORARY));
            case LANGUAGE -> object.name().equals("sql") ? List.of(toPublic(Privilege.USAGE)) : List.of();
        };
    }

    private static AccessItem toPublic(Privilege privilege) {
        return new AccessItem("", Roles.OWNER, privilege, false);
    }
}

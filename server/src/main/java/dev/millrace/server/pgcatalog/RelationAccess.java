package dev.millrace.server.pgcatalog;

import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.role.Roles;
import dev.millrace.sql.statement.Privilege;
import dev.millrace.sql.statement.Securable;
import java.util.Set;

/** Who may do what with a relation, also with one of the system's. Safe on any thread. */
public final class RelationAccess {
    /** Of the system's relations those that show other roles' secrets. */
    private static final Set<String> FOR_SUPERUSERS =
            Set.of("pg_catalog.pg_authid", "pg_catalog.pg_shadow", "millrace.definitions");

    /** Those that show rows of any stream. */
    private static final Set<String> WITH_ROWS = Set.of("millrace.rejected_rows", "millrace.late_rows");

    private RelationAccess() {}

    /** @param name as the catalog has it: those of the system with their schema */
    public static boolean allows(DatabaseCatalog catalog, String role, Privilege privilege, String name) {
        Roles roles = catalog.roles();
        if (catalog.object(name).isPresent()) {
            return roles.has(role, privilege, Securable.relation(name));
        }
        if (roles.isSuperuser(role)) {
            return true;
        }
        return privilege == Privilege.SELECT
                && !FOR_SUPERUSERS.contains(name)
                && (!WITH_ROWS.contains(name) || roles.hasPrivilegesOf(role, Roles.READ_ALL));
    }
}

package dev.millrace.server.permission;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.result.StatementResult.Command;
import dev.millrace.server.role.AccessItem;
import dev.millrace.server.role.DefaultTarget;
import dev.millrace.server.role.Roles;
import dev.millrace.sql.statement.Privilege;
import dev.millrace.sql.statement.Securable;
import dev.millrace.sql.statement.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** ALTER DEFAULT PRIVILEGES: what may be done with objects that a role has yet to make. */
final class DefaultPrivileges {
    private final DatabaseCatalog catalog;
    private final Roles roles;
    private final Identity identity;

    DefaultPrivileges(DatabaseCatalog catalog, Identity identity) {
        this.catalog = catalog;
        this.roles = catalog.roles();
        this.identity = identity;
    }

    /** @param privileges those that are meant, which there are for the kind */
    Command alter(Statement.AlterDefaultPrivileges alter, Set<Privilege> privileges) {
        Statement.GrantPrivileges grant = alter.grant();
        if (grant.kind() == Securable.Kind.SCHEMA && !grant.schemas().isEmpty()) {
            throw MillraceException.user(
                    SqlState.INVALID_GRANT_OPERATION, "cannot use IN SCHEMA clause when using GRANT/REVOKE ON SCHEMAS");
        }
        for (DefaultTarget target : targets(alter)) {
            for (String given : grant.grantees()) {
                String grantee = given.isEmpty() ? "" : identity.named(given);
                for (Privilege privilege : privileges) {
                    if (grant.revoke()) {
                        roles.revokeByDefault(target, grantee, privilege, grant.optionOnly());
                    } else {
                        roles.grantByDefault(target, new AccessItem(grantee, target.role(), privilege, grant.option()));
                    }
                }
            }
        }
        return Command.of("ALTER DEFAULT PRIVILEGES");
    }

    private List<DefaultTarget> targets(Statement.AlterDefaultPrivileges alter) {
        Statement.GrantPrivileges grant = alter.grant();
        List<Optional<String>> schemas = new ArrayList<>();
        for (String schema : grant.schemas()) {
            if (!catalog.isSchema(schema)) {
                throw DatabaseCatalog.undefinedSchema(schema);
            }
            schemas.add(Optional.of(schema));
        }
        if (schemas.isEmpty()) {
            schemas.add(Optional.empty());
        }
        List<DefaultTarget> targets = new ArrayList<>();
        for (String maker : makers(alter)) {
            schemas.forEach(schema -> targets.add(new DefaultTarget(maker, schema, grant.kind(), grant.only())));
        }
        return targets;
    }

    private List<String> makers(Statement.AlterDefaultPrivileges alter) {
        if (alter.roles().isEmpty()) {
            return List.of(identity.current());
        }
        List<String> makers = new ArrayList<>();
        for (String given : alter.roles()) {
            String maker = roles.require(identity.named(given)).name();
            if (!roles.hasPrivilegesOf(identity.current(), maker)) {
                throw MillraceException.user(
                        SqlState.INSUFFICIENT_PRIVILEGE, "permission denied to change default privileges");
            }
            makers.add(maker);
        }
        return makers;
    }
}

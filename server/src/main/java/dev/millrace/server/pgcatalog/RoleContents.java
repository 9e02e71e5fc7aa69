package dev.millrace.server.pgcatalog;

import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.role.AccessItem;
import dev.millrace.server.role.Membership;
import dev.millrace.server.role.Role;
import dev.millrace.server.role.Roles;
import dev.millrace.server.role.ScramSecret;
import dev.millrace.server.settings.Setting;
import dev.millrace.sql.statement.Privilege;
import dev.millrace.sql.statement.Securable;
import dev.millrace.sql.statement.Statement.RoleAttribute;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

/** Roles and privileges as PostgreSQL's relations show them. */
final class RoleContents {
    private static final String HIDDEN = "********";
    private static final String DATABASE = Setting.DATABASE.defaultValue();

    private final DatabaseCatalog catalog;
    private final Roles roles;

    RoleContents(DatabaseCatalog catalog) {
        this.catalog = catalog;
        this.roles = catalog.roles();
    }

    void addTo(Map<String, Consumer<NamedRows>> fillers) {
        fillers.put("pg_catalog.pg_roles", rows -> roles(rows, role -> Optional.of(HIDDEN), true));
        fillers.put(
                "pg_catalog.pg_authid",
                rows -> roles(rows, role -> role.password().map(ScramSecret::text), false));
        fillers.put("pg_catalog.pg_user", rows -> users(rows, role -> Optional.of(HIDDEN)));
        fillers.put(
                "pg_catalog.pg_shadow",
                rows -> users(rows, role -> role.password().map(ScramSecret::text)));
        fillers.put("pg_catalog.pg_group", this::groups);
        fillers.put("pg_catalog.pg_auth_members", this::members);
        fillers.put("pg_catalog.pg_db_role_setting", this::settings);
        fillers.put("pg_catalog.pg_table_grants", this::tableGrants);
    }

    private interface Password {
        Optional<String> of(Role role);
    }

    /** The number of a role, of the superuser's if it is gone. */
    int oid(String role) {
        return roles.find(role).map(Role::id).orElse(Oids.OWNER);
    }

    int ownerOid(String object) {
        return oid(roles.owner(object));
    }

    /** An access list as text; none where nothing was granted or revoked. */
    Optional<List<String>> access(Securable object) {
        return roles.accessTexts(object);
    }

    /** The same, of an object on which nothing was granted or revoked what holds by default. */
    List<String> allTexts(Securable object) {
        return roles.allAccessTexts(object);
    }

    /** What the owner may do, and what others were granted. */
    List<AccessItem> all(Securable object) {
        String owner = roles.owner(object.name());
        List<AccessItem> items = new ArrayList<>();
        for (Privilege privilege : object.kind().privileges()) {
            items.add(new AccessItem(owner, owner, privilege, true));
        }
        items.addAll(roles.access(object));
        return items;
    }

    private static Optional<Long> validUntil(Role role) {
        return role.validUntilMicros().isEmpty()
                ? Optional.empty()
                : Optional.of(role.validUntilMicros().getAsLong());
    }

    private static Optional<List<String>> configuration(Role role) {
        List<String> settings = new ArrayList<>();
        new TreeMap<>(role.settings()).forEach((name, value) -> settings.add(name + "=" + value));
        return settings.isEmpty() ? Optional.empty() : Optional.of(settings);
    }

    private void roles(NamedRows rows, Password password, boolean withSettings) {
        for (Role role : roles.all()) {
            List<Object> values = new ArrayList<>(List.of(
                    "oid", role.id(),
                    "rolname", role.name(),
                    "rolsuper", role.isSuperuser(),
                    "rolinherit", role.is(RoleAttribute.INHERIT),
                    "rolcreaterole", role.is(RoleAttribute.CREATEROLE),
                    "rolcreatedb", role.is(RoleAttribute.CREATEDB),
                    "rolcanlogin", role.is(RoleAttribute.LOGIN),
                    "rolreplication", role.is(RoleAttribute.REPLICATION),
                    "rolconnlimit", role.connectionLimit(),
                    "rolpassword", password.of(role)));
            values.addAll(List.of(
                    "rolvaliduntil", validUntil(role),
                    "rolbypassrls", role.is(RoleAttribute.BYPASSRLS)));
            if (withSettings) {
                values.addAll(List.of("rolconfig", configuration(role)));
            }
            rows.add(values.toArray());
        }
    }

    private void users(NamedRows rows, Password password) {
        for (Role role : roles.all()) {
            if (role.is(RoleAttribute.LOGIN)) {
                rows.add(
                        "usename", role.name(),
                        "usesysid", role.id(),
                        "usecreatedb", role.is(RoleAttribute.CREATEDB),
                        "usesuper", role.isSuperuser(),
                        "userepl", role.is(RoleAttribute.REPLICATION),
                        "usebypassrls", role.is(RoleAttribute.BYPASSRLS),
                        "passwd", password.of(role),
                        "valuntil", validUntil(role),
                        "useconfig", configuration(role));
            }
        }
    }

    private void groups(NamedRows rows) {
        for (Role role : roles.all()) {
            if (!role.is(RoleAttribute.LOGIN)) {
                List<Integer> members = roles.memberships().stream()
                        .filter(m -> m.role().equals(role.name()))
                        .map(m -> oid(m.member()))
                        .toList();
                rows.add("groname", role.name(), "grosysid", role.id(), "grolist", members);
            }
        }
    }

    private void members(NamedRows rows) {
        for (Membership membership : roles.memberships()) {
            rows.add(
                    "roleid", oid(membership.role()),
                    "member", oid(membership.member()),
                    "grantor", oid(membership.grantor()),
                    "admin_option", membership.admin());
        }
    }

    private void settings(NamedRows rows) {
        for (Role role : roles.all()) {
            configuration(role)
                    .ifPresent(settings -> rows.add("setdatabase", 0, "setrole", role.id(), "setconfig", settings));
        }
    }

    private void tableGrants(NamedRows rows) {
        for (ShownRelation relation : ShownRelation.all(catalog)) {
            if (relation.object().isEmpty()) {
                continue;
            }
            all(Securable.relation(relation.catalogName())).forEach(item -> tableGrant(rows, relation, item));
        }
    }

    private static void tableGrant(NamedRows rows, ShownRelation relation, AccessItem item) {
        rows.add(
                StandardName.of(relation),
                "grantor",
                item.grantor(),
                "grantee",
                item.grantee().isEmpty() ? "PUBLIC" : item.grantee(),
                "role",
                item.grantee(),
                "privilege_type",
                item.privilege().name(),
                "is_grantable",
                item.grantable() ? "YES" : "NO",
                "with_hierarchy",
                item.privilege() == Privilege.SELECT ? "YES" : "NO");
    }
}

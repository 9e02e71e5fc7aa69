package dev.millrace.server.role;

import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.Privilege;
import dev.millrace.sql.statement.Securable;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.statement.Statement.RoleAttribute;
import dev.millrace.sql.text.Identifiers;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/** Roles and privileges as statements, and access lists as PostgreSQL writes them. */
final class RoleText {
    /** The order of PostgreSQL's letters, {@code arwdDxtXUCcT}. */
    private static final List<Privilege> AS_WRITTEN = asWritten();

    /** How definitions of default privileges begin. */
    static final String DEFAULTS = "ALTER DEFAULT PRIVILEGES";

    private RoleText() {}

    private static List<Privilege> asWritten() {
        List<Privilege> order = new ArrayList<>(List.of(Privilege.INSERT));
        for (Privilege privilege : Privilege.values()) {
            if (privilege != Privilege.INSERT) {
                order.add(privilege);
            }
        }
        return List.copyOf(order);
    }

    static List<String> roles(Collection<Role> roles, List<Membership> memberships) {
        List<String> statements = new ArrayList<>();
        for (Role role : roles) {
            if (!Roles.isPredefined(role.name())) {
                boolean there = role.name().equals(Roles.OWNER);
                statements.add(
                        (there ? "ALTER ROLE " : "CREATE ROLE ") + Identifiers.quote(role.name()) + options(role));
            }
        }
        for (Role role : roles) {
            new TreeMap<>(role.settings())
                    .forEach((setting, value) -> statements.add("ALTER ROLE " + Identifiers.quote(role.name()) + " SET "
                            + setting + " = " + Identifiers.quoteText(value)));
        }
        for (Role role : roles) {
            role.comment()
                    .ifPresent(text -> statements.add("COMMENT ON ROLE " + Identifiers.quote(role.name()) + " IS "
                            + Identifiers.quoteText(text)));
        }
        for (Membership membership : memberships) {
            statements.add("GRANT " + Identifiers.quote(membership.role()) + " TO "
                    + Identifiers.quote(membership.member()) + (membership.admin() ? " WITH ADMIN OPTION" : "")
                    + grantedBy(membership.grantor()));
        }
        return statements;
    }

    private static String options(Role role) {
        StringBuilder text = new StringBuilder(" WITH");
        for (RoleAttribute attribute : RoleAttribute.values()) {
            text.append(role.is(attribute) ? " " : " NO").append(attribute.name());
        }
        text.append(" CONNECTION LIMIT ").append(role.connectionLimit());
        role.password().ifPresent(secret -> text.append(" PASSWORD ").append(Identifiers.quoteText(secret.text())));
        role.validUntilMicros()
                .ifPresent(micros -> text.append(" VALID UNTIL ").append(Identifiers.quoteText(validUntil(micros))));
        return text.toString();
    }

    private static String validUntil(long micros) {
        return Instant.ofEpochSecond(Math.floorDiv(micros, 1_000_000L), Math.floorMod(micros, 1_000_000L) * 1_000L)
                .toString();
    }

    static List<String> privileges(
            Map<String, String> owners,
            Map<Securable, List<AccessItem>> access,
            DefaultAccess defaults,
            Function<String, Optional<String>> kindOf) {
        List<String> statements = new ArrayList<>();
        owners.forEach((object, owner) -> kindOf.apply(object)
                .ifPresent(kind -> statements.add("ALTER " + kind.toUpperCase(Locale.ROOT) + " "
                        + RelationNames.quoted(object) + " OWNER TO " + Identifiers.quote(owner))));
        List<String> grants = new ArrayList<>();
        access.forEach((object, items) -> {
            if (items.isEmpty() && AccessDefaults.of(object).isEmpty()) { // and no default privileges give it any
                grants.add("REVOKE ALL ON " + target(object) + " FROM PUBLIC");
            }
            for (AccessItem without : AccessDefaults.of(object)) {
                if (items.stream()
                        .noneMatch(item -> item.grantee().isEmpty() && item.privilege() == without.privilege())) {
                    grants.add("REVOKE " + without.privilege() + " ON " + target(object) + " FROM PUBLIC");
                }
            }
            for (AccessItem item : items) {
                String grantee = item.grantee().isEmpty() ? "PUBLIC" : Identifiers.quote(item.grantee());
                grants.add("GRANT " + item.privilege() + " ON " + target(object) + " TO " + grantee
                        + (item.grantable() ? " WITH GRANT OPTION" : "")
                        + grantedBy(item.grantor()));
            }
        });
        grants.sort(null);
        statements.addAll(grants);
        statements.addAll(defaults(defaults));
        return statements;
    }

    /** Behind all else: nothing that is made to be as it was has these. */
    private static List<String> defaults(DefaultAccess defaults) {
        List<String> statements = new ArrayList<>();
        defaults.lists().forEach((target, items) -> {
            String alter = DEFAULTS + " FOR ROLE " + Identifiers.quote(target.role())
                    + target.schema()
                            .map(schema -> " IN SCHEMA " + Identifiers.quote(schema))
                            .orElse("");
            String on = " ON " + plural(target);
            for (AccessItem without : target.byItself()) {
                if (!items.contains(without)) {
                    statements.add(alter + " REVOKE " + without.privilege() + on + " FROM PUBLIC");
                }
            }
            for (AccessItem item : items) {
                if (!target.byItself().contains(item)) {
                    String grantee = item.grantee().isEmpty() ? "PUBLIC" : Identifiers.quote(item.grantee());
                    statements.add(alter + " GRANT " + item.privilege() + on + " TO " + grantee
                            + (item.grantable() ? " WITH GRANT OPTION" : ""));
                }
            }
        });
        statements.sort(
                Comparator.comparing((String text) -> text.contains(" GRANT ")).thenComparing(text -> text));
        return statements;
    }

    /** As ALTER DEFAULT PRIVILEGES names what it is about. */
    private static String plural(DefaultTarget target) {
        if (target.only().isPresent()) {
            return target.only().get() == ObjectKind.STREAM
                    ? "SOURCES"
                    : target.only().get().sqlName().toUpperCase(Locale.ROOT) + "S";
        }
        return target.kind() == Securable.Kind.RELATION ? "TABLES" : target.kind() + "S";
    }

    /** A list that stands for all has what the owner may do, too; one that adds to it has only that. */
    static List<String> defaultList(DefaultTarget target, List<AccessItem> items) {
        String owner = target.role();
        return accessList(new Securable(target.kind(), ""), owner, items).stream()
                .filter(text -> target.schema().isEmpty() || !text.startsWith(owner + "="))
                .toList();
    }

    /** Left out where it is the superuser, who restores. */
    private static String grantedBy(String grantor) {
        return grantor.equals(Roles.OWNER) ? "" : " GRANTED BY " + Identifiers.quote(grantor);
    }

    private static String target(Securable object) {
        String kind = object.kind() == Securable.Kind.RELATION
                ? "TABLE"
                : object.kind().name();
        boolean isInSchema = object.kind() == Securable.Kind.RELATION || object.kind() == Securable.Kind.FUNCTION;
        String name = isInSchema ? RelationNames.quoted(object.name()) : Identifiers.quote(object.name());
        return kind + " " + name;
    }

    /** {@code joe=rw/millrace}: letters of privileges, a star for the right to pass one on. */
    static List<String> accessList(Securable object, String owner, List<AccessItem> items) {
        Map<String, StringBuilder> letters = new LinkedHashMap<>();
        for (Privilege privilege : AS_WRITTEN) {
            if (object.kind().privileges().contains(privilege)) {
                letters.computeIfAbsent(owner + "=%s/" + owner, key -> new StringBuilder())
                        .append(privilege.letter());
            }
        }
        for (Privilege privilege : AS_WRITTEN) {
            for (AccessItem item : items) {
                if (item.privilege() == privilege) {
                    letters.computeIfAbsent(item.grantee() + "=%s/" + item.grantor(), key -> new StringBuilder())
                            .append(privilege.letter())
                            .append(item.grantable() ? "*" : "");
                }
            }
        }
        return letters.entrySet().stream()
                .map(entry -> entry.getKey().replace("%s", entry.getValue()))
                .toList();
    }
}

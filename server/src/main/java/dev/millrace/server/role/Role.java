package dev.millrace.server.role;

import dev.millrace.sql.statement.Statement.RoleAttribute;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;

/**
 * A role: a user when it may log in, a group when it has members; nothing keeps it from being both.
 *
 * @param id as {@code pg_roles.oid}; not the same in another run
 * @param attributes those that hold
 * @param connectionLimit sessions at once; -1 for any number
 * @param password what is kept of it; a role without one cannot prove who it is
 * @param validUntilMicros since 1970 UTC, when the password stops being good; none for never
 * @param settings what its sessions begin with, by setting
 * @param comment what COMMENT ON says of it
 */
public record Role(
        String name,
        int id,
        Set<RoleAttribute> attributes,
        int connectionLimit,
        Optional<ScramSecret> password,
        OptionalLong validUntilMicros,
        Map<String, String> settings,
        Optional<String> comment) {
    public Role {
        attributes = Set.copyOf(attributes);
        settings = Map.copyOf(new TreeMap<>(settings));
    }

    /** One that can do nothing but be granted something. */
    static Role plain(String name, int id) {
        return new Role(
                name,
                id,
                EnumSet.of(RoleAttribute.INHERIT),
                -1,
                Optional.empty(),
                OptionalLong.empty(),
                Map.of(),
                Optional.empty());
    }

    public boolean is(RoleAttribute attribute) {
        return attributes.contains(attribute);
    }

    public boolean isSuperuser() {
        return is(RoleAttribute.SUPERUSER);
    }

    public Role withName(String newName) {
        return new Role(newName, id, attributes, connectionLimit, password, validUntilMicros, settings, comment);
    }

    public Role withAttributes(Map<RoleAttribute, Boolean> changes) {
        Set<RoleAttribute> changed = EnumSet.noneOf(RoleAttribute.class);
        changed.addAll(attributes);
        changes.forEach((attribute, holds) -> {
            if (holds) {
                changed.add(attribute);
            } else {
                changed.remove(attribute);
            }
        });
        return new Role(name, id, changed, connectionLimit, password, validUntilMicros, settings, comment);
    }

    public Role withConnectionLimit(int newLimit) {
        return new Role(name, id, attributes, newLimit, password, validUntilMicros, settings, comment);
    }

    public Role withPassword(Optional<ScramSecret> newPassword) {
        return new Role(name, id, attributes, connectionLimit, newPassword, validUntilMicros, settings, comment);
    }

    public Role withValidUntil(OptionalLong micros) {
        return new Role(name, id, attributes, connectionLimit, password, micros, settings, comment);
    }

    public Role withSettings(Map<String, String> newSettings) {
        return new Role(name, id, attributes, connectionLimit, password, validUntilMicros, newSettings, comment);
    }

    public Role withComment(Optional<String> text) {
        return new Role(name, id, attributes, connectionLimit, password, validUntilMicros, settings, text);
    }

    /** Without what is kept of the password. */
    @Override
    public String toString() {
        return "Role[" + name + "]";
    }
}

package dev.millrace.server.storage;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What one statement, or one transaction, changed: all of it or nothing is kept.
 *
 * @param access all roles and privileges from now on, if they changed
 * @param settings all that SET changed for everybody, if that changed
 * @param logs all logs that there are, by their directories, if these changed
 * @param mark a number that an entry of the log of rows has without which this does not count: of a transaction that changed rows, too
 */
public record CatalogRecord(
        List<CatalogChange> changes,
        Optional<Access> access,
        Optional<Map<String, String>> settings,
        Optional<Map<String, KnownLog>> logs,
        OptionalLong mark) {
    public CatalogRecord {
        changes = List.copyOf(changes);
    }

    /** One that counts whatever the log of rows has. */
    public CatalogRecord(
            List<CatalogChange> changes,
            Optional<Access> access,
            Optional<Map<String, String>> settings,
            Optional<Map<String, KnownLog>> logs) {
        this(changes, access, settings, logs, OptionalLong.empty());
    }

    /** One that says nothing of logs. */
    public CatalogRecord(List<CatalogChange> changes, Optional<Access> access, Optional<Map<String, String>> settings) {
        this(changes, access, settings, Optional.empty(), OptionalLong.empty());
    }

    /**
     * Roles and privileges.
     *
     * @param roles statements that make the roles; a secret
     * @param owners of objects, where it is not the superuser
     * @param grants statements that give privileges
     */
    public record Access(List<String> roles, Map<String, String> owners, List<String> grants) {
        public static final Access NONE = new Access(List.of(), Map.of(), List.of());

        public Access {
            roles = List.copyOf(roles);
            owners = Map.copyOf(owners);
            grants = List.copyOf(grants);
        }
    }

    public boolean isEmpty() {
        return changes.isEmpty() && access.isEmpty() && settings.isEmpty() && logs.isEmpty();
    }
}

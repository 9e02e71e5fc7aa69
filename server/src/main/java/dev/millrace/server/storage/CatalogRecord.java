package dev.millrace.server.storage;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What one statement changed: all of it or nothing is kept.
 *
 * @param access all roles and privileges from now on, if they changed
 * @param settings all that SET changed for everybody, if that changed
 * @param logs all logs that there are, by their directories, if these changed
 */
public record CatalogRecord(
        List<CatalogChange> changes,
        Optional<Access> access,
        Optional<Map<String, String>> settings,
        Optional<Map<String, KnownLog>> logs) {
    public CatalogRecord {
        changes = List.copyOf(changes);
    }

    /** One that says nothing of logs. */
    public CatalogRecord(List<CatalogChange> changes, Optional<Access> access, Optional<Map<String, String>> settings) {
        this(changes, access, settings, Optional.empty());
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

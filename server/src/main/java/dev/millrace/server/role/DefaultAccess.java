package dev.millrace.server.role;

import dev.millrace.sql.statement.Privilege;
import dev.millrace.sql.statement.Securable;
import dev.millrace.sql.statement.Statement.ObjectKind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * What ALTER DEFAULT PRIVILEGES said of objects that roles will make. Immutable.
 *
 * <p>As in PostgreSQL: lists of a role for all schemas begin with what holds {@linkplain AccessDefaults by itself}, so that it can be revoked;
 * those for one schema, or for one kind of relation, only add to them.
 */
record DefaultAccess(Map<DefaultTarget, List<AccessItem>> lists) {
    static final DefaultAccess NONE = new DefaultAccess(Map.of());

    DefaultAccess {
        lists = Map.copyOf(lists);
    }

    List<AccessItem> list(DefaultTarget target) {
        return lists.getOrDefault(target, target.byItself());
    }

    /** A list that says what holds by itself is none. */
    DefaultAccess with(DefaultTarget target, List<AccessItem> list) {
        Map<DefaultTarget, List<AccessItem>> changed = new HashMap<>(lists);
        if (list.equals(target.byItself())) {
            changed.remove(target);
        } else {
            changed.put(target, List.copyOf(list));
        }
        return new DefaultAccess(changed);
    }

    /** Whether anything was said of what a role makes. */
    boolean isSaidOf(String role) {
        return lists.keySet().stream().anyMatch(target -> target.role().equals(role));
    }

    /** The access list of a new object; empty if nothing was said of it. @param schema where it is; none for a schema */
    Optional<List<AccessItem>> of(String owner, Optional<String> schema, Securable.Kind kind, ObjectKind made) {
        List<DefaultTarget> said = lists.keySet().stream()
                .filter(target -> target.isOf(owner, schema, kind, made))
                .toList();
        if (said.isEmpty()) {
            return Optional.empty();
        }
        List<AccessItem> all =
                new ArrayList<>(list(new DefaultTarget(owner, Optional.empty(), kind, Optional.empty())));
        said.stream()
                .filter(target -> target.schema().isPresent() || target.only().isPresent())
                .forEach(target -> list(target).forEach(item -> add(all, item)));
        return Optional.of(List.copyOf(all));
    }

    /** Adds a privilege to a list; what may be passed on already may be still. */
    static void add(List<AccessItem> items, AccessItem added) {
        boolean grantable = added.grantable() || items.stream().anyMatch(item -> same(item, added) && item.grantable());
        items.removeIf(item -> same(item, added));
        items.add(new AccessItem(added.grantee(), added.grantor(), added.privilege(), grantable));
    }

    /** A list without a privilege of a role, or without the right to pass it on; whoever granted it. */
    static List<AccessItem> without(List<AccessItem> items, String grantee, Privilege privilege, boolean optionOnly) {
        List<AccessItem> left = new ArrayList<>();
        for (AccessItem item : items) {
            boolean meant = item.grantee().equals(grantee) && item.privilege() == privilege;
            if (!meant) {
                left.add(item);
            } else if (optionOnly) {
                left.add(new AccessItem(grantee, item.grantor(), privilege, false));
            }
        }
        return left;
    }

    private static boolean same(AccessItem item, AccessItem other) {
        return item.grantee().equals(other.grantee()) && item.privilege() == other.privilege();
    }

    /** Whether a role is in it, as who makes objects or as who is granted something. */
    boolean names(String role) {
        return lists.entrySet().stream()
                .anyMatch(entry -> entry.getKey().role().equals(role)
                        || entry.getValue().stream()
                                .anyMatch(item -> item.grantee().equals(role)));
    }

    /** Without a role, of whatever makes objects or is granted something. */
    DefaultAccess withoutRole(String role) {
        DefaultAccess left = this;
        for (Map.Entry<DefaultTarget, List<AccessItem>> entry : lists.entrySet()) {
            DefaultTarget target = entry.getKey();
            left = left.with(
                    target,
                    target.role().equals(role)
                            ? target.byItself()
                            : entry.getValue().stream()
                                    .filter(item -> !item.grantee().equals(role))
                                    .toList());
        }
        return left;
    }

    DefaultAccess withoutSchema(String schema) {
        Map<DefaultTarget, List<AccessItem>> left = new HashMap<>(lists);
        left.keySet().removeIf(target -> target.schema().filter(schema::equals).isPresent());
        return new DefaultAccess(left);
    }

    /** With other names of roles and schemas. */
    DefaultAccess renamed(UnaryOperator<String> role, UnaryOperator<String> schema) {
        Map<DefaultTarget, List<AccessItem>> renamed = new HashMap<>();
        lists.forEach((target, items) -> renamed.put(
                new DefaultTarget(role.apply(target.role()), target.schema().map(schema), target.kind(), target.only()),
                items.stream()
                        .map(item -> new AccessItem(
                                role.apply(item.grantee()),
                                role.apply(item.grantor()),
                                item.privilege(),
                                item.grantable()))
                        .toList()));
        return new DefaultAccess(renamed);
    }
}

package dev.millrace.server.role;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.Privilege;
import dev.millrace.sql.statement.Securable;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.statement.Statement.RoleAttribute;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * All roles of a database, and what each may do. Safe on any thread: a change puts another immutable state in the place of the
 * one before. Beside that are owners, of which there may be very many: they are numbers of roles, which names do not change. Whether somebody may
 * make a change is for the caller to ask.
 *
 * <p>Long because one state has roles, what they are members of, and what they may do.
 */
public final class Roles {
    /** The role that is there from the beginning, and owns what nobody else does. */
    public static final String OWNER = "millrace";

    /** Whose members COPY from files of the server and read them through connectors. */
    public static final String READ_FILES = "pg_read_server_files";

    /** Whose members COPY to files of the server and write them through sinks. */
    public static final String WRITE_FILES = "pg_write_server_files";

    /** Whose members may SELECT from everything. */
    public static final String READ_ALL = "pg_read_all_data";

    /** Whose members may INSERT, UPDATE and DELETE everywhere. */
    public static final String WRITE_ALL = "pg_write_all_data";

    /** Whose members see what other sessions do. */
    public static final String MONITOR = "pg_monitor";

    /** Whose members end other sessions. */
    public static final String SIGNAL = "pg_signal_backend";

    private static final int OWNER_ID = 10;
    private static final int FIRST_MADE_ID = 16384;
    private static final Map<String, Integer> PREDEFINED =
            Map.of(MONITOR, 3373, SIGNAL, 4200, READ_FILES, 4569, WRITE_FILES, 4570, READ_ALL, 6181, WRITE_ALL, 6182);

    /** @param names of roles by their numbers */
    private record State(
            Map<String, Role> roles,
            Map<Integer, String> names,
            List<Membership> memberships,
            Map<Securable, List<AccessItem>> access,
            DefaultAccess defaults) {
        static State of(
                Map<String, Role> roles,
                List<Membership> memberships,
                Map<Securable, List<AccessItem>> access,
                DefaultAccess defaults) {
            Map<Integer, String> names = new HashMap<>();
            roles.values().forEach(role -> names.put(role.id(), role.name()));
            return new State(roles, names, memberships, access, defaults);
        }

        State with(DefaultAccess others) {
            return new State(roles, names, memberships, access, others);
        }
    }

    private volatile State state; // replaced under the lock of this, read by all
    private final Map<String, Integer> owners = new ConcurrentSkipListMap<>(); // that are not OWNER, by object

    @GuardedBy("this") private final Map<Integer, Integer> owned = new HashMap<>(); // objects of each

    @GuardedBy("this") private int nextId = FIRST_MADE_ID;

    @GuardedBy("this") private Optional<Saved> saved = Optional.empty(); // the last

    public Roles() {
        Map<String, Role> roles = new TreeMap<>();
        PREDEFINED.forEach((name, id) -> roles.put(name, Role.plain(name, id)));
        roles.put(
                OWNER,
                new Role(
                        OWNER,
                        OWNER_ID,
                        EnumSet.allOf(RoleAttribute.class),
                        -1,
                        Optional.empty(),
                        OptionalLong.empty(),
                        Map.of(),
                        Optional.empty()));
        state = State.of(roles, List.of(), Map.of(), DefaultAccess.NONE);
    }

    /** All of it at a moment: of owners, those that changed until the next moment that was saved. */
    public static final class Saved {
        private final State state;
        private final Map<String, Optional<Integer>> owners = new HashMap<>(); // guarded by the lock of what it is of

        private Saved(State state) {
            this.state = state;
        }
    }

    /** All as it is now, to be {@linkplain #restore restored} behind those that are saved later, or {@linkplain #forgetSaved forgotten}. */
    public synchronized Saved save() {
        Saved now = new Saved(state);
        saved = Optional.of(now);
        return now;
    }

    /** All is as it was. */
    public synchronized void restore(Saved then) {
        state = then.state;
        then.owners.forEach(this::owns);
    }

    @GuardedBy("this") private void owns(String object, Optional<Integer> owner) {
        Integer before = owner.isPresent() ? owners.put(object, owner.get()) : owners.remove(object);
        Optional.ofNullable(before).ifPresent(id -> owned.merge(id, -1, Integer::sum));
        owner.ifPresent(id -> owned.merge(id, 1, Integer::sum));
    }

    /** What was saved is not restored any more. */
    public synchronized void forgetSaved() {
        saved = Optional.empty();
    }

    @GuardedBy("this") private void ownerChanges(String object) {
        saved.ifPresent(then -> then.owners.putIfAbsent(object, Optional.ofNullable(owners.get(object))));
    }

    // ---- roles -----------------------------------------------------------------------------------------------------

    public Optional<Role> find(String name) {
        return Optional.ofNullable(state.roles.get(name));
    }

    /** @throws MillraceException 42704 if there is no such role */
    public Role require(String name) {
        return find(name)
                .orElseThrow(() ->
                        MillraceException.user(SqlState.UNDEFINED_OBJECT, "role \"" + name + "\" does not exist"));
    }

    /** All, by name. */
    public Collection<Role> all() {
        return state.roles.values();
    }

    /** Whether a role is the system's own and cannot be changed. */
    public static boolean isPredefined(String name) {
        return PREDEFINED.containsKey(name);
    }

    /** What there is but for owners: another object whenever any of it changed. */
    public Object version() {
        return state;
    }

    /** A new role that can do nothing yet. */
    public synchronized Role create(String name, UnaryOperator<Role> made) {
        if (name.startsWith("pg_") || name.isEmpty()) {
            throw MillraceException.user(SqlState.RESERVED_NAME, "role name \"" + name + "\" is reserved")
                    .withHint("names that begin with \"pg_\" are the system's");
        }
        requireFree(name);
        Role role = made.apply(Role.plain(name, nextId));
        nextId++;
        put(role);
        return role;
    }

    private void requireFree(String name) {
        if (state.roles.containsKey(name)) {
            throw MillraceException.user(SqlState.DUPLICATE_OBJECT, "role \"" + name + "\" already exists");
        }
    }

    private void put(Role role) {
        Map<String, Role> roles = new TreeMap<>(state.roles);
        roles.put(role.name(), role);
        state = State.of(roles, state.memberships, state.access, state.defaults);
    }

    /** Changes a role that is there. */
    public synchronized void change(String name, UnaryOperator<Role> change) {
        put(change.apply(require(name)));
    }

    /** Gives a role another name, everywhere. */
    public synchronized void rename(String name, String newName) {
        Role role = require(name);
        requireFree(newName);
        Function<String, String> renamed = old -> old.equals(name) ? newName : old;
        Map<String, Role> roles = new TreeMap<>(state.roles);
        roles.remove(name);
        roles.put(newName, role.withName(newName));
        List<Membership> memberships = state.memberships.stream()
                .map(m -> new Membership(
                        renamed.apply(m.role()), renamed.apply(m.member()), renamed.apply(m.grantor()), m.admin()))
                .toList();
        Map<Securable, List<AccessItem>> access = new HashMap<>();
        state.access.forEach((object, items) -> access.put(
                object,
                items.stream()
                        .map(item -> new AccessItem(
                                renamed.apply(item.grantee()),
                                renamed.apply(item.grantor()),
                                item.privilege(),
                                item.grantable()))
                        .toList()));
        state = State.of(roles, memberships, access, state.defaults.renamed(renamed::apply, schema -> schema));
    }

    /** Removes a role that owns nothing and was granted nothing; it is a member of nothing any more. */
    public synchronized void drop(String name) {
        require(name);
        Map<String, Role> roles = new TreeMap<>(state.roles);
        roles.remove(name);
        List<Membership> memberships = state.memberships.stream()
                .filter(m -> !m.role().equals(name) && !m.member().equals(name))
                .toList();
        state = State.of(roles, memberships, state.access, state.defaults);
    }

    /** What stands in the way of dropping a role, as lines for users. */
    public List<String> dependencies(String name) {
        List<String> found = new ArrayList<>();
        ownedBy(name).forEach(object -> found.add("owner of " + RelationNames.shown(object)));
        state.access.forEach((object, items) -> {
            if (items.stream()
                    .anyMatch(item ->
                            item.grantee().equals(name) || item.grantor().equals(name))) {
                found.add("privileges for " + describe(object));
            }
        });
        if (state.defaults.names(name)) {
            found.add("default privileges");
        }
        found.sort(null);
        return found;
    }

    private static String describe(Securable object) {
        return object.kind().name().toLowerCase(Locale.ROOT) + " " + object.name();
    }

    // ---- memberships -----------------------------------------------------------------------------------------------

    public List<Membership> memberships() {
        return state.memberships;
    }

    /** Makes a role a member of another; says again whether with ADMIN OPTION if it is one. */
    public synchronized void addMember(Membership added) {
        if (isMember(added.role(), added.member())) {
            throw MillraceException.user(
                    SqlState.INVALID_GRANT_OPERATION,
                    "role \"" + added.role() + "\" is a member of role \"" + added.member() + "\"");
        }
        boolean admin = added.admin()
                || state.memberships.stream().anyMatch(m -> same(m, added.role(), added.member()) && m.admin());
        List<Membership> memberships = without(added.role(), added.member());
        memberships.add(new Membership(added.role(), added.member(), added.grantor(), admin));
        state = State.of(state.roles, List.copyOf(memberships), state.access, state.defaults);
    }

    /**
     * Ends a membership, or takes its ADMIN OPTION away.
     *
     * @return whether there was one
     */
    public synchronized boolean removeMember(String role, String member, boolean optionOnly) {
        Optional<Membership> before =
                state.memberships.stream().filter(m -> same(m, role, member)).findFirst();
        List<Membership> memberships = without(role, member);
        if (optionOnly) {
            before.ifPresent(m -> memberships.add(new Membership(role, member, m.grantor(), false)));
        }
        state = State.of(state.roles, List.copyOf(memberships), state.access, state.defaults);
        return before.isPresent();
    }

    private List<Membership> without(String role, String member) {
        return new ArrayList<>(
                state.memberships.stream().filter(m -> !same(m, role, member)).toList());
    }

    private static boolean same(Membership membership, String role, String member) {
        return membership.role().equals(role) && membership.member().equals(member);
    }

    /** Whether {@code role} is {@code of} or a member of it, directly or not; superusers are of all. */
    public boolean isMember(String role, String of) {
        return reachable(role, member -> true).contains(of);
    }

    /** Whether a role has the privileges of another: it is that, or a member that inherits, or a superuser. */
    public boolean hasPrivilegesOf(String role, String of) {
        State now = state;
        return isSuperuser(role)
                || reachable(
                                role,
                                member -> Optional.ofNullable(now.roles.get(member))
                                        .filter(known -> known.is(RoleAttribute.INHERIT))
                                        .isPresent())
                        .contains(of);
    }

    public boolean isSuperuser(String role) {
        return find(role).filter(Role::isSuperuser).isPresent();
    }

    private Set<String> reachable(String role, Predicate<String> passesOn) {
        Set<String> found = new HashSet<>(Set.of(role));
        Deque<String> open = new ArrayDeque<>(found);
        while (!open.isEmpty()) {
            String member = open.remove();
            if (passesOn.test(member)) {
                for (Membership membership : state.memberships) {
                    if (membership.member().equals(member) && found.add(membership.role())) {
                        open.add(membership.role());
                    }
                }
            }
        }
        return found;
    }

    // ---- owners ----------------------------------------------------------------------------------------------------

    /** Objects that are not {@value #OWNER}'s, and whose they are. */
    public Map<String, String> owners() {
        State now = state;
        Map<String, String> named = new TreeMap<>();
        owners.forEach((object, owner) -> named.put(object, now.names.getOrDefault(owner, OWNER)));
        return named;
    }

    /** Who owns an object. */
    public String owner(String object) {
        Integer owner = owners.get(object);
        return owner == null ? OWNER : state.names.getOrDefault(owner, OWNER);
    }

    /** Names of objects that a role owns and that were not {@link #OWNER}'s from the beginning. */
    public List<String> ownedBy(String role) {
        Optional<Integer> id = find(role).map(Role::id);
        return owners.entrySet().stream()
                .filter(entry -> id.filter(entry.getValue()::equals).isPresent())
                .map(Map.Entry::getKey)
                .toList();
    }

    /** @throws MillraceException 42704 if there is no such role */
    public synchronized void setOwner(String object, String owner) {
        ownerChanges(object);
        Optional<String> named = Optional.of(owner).filter(name -> !name.equals(OWNER));
        owns(object, named.map(name -> require(name).id()));
    }

    /** How many objects a role owns that were not {@link #OWNER}'s from the beginning. */
    public synchronized int owned(String role) {
        return find(role).map(known -> owned.getOrDefault(known.id(), 0)).orElse(0);
    }

    /** An object is gone, and with it all that was said of its name. */
    public synchronized void forget(String object) {
        ownerChanges(object);
        owns(object, Optional.empty());
        List<Securable> all = Securable.named(object);
        if (all.stream().anyMatch(state.access::containsKey)) {
            Map<Securable, List<AccessItem>> access = new HashMap<>(state.access);
            all.forEach(access::remove);
            state = State.of(state.roles, state.memberships, access, state.defaults);
        }
        if (RelationNames.isSchema(object) && !state.defaults.lists().isEmpty()) {
            state = state.with(state.defaults.withoutSchema(RelationNames.shown(object)));
        }
    }

    /** Objects have other names, all at once, with all that was said of them. @param names the new ones, by those before */
    public synchronized void renameObjects(Map<String, String> names) {
        Map<String, Optional<Integer>> moved = new HashMap<>();
        names.forEach((name, newName) -> {
            ownerChanges(name);
            ownerChanges(newName);
            moved.put(newName, Optional.ofNullable(owners.get(name)));
        });
        names.keySet().forEach(name -> owns(name, Optional.empty()));
        moved.forEach(this::owns);
        Map<Securable, List<AccessItem>> access = new HashMap<>();
        state.access.forEach((object, items) -> access.put(renamed(object, names), items));
        DefaultAccess defaults = state.defaults.renamed(
                role -> role,
                schema -> renamed(new Securable(Securable.Kind.SCHEMA, schema), names)
                        .name());
        state = State.of(state.roles, state.memberships, access, defaults);
    }

    private static Securable renamed(Securable object, Map<String, String> names) {
        return switch (object.kind()) {
            case RELATION, FUNCTION -> new Securable(object.kind(), names.getOrDefault(object.name(), object.name()));
            case SCHEMA ->
                new Securable(
                        object.kind(),
                        Optional.ofNullable(names.get(RelationNames.ofSchema(object.name())))
                                .map(RelationNames::shown)
                                .orElse(object.name()));
            case DATABASE, LANGUAGE -> object;
        };
    }

    // ---- privileges ------------------------------------------------------------------------------------------------

    /** What roles other than the owner have, and PUBLIC. */
    public List<AccessItem> access(Securable object) {
        List<AccessItem> items = state.access.get(object);
        return items == null ? AccessDefaults.of(object) : items;
    }

    /** Whether anything was granted or revoked since the object was made. */
    public boolean hasAccessList(Securable object) {
        return state.access.containsKey(object);
    }

    /** Whether a role may do something with an object. */
    public boolean has(String role, Privilege privilege, Securable object) {
        return hasPrivilegesOf(role, ownerOf(object))
                || holds(role, privilege, object, item -> true)
                || object.kind() == Securable.Kind.RELATION
                        && (privilege == Privilege.SELECT
                                ? hasPrivilegesOf(role, READ_ALL)
                                : AccessDefaults.WRITES.contains(privilege) && hasPrivilegesOf(role, WRITE_ALL));
    }

    /** Whether a role may pass a privilege on. */
    public boolean mayGrant(String role, Privilege privilege, Securable object) {
        return hasPrivilegesOf(role, ownerOf(object)) || holds(role, privilege, object, AccessItem::grantable);
    }

    private boolean holds(String role, Privilege privilege, Securable object, Predicate<AccessItem> which) {
        for (AccessItem item : access(object)) {
            if (item.privilege() == privilege
                    && which.test(item)
                    && (item.grantee().isEmpty() || hasPrivilegesOf(role, item.grantee()))) {
                return true;
            }
        }
        return false;
    }

    private String ownerOf(Securable object) {
        return switch (object.kind()) {
            case RELATION, FUNCTION -> owner(object.name());
            case SCHEMA -> owner(RelationNames.ofSchema(object.name()));
            case DATABASE, LANGUAGE -> OWNER;
        };
    }

    public synchronized void grant(Securable object, AccessItem added) {
        List<AccessItem> items = new ArrayList<>(access(object));
        DefaultAccess.add(items, added);
        put(object, items);
    }

    /** Takes a privilege away from a role, or only the right to pass it on; whoever granted it. */
    public synchronized void revoke(Securable object, String grantee, Privilege privilege, boolean optionOnly) {
        put(object, DefaultAccess.without(access(object), grantee, privilege, optionOnly));
    }

    /** Takes back whatever a role was granted or granted. */
    public synchronized void revokeAll(String role) {
        state.access.keySet().stream().toList().forEach(object -> {
            List<AccessItem> items = access(object).stream()
                    .filter(item ->
                            !item.grantee().equals(role) && !item.grantor().equals(role))
                    .toList();
            put(object, items);
        });
        state = state.with(state.defaults.withoutRole(role));
    }

    private void put(Securable object, List<AccessItem> items) {
        Map<Securable, List<AccessItem>> access = new HashMap<>(state.access);
        access.put(object, List.copyOf(items));
        state = State.of(state.roles, state.memberships, access, state.defaults);
    }

    // ---- of what is not there yet
    // ------------------------------------------------------------------------------------

    /** Whether anything was said of what a role will make. */
    public boolean hasDefaults(String role) {
        return state.defaults.isSaidOf(role);
    }

    /** Whether anything was said of what any role will make. */
    public boolean hasDefaults() {
        return !state.defaults.lists().isEmpty();
    }

    /** Whether a {@linkplain #privilegeDefinitions definition} is about what is not there yet: those run when all else is there. */
    public static boolean isOfDefaults(String definition) {
        return definition.startsWith(RoleText.DEFAULTS);
    }

    /** Access lists of what roles will make, as {@code pg_default_acl} shows them; those of one kind of relation are left out. */
    public Map<DefaultTarget, List<String>> defaultAccessTexts() {
        Map<DefaultTarget, List<String>> texts = new HashMap<>();
        state.defaults.lists().forEach((target, items) -> {
            if (target.only().isEmpty()) {
                texts.put(target, RoleText.defaultList(target, items));
            }
        });
        return texts;
    }

    /** A new object, whose it is, with the privileges that its owner's new objects have. @param schema where; none for a schema */
    public synchronized void made(String object, ObjectKind kind, Optional<String> schema, String owner) {
        setOwner(object, owner);
        if (kind == ObjectKind.INDEX || RelationNames.isOfSession(object)) {
            return;
        }
        Securable made = kind == ObjectKind.SCHEMA
                ? new Securable(Securable.Kind.SCHEMA, RelationNames.shown(object))
                : kind == ObjectKind.FUNCTION ? Securable.function(object) : Securable.relation(object);
        if (!hasAccessList(made)) {
            state.defaults.of(owner, schema, made.kind(), kind).ifPresent(items -> put(made, items));
        }
    }

    /** What a role makes from now on can be used by another, too. @param added whose grantor is the role */
    public synchronized void grantByDefault(DefaultTarget target, AccessItem added) {
        List<AccessItem> items = new ArrayList<>(state.defaults.list(target));
        DefaultAccess.add(items, added);
        state = state.with(state.defaults.with(target, items));
    }

    /** The opposite. */
    public synchronized void revokeByDefault(
            DefaultTarget target, String grantee, Privilege privilege, boolean optionOnly) {
        List<AccessItem> left = DefaultAccess.without(state.defaults.list(target), grantee, privilege, optionOnly);
        state = state.with(state.defaults.with(target, left));
    }

    // ---- as text ---------------------------------------------------------------------------------------------------

    /** Statements that make these roles in an empty database, without semicolons; a secret. */
    public List<String> definitions() {
        State now = state;
        return RoleText.roles(now.roles.values(), now.memberships);
    }

    /**
     * Statements that give owners and privileges, once the objects are there; without semicolons.
     *
     * @param kindOf an object's kind as ALTER names it, by its name; empty for one that is gone
     */
    public List<String> privilegeDefinitions(Function<String, Optional<String>> kindOf) {
        State now = state;
        return RoleText.privileges(owners(), now.access, now.defaults, kindOf);
    }

    /** An access list as {@code pg_class.relacl} shows it; empty if nothing was granted or revoked. */
    public Optional<List<String>> accessTexts(Securable object) {
        return hasAccessList(object) ? Optional.of(allAccessTexts(object)) : Optional.empty();
    }

    /** The same, of an object on which nothing was granted or revoked what holds by default. */
    public List<String> allAccessTexts(Securable object) {
        return RoleText.accessList(object, ownerOf(object), access(object));
    }
}

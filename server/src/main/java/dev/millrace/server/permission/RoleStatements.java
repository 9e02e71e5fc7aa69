package dev.millrace.server.permission;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.planning.StatementKinds;
import dev.millrace.server.result.StatementResult.Command;
import dev.millrace.server.role.AccessItem;
import dev.millrace.server.role.Language;
import dev.millrace.server.role.Membership;
import dev.millrace.server.role.Role;
import dev.millrace.server.role.Roles;
import dev.millrace.server.role.ScramSecret;
import dev.millrace.server.settings.PassiveSettings;
import dev.millrace.server.settings.Setting;
import dev.millrace.sql.algebra.Literals;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.Privilege;
import dev.millrace.sql.statement.Securable;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.statement.Statement.RoleAttribute;
import dev.millrace.sql.statement.Statement.RoleOptions;
import dev.millrace.sql.statement.Statement.RoleStatement;
import dev.millrace.type.DataType;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** CREATE, ALTER and DROP ROLE, GRANT, REVOKE and owners, with the question who may. One change at a time. Long because statements about roles are many, and short. */
public final class RoleStatements {
    /** What ALTER TABLE .. OWNER TO names, too, as in PostgreSQL. */
    private static final Set<ObjectKind> SHOWN_AS_TABLES =
            Set.of(ObjectKind.STREAM, ObjectKind.CONTINUOUS_QUERY, ObjectKind.MATERIALIZED_VIEW, ObjectKind.VIEW);

    private final Instance database;
    private final RoleSessions sessions;
    private final Roles roles;
    private final Identity identity;
    private final Permissions permissions;
    private final Consumer<String> notices;

    public RoleStatements(
            Instance database,
            RoleSessions sessions,
            Identity identity,
            Permissions permissions,
            Consumer<String> notices) {
        this.database = database;
        this.sessions = sessions;
        this.roles = database.catalog().roles();
        this.identity = identity;
        this.permissions = permissions;
        this.notices = notices;
    }

    public Command execute(RoleStatement statement) {
        database.lockDefinitions();
        try {
            if (statement instanceof Statement.CreateRole create) {
                return create(create);
            } else if (statement instanceof Statement.AlterRole alter) {
                return alter(alter);
            } else if (statement instanceof Statement.RenameRole rename) {
                return rename(rename);
            } else if (statement instanceof Statement.AlterRoleSetting set) {
                return set(set);
            } else if (statement instanceof Statement.CommentOnRole comment) {
                return comment(comment);
            } else if (statement instanceof Statement.DropRole drop) {
                return drop(drop);
            } else if (statement instanceof Statement.GrantRoles grant) {
                return grantRoles(grant);
            } else if (statement instanceof Statement.GrantPrivileges grant) {
                return grantPrivileges(grant);
            } else if (statement instanceof Statement.AlterDefaultPrivileges alter) {
                requireGrantees(alter.grant());
                return new DefaultPrivileges(database.catalog(), identity)
                        .alter(alter, privileges(alter.grant(), alter.grant().kind()));
            } else if (statement instanceof Statement.ChangeOwner change) {
                return changeOwner(change);
            } else if (statement instanceof Statement.ReassignOwned reassign) {
                return reassign(reassign);
            }
            return dropOwned((Statement.DropOwned) statement);
        } finally {
            database.definitionLock().unlock();
        }
    }

    // ---- roles -----------------------------------------------------------------------------------------------------

    private boolean mayMakeRoles() {
        return identity.isSuperuser() || roles.require(identity.current()).is(RoleAttribute.CREATEROLE);
    }

    private void requireMayChange(Role role, boolean superuser) {
        if ((role.isSuperuser() || superuser) && !identity.isSuperuser()) {
            throw denied("must be superuser to alter superuser roles or change superuser attribute");
        }
        if (Roles.isPredefined(role.name())) {
            throw MillraceException.user(SqlState.RESERVED_NAME, "role name \"" + role.name() + "\" is reserved");
        }
        if (!mayMakeRoles()) {
            throw denied("permission denied");
        }
    }

    private Command create(Statement.CreateRole create) {
        RoleOptions options = create.options();
        boolean superuser = options.attributes().getOrDefault(RoleAttribute.SUPERUSER, false);
        if (superuser && !identity.isSuperuser()) {
            throw denied("must be superuser to create superusers");
        }
        if (!mayMakeRoles()) {
            throw denied("permission denied to create role");
        }
        options.inRoles().forEach(name -> requireAdmin(identity.named(name)));
        options.members().forEach(name -> roles.require(identity.named(name)));
        options.admins().forEach(name -> roles.require(identity.named(name)));
        String name = identity.named(create.name());
        roles.create(name, role -> with(role, options));
        options.inRoles().forEach(group -> add(identity.named(group), name, identity.current(), false));
        options.members().forEach(member -> add(name, identity.named(member), identity.current(), false));
        options.admins().forEach(member -> add(name, identity.named(member), identity.current(), true));
        return Command.of("CREATE ROLE");
    }

    private Command alter(Statement.AlterRole alter) {
        String name = identity.named(alter.name());
        Role role = roles.require(name);
        RoleOptions options = alter.options();
        boolean onlyPassword = options.attributes().isEmpty()
                && options.connectionLimit().isEmpty()
                && options.validUntil().isEmpty();
        boolean ownPassword = onlyPassword && name.equals(identity.current());
        if (!ownPassword) {
            requireMayChange(role, options.attributes().containsKey(RoleAttribute.SUPERUSER));
        }
        if (name.equals(Roles.OWNER) && options.attributes().containsValue(false)) {
            throw MillraceException.user(
                    SqlState.INSUFFICIENT_PRIVILEGE, "role \"" + name + "\" remains a superuser that can log in");
        }
        roles.change(name, before -> with(before, options));
        return Command.of("ALTER ROLE");
    }

    private Role with(Role role, RoleOptions options) {
        Role changed = role.withAttributes(options.attributes());
        if (options.connectionLimit().isPresent()) {
            changed = changed.withConnectionLimit(options.connectionLimit().get());
        }
        if (options.validUntil().isPresent()) {
            changed = changed.withValidUntil(validUntil(options.validUntil().get()));
        }
        if (options.password().isPresent()) {
            changed = changed.withPassword(
                    options.password().get().map(Statement.Secret::text).flatMap(this::secret));
        }
        return changed;
    }

    /** A verifier comes as it is: psql's {@code \password} sends one. An empty password is none. */
    private Optional<ScramSecret> secret(String text) {
        if (text.isEmpty()) {
            notices.accept("empty string is not a valid password, clearing password");
            return Optional.empty();
        }
        if (text.startsWith("SCRAM-SHA-256$")) {
            try {
                return Optional.of(ScramSecret.parse(text));
            } catch (IllegalArgumentException e) {
                // as PostgreSQL takes it: a password that looks like one
            }
        }
        if (text.startsWith("md5") && text.length() == 35) {
            throw MillraceException.user(SqlState.FEATURE_NOT_SUPPORTED, "MD5 passwords are not supported")
                    .withHint("password_encryption is scram-sha-256");
        }
        return Optional.of(ScramSecret.of(text));
    }

    private static OptionalLong validUntil(String text) {
        if (text.equals("infinity")) {
            return OptionalLong.empty();
        }
        Literal time = Literals.parse(DataType.TIMESTAMPTZ, text);
        return OptionalLong.of((Long) time.value());
    }

    private Command rename(Statement.RenameRole rename) {
        String name = identity.named(rename.name());
        requireMayChange(roles.require(name), false);
        if (name.equals(Roles.OWNER) || name.equals(identity.session()) || name.equals(identity.current())) {
            throw MillraceException.user(SqlState.FEATURE_NOT_SUPPORTED, "current user cannot be renamed");
        }
        if (sessions.hasLogin(name)) {
            throw MillraceException.user(SqlState.OBJECT_IN_USE, "role \"" + name + "\" has sessions");
        }
        roles.rename(name, rename.newName());
        return Command.of("ALTER ROLE");
    }

    private Command set(Statement.AlterRoleSetting set) {
        String name = identity.named(set.name());
        Role role = roles.require(name);
        if (set.setting().filter(PassiveSettings::isPassive).isPresent()) {
            notices.accept("setting \"" + set.setting().get() + "\" has no effect here: it is not kept with the role");
            return Command.of("ALTER ROLE");
        }
        Optional<Setting> setting = set.setting().map(Setting::named);
        if (!name.equals(identity.current())) {
            requireMayChange(role, false);
        }
        permissions.settings(setting.stream().toList());
        Map<String, String> settings = new TreeMap<>(role.settings());
        if (setting.isEmpty()) {
            settings.keySet().removeIf(known -> !Setting.named(known).isForSuperusers() || identity.isSuperuser());
        } else if (set.value().isEmpty()) {
            settings.remove(setting.get().settingName());
        } else {
            settings.put(
                    setting.get().settingName(),
                    setting.get().checked(set.value().get()));
        }
        roles.change(name, before -> before.withSettings(settings));
        return Command.of("ALTER ROLE");
    }

    private Command comment(Statement.CommentOnRole comment) {
        String name = identity.named(comment.name());
        requireMayChange(roles.require(name), false);
        roles.change(name, before -> before.withComment(comment.text()));
        return Command.of("COMMENT");
    }

    private Command drop(Statement.DropRole drop) {
        if (!mayMakeRoles()) {
            throw denied("permission denied to drop role");
        }
        for (String given : drop.names()) {
            String name = identity.named(given);
            Optional<Role> role = roles.find(name);
            if (role.isEmpty() && drop.ifExists()) {
                notices.accept("role \"" + name + "\" does not exist, skipping");
                continue;
            }
            requireMayDrop(roles.require(name));
            roles.drop(name);
            sessions.dropped(name);
        }
        return Command.of("DROP ROLE");
    }

    private void requireMayDrop(Role role) {
        String name = role.name();
        if (name.equals(identity.current()) || name.equals(Roles.OWNER)) {
            throw MillraceException.user(
                    SqlState.OBJECT_IN_USE,
                    name.equals(Roles.OWNER)
                            ? "role \"" + name + "\" cannot be dropped"
                            : "current user cannot be dropped");
        }
        if (name.equals(identity.session()) || name.equals(identity.login())) {
            throw MillraceException.user(SqlState.OBJECT_IN_USE, "session user cannot be dropped");
        }
        if (role.isSuperuser() && !identity.isSuperuser()) {
            throw denied("must be superuser to drop superusers");
        }
        if (Roles.isPredefined(name)) {
            throw MillraceException.user(SqlState.RESERVED_NAME, "role name \"" + name + "\" is reserved");
        }
        List<String> dependencies = roles.dependencies(name);
        if (!dependencies.isEmpty()) {
            throw MillraceException.user(
                            SqlState.DEPENDENT_OBJECTS_STILL_EXIST,
                            "role \"" + name + "\" cannot be dropped because some objects depend on it: "
                                    + String.join(", ", dependencies))
                    .withHint("REASSIGN OWNED BY " + name + " TO ...; DROP OWNED BY " + name);
        }
    }

    // ---- memberships -----------------------------------------------------------------------------------------------

    private void requireAdmin(String role) {
        Role granted = roles.require(role);
        boolean admin = identity.isSuperuser()
                || !granted.isSuperuser() && mayMakeRoles()
                || roles.memberships().stream()
                        .anyMatch(m -> m.role().equals(role)
                                && m.admin()
                                && roles.hasPrivilegesOf(identity.current(), m.member()));
        if (!admin) {
            throw denied("must have admin option on role \"" + role + "\"");
        }
    }

    /** Who gives: oneself, or whom a superuser names, as a data directory's statements do. */
    private String grantor(Optional<String> named) {
        String grantor = named.map(identity::named).orElseGet(identity::current);
        if (!grantor.equals(identity.current()) && !identity.isSuperuser()) {
            throw MillraceException.user(SqlState.FEATURE_NOT_SUPPORTED, "grantor must be current user");
        }
        return roles.require(grantor).name();
    }

    private void add(String role, String member, String grantor, boolean admin) {
        roles.addMember(new Membership(role, member, grantor, admin));
    }

    private Command grantRoles(Statement.GrantRoles grant) {
        for (String role : grant.roles()) {
            String group = identity.named(role);
            requireAdmin(group);
            for (String given : grant.members()) {
                String member = roles.require(identity.named(given)).name();
                if (!grant.revoke()) {
                    add(group, member, grantor(grant.grantor()), grant.admin());
                } else if (!roles.removeMember(group, member, grant.optionOnly())) {
                    notices.accept("role \"" + member + "\" is not a member of role \"" + group + "\"");
                }
            }
        }
        return Command.of(grant.revoke() ? "REVOKE ROLE" : "GRANT ROLE");
    }

    // ---- privileges ------------------------------------------------------------------------------------------------

    private void requireGrantees(Statement.GrantPrivileges grant) {
        for (String grantee : grant.grantees()) {
            if (!grantee.isEmpty()) {
                roles.require(identity.named(grantee));
            } else if (grant.option()) {
                throw MillraceException.user(
                        SqlState.INVALID_GRANT_OPERATION, "grant options can only be granted to roles");
            }
        }
    }

    private Command grantPrivileges(Statement.GrantPrivileges grant) {
        requireGrantees(grant);
        List<Securable> objects = objects(grant);
        for (Securable object : objects) {
            Set<Privilege> privileges = privileges(grant, object.kind());
            boolean any = false;
            for (Privilege privilege : privileges) {
                if (roles.mayGrant(identity.current(), privilege, object)) {
                    any = true;
                    grant.grantees().forEach(grantee -> apply(grant, object, identity.named(grantee), privilege));
                }
            }
            if (!any) {
                throw denied("permission denied for " + kindOf(object) + " " + object.name());
            }
        }
        return Command.of(grant.revoke() ? "REVOKE" : "GRANT");
    }

    private void apply(Statement.GrantPrivileges grant, Securable object, String grantee, Privilege privilege) {
        if (grant.revoke()) {
            roles.revoke(object, grantee, privilege, grant.optionOnly());
        } else {
            roles.grant(object, new AccessItem(grantee, grantor(grant.grantor()), privilege, grant.option()));
        }
    }

    private static Set<Privilege> privileges(Statement.GrantPrivileges grant, Securable.Kind kind) {
        Set<Privilege> possible = kind.privileges();
        for (Privilege privilege : grant.privileges()) {
            if (!possible.contains(privilege)) {
                throw MillraceException.user(
                        SqlState.INVALID_GRANT_OPERATION,
                        "invalid privilege type " + privilege + " for "
                                + kind.name().toLowerCase(Locale.ROOT));
            }
        }
        return grant.privileges().isEmpty() ? possible : grant.privileges();
    }

    private List<Securable> objects(Statement.GrantPrivileges grant) {
        if (grant.objects().isEmpty()) {
            DatabaseCatalog catalog = database.catalog();
            grant.schemas().stream()
                    .filter(schema -> !catalog.isSchema(schema))
                    .findFirst()
                    .ifPresent(schema -> {
                        throw DatabaseCatalog.undefinedSchema(schema);
                    });
            return catalog.objects().stream()
                    .filter(object -> object.kind() != ObjectKind.SCHEMA
                            && (object.kind() == ObjectKind.FUNCTION) == (grant.kind() == Securable.Kind.FUNCTION))
                    .filter(object -> grant.only().isEmpty() || grant.only().get() == object.kind())
                    .filter(object -> grant.schemas().contains(catalog.schemaOf(object.name())))
                    .map(object -> new Securable(grant.kind(), object.name()))
                    .toList();
        }
        return grant.objects().stream().map(name -> object(grant.kind(), name)).toList();
    }

    private Securable object(Securable.Kind kind, String name) {
        switch (kind) {
            case RELATION, FUNCTION -> {
                CatalogObject object = database.catalog()
                        .object(name)
                        .orElseThrow(() -> DatabaseCatalog.undefined(
                                kind == Securable.Kind.FUNCTION ? "function" : "relation",
                                name,
                                database.catalog().relationNames()));
                boolean function = object.kind() == ObjectKind.FUNCTION;
                if (function != (kind == Securable.Kind.FUNCTION)) {
                    throw StatementKinds.wrongKind(name, object.kind().sqlName(), function ? "relation" : "function");
                }
            }
            case SCHEMA -> {
                if (!database.catalog().isSchema(name)) {
                    throw DatabaseCatalog.undefinedSchema(name);
                }
            }
            case LANGUAGE -> {
                if (Language.named(name).isEmpty()) {
                    throw MillraceException.user(SqlState.UNDEFINED_OBJECT, "language \"" + name + "\" does not exist");
                }
            }
            case DATABASE -> {}
        }
        return new Securable(kind, name);
    }

    private String kindOf(Securable object) {
        return database.catalog()
                .object(object.name())
                .filter(found -> object.kind() == Securable.Kind.RELATION)
                .map(found -> found.kind().sqlName())
                .orElse(object.kind().name().toLowerCase(Locale.ROOT));
    }

    // ---- owners ----------------------------------------------------------------------------------------------------

    private Command changeOwner(Statement.ChangeOwner change) {
        if (change.kind() == ObjectKind.SCHEMA && RelationNames.isAlwaysThere(RelationNames.shown(change.name()))) {
            notices.accept("schema \"" + RelationNames.shown(change.name()) + "\" is the superuser's: its owner stays");
            return Command.of("ALTER SCHEMA");
        }
        CatalogObject object = database.catalog()
                .object(change.name())
                .filter(found -> change.kind() == ObjectKind.TABLE && SHOWN_AS_TABLES.contains(found.kind()))
                .orElseGet(() -> database.catalog().require(change.kind(), change.name()));
        String owner = roles.require(identity.named(change.owner())).name();
        permissions.owns(object.name());
        if (!identity.isSuperuser() && !roles.isMember(identity.current(), owner)) {
            throw denied("must be member of role \"" + owner + "\"");
        }
        roles.setOwner(object.name(), owner);
        return Command.of("ALTER " + change.kind().sqlName().toUpperCase(Locale.ROOT));
    }

    private Command reassign(Statement.ReassignOwned reassign) {
        String owner = roles.require(identity.named(reassign.owner())).name();
        requireMember(owner);
        for (String given : reassign.roles()) {
            String role = roles.require(identity.named(given)).name();
            requireMember(role);
            roles.ownedBy(role).forEach(object -> roles.setOwner(object, owner));
        }
        return Command.of("REASSIGN OWNED");
    }

    private void requireMember(String role) {
        if (!identity.isSuperuser() && !roles.isMember(identity.current(), role)) {
            throw denied("permission denied to reassign objects");
        }
    }

    private Command dropOwned(Statement.DropOwned drop) {
        for (String given : drop.roles()) {
            String role = roles.require(identity.named(given)).name();
            if (!identity.isSuperuser() && !roles.isMember(identity.current(), role)) {
                throw denied("permission denied to drop objects");
            }
            List<String> owned = roles.ownedBy(role);
            if (!owned.isEmpty()) {
                throw MillraceException.user(
                                SqlState.DEPENDENT_OBJECTS_STILL_EXIST,
                                "role \"" + role + "\" owns "
                                        + owned.stream()
                                                .map(RelationNames::shown)
                                                .collect(Collectors.joining(", ")))
                        .withHint("DROP them by name, or REASSIGN OWNED BY " + role + " TO ...");
            }
            roles.revokeAll(role);
        }
        return Command.of("DROP OWNED");
    }

    private static MillraceException denied(String message) {
        return MillraceException.user(SqlState.INSUFFICIENT_PRIVILEGE, message);
    }
}

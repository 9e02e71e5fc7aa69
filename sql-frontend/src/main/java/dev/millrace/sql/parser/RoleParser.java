package dev.millrace.sql.parser;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sql.statement.Privilege;
import dev.millrace.sql.statement.Securable;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.statement.Statement.RoleAttribute;
import dev.millrace.sql.statement.Statement.RoleOptions;
import dev.millrace.sql.statement.Statement.Secret;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.sql.text.Lexeme;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Roles, privileges and owners. No error shows the text of a password. */
final class RoleParser {
    /** The names that stand for who runs the statement. */
    private static final Set<String> SELF = Set.of("current_user", "current_role", "session_user");

    private final Words words;

    RoleParser(Words words) {
        this.words = words;
    }

    /** Whether ROLE, USER or GROUP follows the word that is next. */
    boolean isNext() {
        Lexeme word = words.peekAt(1);
        return word.isWord("role") || word.isWord("user") || word.isWord("group");
    }

    /** A role's name; the words that stand for oneself come as they are. */
    String role() {
        Lexeme word = words.peek();
        if (word.kind() == Lexeme.Kind.WORD && SELF.contains(word.text())) {
            return words.next().text();
        }
        if (word.isWord("public") || word.isWord("none")) {
            throw MillraceException.user(SqlState.RESERVED_NAME, "role name \"" + word.text() + "\" is reserved")
                    .at(word.start() + 1);
        }
        return words.name();
    }

    private List<String> roles() {
        List<String> roles = new ArrayList<>();
        do {
            roles.add(role());
        } while (words.acceptComma());
        return roles;
    }

    // ---- CREATE, ALTER, DROP ---------------------------------------------------------------------------------------

    Syntax create() {
        words.expect("create");
        String word = words.next().text();
        String name = role();
        words.accept("with");
        RoleOptions options = options(word.equals("user"));
        return new Syntax.Complete(new Statement.CreateRole(word.toUpperCase(Locale.ROOT), name, options));
    }

    Syntax alter() {
        words.expect("alter");
        boolean group = words.next().isWord("group");
        String name = role();
        boolean adds = group && words.acceptAll("add", "user");
        if (adds || group && words.acceptAll("drop", "user")) {
            return new Syntax.Complete(
                    new Statement.GrantRoles(List.of(name), roles(), !adds, false, false, Optional.empty()));
        }
        if (words.acceptAll("rename", "to")) {
            return new Syntax.Complete(new Statement.RenameRole(name, role()));
        }
        if (words.acceptAll("in", "database")) {
            words.name();
        }
        if (words.accept("set")) {
            Statement.SetSetting set = new SessionParser(words, Optional.empty()).setting(false);
            return new Syntax.Complete(new Statement.AlterRoleSetting(name, Optional.of(set.name()), set.value()));
        }
        if (words.accept("reset")) {
            Optional<String> setting = words.accept("all") ? Optional.empty() : Optional.of(words.settingName());
            return new Syntax.Complete(new Statement.AlterRoleSetting(name, setting, Optional.empty()));
        }
        words.accept("with");
        return new Syntax.Complete(new Statement.AlterRole(name, options(false)));
    }

    Syntax drop() {
        words.expect("drop");
        words.next();
        boolean ifExists = words.acceptAll("if", "exists");
        return new Syntax.Complete(new Statement.DropRole(roles(), ifExists));
    }

    private RoleOptions options(boolean login) {
        Map<RoleAttribute, Boolean> attributes = new EnumMap<>(RoleAttribute.class);
        if (login) {
            attributes.put(RoleAttribute.LOGIN, true);
        }
        Optional<Integer> connections = Optional.empty();
        Optional<Optional<Secret>> password = Optional.empty();
        Optional<String> validUntil = Optional.empty();
        List<String> inRoles = new ArrayList<>();
        List<String> members = new ArrayList<>();
        List<String> admins = new ArrayList<>();
        while (!words.atEnd() && !words.peek().isSymbol(";")) {
            Lexeme word = words.peek();
            if (acceptAttribute(attributes)) {
                continue;
            }
            if (words.acceptAll("connection", "limit")) {
                connections = Optional.of(connectionLimit());
            } else if (words.acceptAll("encrypted", "password") || words.accept("password")) {
                password = Optional.of(words.accept("null") ? Optional.empty() : Optional.of(secret()));
            } else if (words.acceptAll("valid", "until")) {
                validUntil = Optional.of(words.string());
            } else if (words.acceptAll("in", "role") || words.acceptAll("in", "group")) {
                inRoles.addAll(roles());
            } else if (words.accept("role") || words.accept("user")) {
                members.addAll(roles());
            } else if (words.accept("admin")) {
                admins.addAll(roles());
            } else if (words.accept("sysid")) {
                words.next();
            } else if (word.kind() == Lexeme.Kind.WORD) {
                throw MillraceException.user(SqlState.SYNTAX_ERROR, "unrecognized role option \"" + word.text() + "\"")
                        .at(word.start() + 1);
            } else {
                throw hidden(word);
            }
        }
        return new RoleOptions(attributes, connections, password, validUntil, inRoles, members, admins);
    }

    private boolean acceptAttribute(Map<RoleAttribute, Boolean> attributes) {
        for (RoleAttribute attribute : RoleAttribute.values()) {
            String word = attribute.name().toLowerCase(Locale.ROOT);
            Optional<Boolean> value = words.accept(word)
                    ? Optional.of(true)
                    : words.accept("no" + word) ? Optional.of(false) : Optional.empty();
            if (value.isPresent()) {
                attributes.put(attribute, value.get());
                return true;
            }
        }
        return false;
    }

    private int connectionLimit() {
        Lexeme start = words.peek();
        String text = words.optionValue();
        try {
            int limit = Integer.parseInt(text);
            if (limit >= -1) {
                return limit;
            }
        } catch (NumberFormatException e) {
            // as one that is out of range
        }
        throw MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "invalid connection limit: " + text)
                .at(start.start() + 1);
    }

    private Secret secret() {
        if (words.peek().kind() != Lexeme.Kind.STRING) {
            throw hidden(words.peek());
        }
        return new Secret(words.next().text());
    }

    /** A syntax error that does not repeat what may be a password. */
    private static MillraceException hidden(Lexeme where) {
        return MillraceException.user(
                        SqlState.SYNTAX_ERROR,
                        where.kind() == Lexeme.Kind.END
                                ? "syntax error at end of input"
                                : "syntax error in the options of a role")
                .at(where.start() + 1);
    }

    // ---- GRANT and REVOKE ------------------------------------------------------------------------------------------

    Syntax grant() {
        words.expect("grant");
        return new Syntax.Complete(grantOrRevoke(false, false));
    }

    Syntax revoke() {
        words.expect("revoke");
        boolean optionOnly = words.acceptAll("grant", "option", "for") || words.acceptAll("admin", "option", "for");
        return new Syntax.Complete(grantOrRevoke(true, optionOnly));
    }

    private Statement grantOrRevoke(boolean revoke, boolean optionOnly) {
        int start = words.place();
        Optional<Set<Privilege>> privileges = privileges();
        if (privileges.isEmpty()) {
            words.backTo(start);
            return memberships(revoke, optionOnly);
        }
        words.expect("on");
        List<String> objects = new ArrayList<>();
        List<String> schemas = new ArrayList<>();
        Optional<ObjectKind> only = oneKind();
        Securable.Kind kind = objects(objects, schemas, only.isPresent());
        List<String> grantees = grantees(revoke);
        boolean option = !revoke && words.acceptAll("with", "grant", "option");
        return new Statement.GrantPrivileges(
                privileges.get(), kind, objects, schemas, only, grantees, revoke, option, optionOnly, grantedBy());
    }

    private List<String> grantees(boolean revoke) {
        words.expect(revoke ? "from" : "to");
        List<String> grantees = new ArrayList<>();
        do {
            words.accept("group");
            grantees.add(words.accept("public") ? "" : role());
        } while (words.acceptComma());
        return grantees;
    }

    boolean isDefaultNext() {
        return words.peekAt(1).isWord("default");
    }

    /** ALTER DEFAULT PRIVILEGES. */
    Syntax alterDefault() {
        words.expect("alter");
        words.expect("default");
        words.expect("privileges");
        List<String> makers = new ArrayList<>();
        List<String> schemas = new ArrayList<>();
        if (words.acceptAll("for", "role") || words.acceptAll("for", "user")) {
            makers.addAll(roles());
        }
        if (words.peek().isWord("in")) {
            inSchema(schemas);
        }
        boolean revoke = words.accept("revoke");
        if (!revoke) {
            words.expect("grant");
        }
        boolean optionOnly = revoke && words.acceptAll("grant", "option", "for");
        Set<Privilege> privileges = privileges().orElseThrow(words::unexpected);
        words.expect("on");
        Optional<ObjectKind> only = kindOfNew();
        Securable.Kind kind = only.isPresent() ? Securable.Kind.RELATION : manyNew();
        List<String> grantees = grantees(revoke);
        boolean option = !revoke && words.acceptAll("with", "grant", "option");
        if (revoke && !words.accept("cascade")) {
            words.accept("restrict");
        }
        return new Syntax.Complete(new Statement.AlterDefaultPrivileges(
                makers,
                new Statement.GrantPrivileges(
                        privileges,
                        kind,
                        List.of(),
                        schemas,
                        only,
                        grantees,
                        revoke,
                        option,
                        optionOnly,
                        Optional.empty())));
    }

    private Securable.Kind manyNew() {
        if (words.accept("schemas")) {
            return Securable.Kind.SCHEMA;
        } else if (words.accept("functions") || words.accept("routines")) {
            return Securable.Kind.FUNCTION;
        } else if (words.accept("tables") || words.accept("streams")) {
            return Securable.Kind.RELATION;
        }
        for (String what : List.of("sequences", "types")) {
            if (words.peek().isWord(what)) {
                throw MillraceException.notAvailableYet("a privilege on " + what)
                        .at(words.peek().start() + 1)
                        .withHint("privileges are on relations, functions, schemas and the database");
            }
        }
        throw words.expected(List.of("tables", "functions", "schemas"));
    }

    private Optional<String> grantedBy() {
        Optional<String> grantor = words.acceptAll("granted", "by") ? Optional.of(role()) : Optional.empty();
        if (!words.accept("cascade")) {
            words.accept("restrict");
        }
        return grantor;
    }

    private Statement memberships(boolean revoke, boolean optionOnly) {
        List<String> roles = roles();
        words.expect(revoke ? "from" : "to");
        List<String> members = roles();
        boolean admin = !revoke && words.acceptAll("with", "admin", "option");
        return new Statement.GrantRoles(roles, members, revoke, admin, optionOnly, grantedBy());
    }

    /** Privileges before ON; none found where roles are listed instead. */
    private Optional<Set<Privilege>> privileges() {
        Set<Privilege> found = EnumSet.noneOf(Privilege.class);
        if (words.accept("all")) {
            words.accept("privileges");
            return Optional.of(found);
        }
        do {
            Lexeme word = words.peek();
            Optional<Privilege> privilege = privilege(word);
            if (privilege.isEmpty()) {
                return Optional.empty();
            }
            words.next();
            found.add(privilege.get());
            if (words.peek().isSymbol("(")) {
                throw MillraceException.notAvailableYet("a privilege on some of the columns")
                        .at(words.peek().start() + 1)
                        .withHint("CREATE MATERIALIZED VIEW with these columns, and grant SELECT on it");
            }
        } while (words.acceptComma());
        return words.peek().isWord("on") ? Optional.of(found) : Optional.empty();
    }

    private static Optional<Privilege> privilege(Lexeme word) {
        if (word.kind() != Lexeme.Kind.WORD) {
            return Optional.empty();
        }
        if (word.text().equals("temp")) {
            return Optional.of(Privilege.TEMPORARY);
        }
        for (Privilege privilege : Privilege.values()) {
            if (privilege.name().toLowerCase(Locale.ROOT).equals(word.text())) {
                return Optional.of(privilege);
            }
        }
        return Optional.empty();
    }

    /** The kind behind {@code ON ALL}, which PostgreSQL has not: TABLES are all relations there, and here. */
    private Optional<ObjectKind> oneKind() {
        int start = words.place();
        Optional<ObjectKind> kind = words.accept("all") ? kindOfNew() : Optional.empty();
        if (kind.isEmpty()) {
            words.backTo(start);
        }
        return kind;
    }

    private Optional<ObjectKind> kindOfNew() {
        if (words.acceptAll("materialized", "views")) {
            return Optional.of(ObjectKind.MATERIALIZED_VIEW);
        } else if (words.accept("views")) {
            return Optional.of(ObjectKind.VIEW);
        } else if (words.accept("sinks")) {
            return Optional.of(ObjectKind.SINK);
        }
        return words.accept("sources") ? Optional.of(ObjectKind.STREAM) : Optional.empty();
    }

    /** What follows ON: adds names, or schemas for all that is in them. */
    private Securable.Kind objects(List<String> names, List<String> schemas, boolean ofOneKind) {
        if (ofOneKind) {
            inSchema(schemas);
            return Securable.Kind.RELATION;
        }
        if (words.acceptAll("all", "functions") || words.acceptAll("all", "routines")) {
            inSchema(schemas);
            return Securable.Kind.FUNCTION;
        }
        if (words.accept("all")) {
            if (!words.accept("tables") && !words.accept("streams") && !words.accept("sequences")) {
                throw words.expected(List.of("tables", "functions"));
            }
            inSchema(schemas);
            return Securable.Kind.RELATION;
        }
        if (words.accept("schema")) {
            return named(names, Securable.Kind.SCHEMA);
        } else if (words.accept("database")) {
            return named(names, Securable.Kind.DATABASE);
        } else if (words.accept("language")) {
            return named(names, Securable.Kind.LANGUAGE);
        } else if (words.accept("function") || words.accept("procedure") || words.accept("routine")) {
            return named(names, Securable.Kind.FUNCTION);
        }
        if (words.peekAt(1).isName()
                && !words.peekAt(1).isWord("to")
                && !words.peekAt(1).isWord("from")) {
            words.objectKind();
        }
        return named(names, Securable.Kind.RELATION);
    }

    private Securable.Kind named(List<String> names, Securable.Kind kind) {
        do {
            names.add(words.relationName());
            words.skipParentheses();
        } while (words.acceptComma());
        return kind;
    }

    private void inSchema(List<String> schemas) {
        words.expect("in");
        words.expect("schema");
        do {
            schemas.add(words.name());
        } while (words.acceptComma());
    }

    // ---- owners ----------------------------------------------------------------------------------------------------

    /** {@code OWNER TO role} of ALTER. */
    Syntax owner(ObjectKind kind, String name) {
        words.expect("owner");
        words.expect("to");
        return new Syntax.Complete(new Statement.ChangeOwner(kind, name, role()));
    }

    Syntax reassign() {
        words.expect("reassign");
        words.expect("owned");
        words.expect("by");
        List<String> roles = roles();
        words.expect("to");
        return new Syntax.Complete(new Statement.ReassignOwned(roles, role()));
    }

    /** DROP OWNED BY. */
    Syntax dropOwned() {
        words.expect("drop");
        words.expect("owned");
        words.expect("by");
        List<String> roles = roles();
        if (!words.accept("cascade")) {
            words.accept("restrict");
        }
        return new Syntax.Complete(new Statement.DropOwned(roles));
    }
}
